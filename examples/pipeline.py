# %% [markdown]
# # In a scikit-learn pipeline
# Fill gaps on the way to a regression, search for the rank, use factors as features.

# %%
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofactor import MonotoneFactorImputer, MonotoneFactorModel

random = np.random.default_rng(5)
hidden = random.normal(size=(400, 3))
full = np.tanh(hidden @ random.normal(size=(3, 25))) + 0.05 * random.normal(size=(400, 25))
y = hidden @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=400)
X = np.where(random.random(full.shape) < 0.5, full, np.nan)

# %% Filling in
for step in (SimpleImputer(), MonotoneFactorImputer()):
    pipeline = make_pipeline(step, StandardScaler(), RidgeCV())
    score = cross_val_score(pipeline, X, y, cv=5).mean()
    print(f"{type(step).__name__:<24} R2 {score:.3f}")

# %% Factors as features, with the rank found by cross-validation
search = GridSearchCV(
    make_pipeline(MonotoneFactorModel(), RidgeCV()),
    {"monotonefactormodel__rank": [1, 3, 6]},
    cv=3,
).fit(X, y)
print("best rank", search.best_params_["monotonefactormodel__rank"], f"R2 {search.best_score_:.3f}")
