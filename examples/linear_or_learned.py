# %% [markdown]
# # Linear or learned?
# `link="auto"` decides on held-back entries. Where the truth is straight it stays straight; where
# it is curved the learned link pays, and this shows by how much.

# %%
import numpy as np

from isofactor import MonotoneFactorModel

random = np.random.default_rng(4)
scores = random.normal(size=(150, 2)) @ random.normal(size=(2, 100))
seen = random.random(scores.shape) < 0.4
truths = {
    "straight": scores,
    "saturating": np.tanh(scores),
    "steep": 1 / (1 + np.exp(-5 * scores)),
    "growing": np.exp(0.7 * scores),
}
print(f"{'truth':<12}{'linear':>9}{'learned':>9}{'auto':>9}  auto chose")
for name, truth in truths.items():
    noise = 0.05 * truth.std() * random.normal(size=truth.shape)
    X = np.where(seen, truth + noise, np.nan)
    errors = {}
    for link in ("identity", "learned", "auto"):
        model = MonotoneFactorModel(link=link).fit(X)
        difference = (model.complete() - truth)[~seen]
        errors[link] = float(np.sqrt(np.mean(difference**2)) / truth.std())
    line = "".join(f"{errors[link]:9.4f}" for link in ("identity", "learned", "auto"))
    print(f"{name:<12}{line}  {model.chosen_['link']}")
    assert errors["auto"] <= 1.2 * min(errors.values())
