"""What is run: packages with their versions, programs with their options, data sets. The file to edit.

Standard library only: it is read before anything is installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# What every adapter may import. These versions also bind whatever the peers pull in.
BASE = ("numpy==2.3.5", "pandas==2.3.3", "scipy==1.16.3", "setuptools==80.9.0")


@dataclass(frozen=True)
class Peer:
    """One line of the table: an adapter, the package it needs, the options it is given.

    `tuned` adds options for a data set by its name. They were chosen by hand on these very splits, which flatters the
    peers a little; isofactor gets no such favour.
    """

    name: str
    adapter: str  # a file in adapters/ that holds `fit`
    requires: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    tuned: dict[str, dict[str, Any]] = field(default_factory=dict)
    note: str = ""

    def options_for(self, data: str) -> dict[str, Any]:
        return self.options | self.tuned.get(data, {})


CMFREC = ("cmfrec==3.5.1.post14",)
SURPRISE = ("scikit-surprise==1.1.5",)
LENSKIT = ("lenskit==2025.8.1",)

PEERS = (
    Peer("biases only", "biases", note="level, row and column effects, no factors: the least a model must beat"),
    Peer(
        "LIBMF on biases", "libmf_residuals", ("libmf==0.9.2",), {"rank": 10},
        {"movielens": {"penalty": 0.18}, "made": {"penalty": 0.01}},
        note="rank 10, factors of the bias model's residuals; differs from run to run on several threads",
    ),
    Peer("cmfrec", "cmfrec_als", CMFREC, note="default options, rank 40"),
    Peer(
        "cmfrec tuned", "cmfrec_als", CMFREC,
        tuned={
            "movielens": {"k": 40, "lambda_": 10.0, "add_implicit_features": True},
            "jester": {"k": 10, "lambda_": 0.2, "scale_lam": True, "scale_bias_const": True},
            "made": {"k": 5, "lambda_": 0.5},
        },
    ),
    Peer("surprise SVD", "surprise_svd", SURPRISE, note="default options, rank 100"),
    Peer(
        "surprise SVD tuned", "surprise_svd", SURPRISE,
        tuned={
            "movielens": {"n_factors": 30, "n_epochs": 50, "lr_all": 0.01, "reg_all": 0.1},
            "jester": {"n_factors": 10, "n_epochs": 20, "lr_all": 0.001, "reg_all": 0.1},
            "made": {"n_factors": 10, "n_epochs": 50, "lr_all": 0.01, "reg_all": 0.02},
        },
    ),
    Peer("LensKit BiasedMF", "lenskit_als", LENSKIT, note="default options, rank 50"),
    Peer(
        "LensKit tuned", "lenskit_als", LENSKIT, {"embedding_size": 10},
        {"jester": {"regularization": 0.3}, "made": {"embedding_size": 5, "regularization": 0.01}},
    ),
    Peer("myFM", "myfm_gibbs", ("myfm==0.4.0",), {"rank": 10, "samples": 200}, note="rank 10, mean of Gibbs samples"),
    Peer(
        "implicit ALS", "implicit_als", ("implicit==0.7.3",), {"factors": 10},
        note="for implicit feedback: it predicts whether an entry exists, not its value, so it has no error here",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """A way to call the program. `{radius}` in an argument becomes the data set's radius."""

    name: str
    arguments: tuple[str, ...] = ()
    note: str = ""


# The first is what all ratios refer to.
VARIANTS = (
    Variant("isofactor", note="default options"),
    Variant(
        "isofactor bcd",
        ("--solver", "bcd", "--project-factors", "{radius}", "--monotone", "0,inf", "--holdout", "0.1"),
        "the paper's Algorithm 1, both projections; the iterate is chosen by a tenth of the training entries",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class DataSet:
    """A source of entries, and settings of the paper's algorithm for it.

    `radius` is the longest row of the factors (the paper's beta, where it gives one). The steps are fixed ones for the
    comparison with NumPy: small enough not to diverge, large enough to move.
    """

    name: str
    title: str
    kind: str  # a reader in prepare.py
    source: str  # a path in the data folder, or empty for made data
    radius: float
    factor_step: float
    link_step: float
    iterations: int  # of that comparison


DATA = (
    DataSet("movielens", "MovieLens-small", "long", "movielens-small/ratings.csv", 0.496, 1e-6, 1e-5, 20),
    DataSet("jester", "Jester-1", "jester", "jester-1/jester-data-1.csv", 3.537, 1e-7, 1e-7, 8),
    DataSet("made", "Made data", "long", "", 3.0, 1e-3, 1e-6, 20),
)

# Entries seen through a sigmoid whose ends are flat, with noise of 0.05: where a link has something to learn.
MADE_ARGUMENTS = (
    "--rows", "2000", "--columns", "500", "--rank", "3", "--observed", "100000", "--distinct", "--link", "sigmoid",
    "--spread", "3", "--noise", "0.05",
)  # fmt: skip
