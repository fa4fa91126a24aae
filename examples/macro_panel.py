# %% [markdown]
# # A macro panel with gaps
# Months by series, ragged at the end and with holes: a frame in, the same frame out, filled in.

# %%
import numpy as np
import pandas as pd

from isofactor import MonotoneFactorModel

random = np.random.default_rng(1)
months = pd.date_range("2005-01-31", periods=180, freq="D").rename("month")
series = [f"series {i}" for i in range(40)]
cycle = np.cumsum(random.normal(size=(180, 2)), axis=0) / 8
truth = pd.DataFrame(cycle @ random.normal(size=(2, 40)), index=months, columns=series)
panel = truth + 0.1 * random.normal(size=truth.shape)

# %% Some series began late, some are published late, some months are missing
panel.iloc[:60, :8] = np.nan
panel.iloc[-6:, 8:16] = np.nan
panel = panel.mask(random.random(panel.shape) < 0.1)

# %%
model = MonotoneFactorModel().fit(panel)
filled = model.complete()
gaps = panel.isna()
error = ((filled - truth)[gaps] ** 2).stack().mean() ** 0.5
spread = truth[gaps].stack().std()
print(f"{int(gaps.sum().sum())} gaps filled: error {error:.3f}, where the series spread by {spread:.3f}")
print(f"rank {model.rank_}, link {model.link_.kind}")
assert error < 0.3 * spread

# %% The months themselves, by two numbers each
factors = pd.DataFrame(model.row_factors_, index=panel.index)
print(factors.iloc[-3:, :2].round(2))
