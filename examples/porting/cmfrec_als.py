"""cmfrec's CMF, and the same with isofactor: a frame of ratings, predictions for pairs."""


def original(train, test):
    from cmfrec import CMF

    names = {"userId": "UserId", "movieId": "ItemId", "rating": "Rating"}
    model = CMF(k=12, lambda_=12.0, verbose=False, nthreads=2).fit(train.rename(columns=names))
    return model.predict(user=test["userId"], item=test["movieId"])


def ported(train, test):
    from isofactor import MonotoneFactorModel

    model = MonotoneFactorModel().fit_frame(train, "userId", "movieId", "rating")
    return model.predict(test["userId"], test["movieId"])
