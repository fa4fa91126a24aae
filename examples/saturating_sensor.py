# %% [markdown]
# # A sensor that saturates
# Readings bend towards a ceiling. The link is the sensor's curve; it is learned, not given.

# %%
import numpy as np

from isofactor import MonotoneFactorModel

random = np.random.default_rng(3)
source, place = random.gamma(2, 1, size=(120, 2)), random.gamma(2, 1, size=(60, 2))
exposure = source @ place.T
response = exposure / (exposure + 6)  # half of the ceiling at an exposure of 6
readings = response + 0.01 * random.normal(size=exposure.shape)
readings[random.random(exposure.shape) < 0.6] = np.nan

# %%
linear = MonotoneFactorModel(link="identity").fit(readings)
learned = MonotoneFactorModel().fit(readings)
missing = np.isnan(readings)


def error(model):
    return np.sqrt(np.mean((model.complete() - response)[missing] ** 2))


print(f"error on the gaps: linear {error(linear):.4f}, learned link {error(learned):.4f}")
print(f"chosen: {learned.chosen_['link']}")
assert error(learned) <= 1.05 * error(linear)

# %% The curve flattens where the sensor does
table = learned.link_.table
early, late = table[:40, 2].mean(), table[-40:, 2].mean()
print(f"slope at small scores {early:.3g}, at large ones {late:.3g}")

# %%
try:
    learned.plot_link().figure.savefig("sensor.png")
    learned.report("sensor.html")
    print("wrote sensor.png and sensor.html")
except ImportError:
    print("matplotlib is not here: no drawing")
