# %% [markdown]
# # Persons by items: right or wrong
# Binary answers with a sigmoid link: how able a person is, how hard an item is.

# %%
import numpy as np

from isofactor import MonotoneFactorModel

random = np.random.default_rng(2)
ability, difficulty = random.normal(size=400), random.normal(size=30)
chance = 1 / (1 + np.exp(-1.7 * np.subtract.outer(ability, difficulty)))
answers = (random.random(chance.shape) < chance).astype(float)
answers[random.random(chance.shape) < 0.3] = np.nan

# %% One number a person and an item: effects and no more than one factor
model = MonotoneFactorModel(rank=1, link="sigmoid").fit(answers)
able = np.corrcoef(model.row_effects_, ability)[0, 1]
hard = np.corrcoef(-model.column_effects_, difficulty)[0, 1]
print(f"agreement with the truth: ability {able:.2f}, difficulty {hard:.2f}")
assert able > 0.7 and hard > 0.9

# %% Chances of the answers that were never given
predicted = model.predict(answers)
missing = np.isnan(answers)
error = np.abs(predicted - chance)[missing].mean()
print(f"predicted chances are off by {error:.3f} on average")
assert ((predicted >= 0) & (predicted <= 1)).all()

# %% A new person, three answers
newcomer = np.full((1, 30), np.nan)
newcomer[0, [0, 5, 9]] = [1, 1, 0]
print("expected score of a new person:", round(float(model.predict(newcomer).sum()), 1), "of 30")
