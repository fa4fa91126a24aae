"""scikit-surprise's SVD, and the same with isofactor: ratings with ids, predictions for pairs."""


def original(train, test):
    from surprise import SVD, Dataset, Reader

    reader = Reader(rating_scale=(train["rating"].min(), train["rating"].max()))
    data = Dataset.load_from_df(train[["userId", "movieId", "rating"]], reader)
    algorithm = SVD(random_state=0).fit(data.build_full_trainset())
    return [algorithm.predict(u, i).est for u, i in zip(test["userId"], test["movieId"])]


def ported(train, test):
    from isofactor import MonotoneFactorModel

    model = MonotoneFactorModel().fit_frame(train, "userId", "movieId", "rating")
    return model.predict(test["userId"], test["movieId"])
