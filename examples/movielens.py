# %% [markdown]
# # Films: ratings, neighbours, recommendations
# `DATA=FOLDER python movielens.py` reads `FOLDER/movielens-small`; without it, made ratings.

# %%
import os
from pathlib import Path

import numpy as np
import pandas as pd

from isofactor import MonotoneFactorModel


def made_ratings() -> pd.DataFrame:
    """Two tastes, five stars, and people who rate what they like."""
    random = np.random.default_rng(0)
    taste, films = random.normal(size=(300, 2)), random.normal(size=(200, 2))
    liking = taste @ films.T + random.normal(size=200)
    seen = random.random(liking.shape) < 0.3 / (1 + np.exp(-liking))
    users, movies = np.nonzero(seen)
    stars = 3.2 + 1.2 * np.tanh(liking[seen]) + 0.5 * random.normal(size=len(users))
    stars = np.clip(np.round(2 * stars) / 2, 0.5, 5)
    return pd.DataFrame({"userId": users + 1, "movieId": movies + 1, "rating": stars})


folder = Path(os.environ.get("DATA", "data")) / "movielens-small"
if (folder / "ratings.csv").exists():
    ratings = pd.read_csv(folder / "ratings.csv")
    titles = pd.read_csv(folder / "movies.csv").set_index("movieId")["title"]
else:
    print("MovieLens is not here: these ratings are made")
    ratings = made_ratings()
    titles = pd.Series({i: f"film {i}" for i in ratings["movieId"].unique()})

# %% Hold a tenth back, fit the rest, look at the error
held = ratings.sample(frac=0.1, random_state=0)
train = ratings.drop(held.index)
model = MonotoneFactorModel().fit_frame(train, "userId", "movieId", "rating")
error = model.evaluate(held["userId"], held["movieId"], held["rating"])
print(f"held-out RMSE {error['rmse']:.4f} on {error['count']} ratings, link {model.link_.kind}")
for trial in model.chosen_["trials"]:
    print(f"  tried {trial['what']:<40} {trial['rmse']:.4f}")

# %% What next for the first user, and what is like their best film
user = ratings["userId"].iloc[0]
best = model.recommend(user, top=5)
for movie, stars in zip(best.labels, best.values):
    print(f"{stars:.2f}  {titles[movie]}")
neighbours = model.similar(column=best.labels[0], top=3)
print("like the first:", "; ".join(titles[movie] for movie in neighbours.labels))
