"""Holds the program's `--solver bcd` against reference.py, iteration by iteration, over a grid of settings.

    python3 bench/compare_reference.py --program target/release/isofactor [--only TEXT] [--keep DIR]
    python3 bench/compare_reference.py --reference-only     how far each setting moves, and how sensitive it is

Each line of the table is one setting: the worst relative difference of the objective over iterations 0 to 50, and
PASS or FAIL against 1e-6 (1e-3 for Matern 5/2, whose space no small basis spans, and for the slope bounds). The data
term's difference is printed for information. Exit code 1 when anything fails. Needs NumPy only.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import reference

ITERATIONS = 50
SHAPE = (22, 16)


# ---- data ----


def make_data(path, seed, true_link, observed, repeats):
    """A rank-3 panel of 22 x 16 with `observed` distinct entries; `repeats` of them occur again, with new noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(SHAPE[0], 3)) @ rng.normal(size=(3, SHAPE[1])) * 0.7
    signal = {"tanh": 2 * np.tanh(x), "sigmoid": 1 / (1 + np.exp(-x)), "unit-tanh": np.tanh(x), "identity": x}[true_link]
    cells = rng.permutation(SHAPE[0] * SHAPE[1])[:observed]
    cells = np.concatenate([cells, cells[:repeats]])
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("row", "column", "value"))
        for i, t in zip(*np.unravel_index(cells, SHAPE)):
            out.writerow((f"r{i}", f"c{t}", repr(float(signal[i, t] + 0.1 * rng.normal()))))


DATA = {
    "plain": (1, "tanh", 230, 0),
    "thin": (6, "tanh", 120, 2),
    "repeated": (2, "tanh", 220, 7),
    "sigmoid": (3, "sigmoid", 230, 0),
    "unit-tanh": (4, "unit-tanh", 230, 3),
    "linear": (5, "identity", 230, 0),
}

# ---- settings ----

BASE = {
    "data": "plain", "rank": 3, "link": "learned", "loss": "sum", "kernel": "gaussian", "bandwidth": 1.0,
    "link-penalty": 1e-3, "balance-penalty": 0.5, "factor-step": 2e-3, "link-step": 2e-3,
    "order": "factors-first", "start-link": "zero", "project-factors": "off", "monotone": "off",
}  # fmt: skip
MEAN = {"loss": "mean", "factor-step": 0.4, "link-step": 0.4, "balance-penalty": 2e-3, "link-penalty": 1e-4}


def settings():
    """(name, options) of every comparison."""
    out = []

    def add(name, **options):
        out.append((name, {**BASE, **{key.replace("_", "-"): value for key, value in options.items()}}))

    mean = {key.replace("-", "_"): value for key, value in MEAN.items()}
    # The core grid: scale, order, projection of the factors (a radius of 1.1 clips from the start), start of the link.
    for loss in ("sum", "mean"):
        for order in ("factors-first", "link-first"):
            for radius in ("off", "auto", 1.1):
                for start in ("zero", "identity"):
                    scale = mean if loss == "mean" else {}
                    name = f"{loss} {order} clip={radius} start={start}"
                    add(name, data="thin", order=order, project_factors=radius, start_link=start, **scale)
    # Kernels, each with the step sizes of both scales.
    for kernel in ("matern52", "rational-quadratic", "inverse-multiquadric"):
        add(f"{kernel} sum", kernel=kernel, start_link="identity", project_factors="auto")
        add(f"{kernel} mean link-first", kernel=kernel, order="link-first", project_factors="auto", **mean)
        add(f"{kernel} h=2.5", kernel=kernel, bandwidth=2.5, start_link="identity")
    # Bandwidths.
    for h in (0.3, 0.5, 2.0, 4.0):
        add(f"gaussian h={h}", bandwidth=h, start_link="identity")
        add(f"gaussian h={h} clip=auto link-first", bandwidth=h, project_factors="auto", order="link-first")
    # Rank 2, repeated entries, penalties.
    add("rank 2", rank=2, start_link="identity")
    add("rank 2 mean clip=auto", rank=2, project_factors="auto", start_link="identity", **mean)
    add("repeated entries", data="repeated", start_link="identity")
    add("repeated entries mean link-first", data="repeated", order="link-first", **mean)
    add("strong link penalty", link_penalty=5.0, start_link="identity")
    add("strong balance penalty", balance_penalty=5.0, project_factors=1.2, start_link="identity")
    add("no balance penalty", balance_penalty=0.0, start_link="identity")
    # A radius that clips from the start and keeps clipping.
    add("clip=1.2", project_factors=1.2, start_link="identity")
    add("clip=auto binds", project_factors="auto", factor_step=2e-2, link_step=2e-4, bandwidth=4.0)
    add("clip=1.0 mean rank 2", project_factors=1.0, rank=2, start_link="identity", **mean)
    # Far: larger steps.
    add("far sum", factor_step=6e-3, link_step=4e-3, start_link="identity")
    add("far sum zero clip=auto", factor_step=6e-3, link_step=4e-3, project_factors="auto")
    add("far linear link-first", data="linear", factor_step=4e-3, link_step=4e-3, order="link-first", bandwidth=2.0)
    add("far mean", **{**mean, "factor_step": 1.2, "link_step": 0.9}, start_link="identity")
    # The paper's step sizes.
    add("paper's steps", factor_step=1e-5, link_step=1e-4, bandwidth=0.5)
    # Known links.
    for link, data, zeta in (("identity", "linear", 4e-3), ("sigmoid", "sigmoid", 5e-2), ("tanh", "unit-tanh", 1e-2)):
        add(f"known {link}", link=link, data=data, factor_step=zeta)
        add(f"known {link} clip=auto", link=link, data=data, factor_step=zeta, project_factors="auto", rank=2)
        add(f"known {link} mean", **{**mean, "link": link, "data": data, "factor_step": zeta * 230})
    # Slope bounds.
    add("slopes 0.05,2", monotone="0.05,2", project_factors="auto", start_link="identity")
    add("slopes 0.05,2 zero", monotone="0.05,2", project_factors="auto")
    add("slopes 0.3,0.9 link-first", monotone="0.3,0.9", project_factors="auto", order="link-first")
    add("slopes 0.1,1.5 mean h=2", monotone="0.1,1.5", project_factors=1.5, bandwidth=2.0, **mean)
    return out


def tolerance(options):
    return 1e-3 if options["kernel"] == "matern52" or options["monotone"] != "off" else 1e-6


# ---- the two sides ----


def run_reference(path, o, shift=0.0):
    """The reference on one setting; `shift` perturbs the start, relative to its size."""
    rows, cols, vals, shape = reference.read_long_csv(path)
    z0 = reference.spectral_start(rows, cols, vals, shape, o["rank"])
    if shift:
        z0 = z0 * (1 + shift * np.random.default_rng(0).normal(size=z0.shape))
    radius = {"off": None}.get(o["project-factors"], o["project-factors"])
    bounds = None if o["monotone"] == "off" else tuple(float(bound) for bound in o["monotone"].split(","))
    return reference.run(
        rows, cols, vals, shape, o["rank"], loss=o["loss"], kernel=o["kernel"], bandwidth=o["bandwidth"],
        alpha=o["link-penalty"], lam=o["balance-penalty"], zeta=o["factor-step"], eta=o["link-step"],
        iterations=ITERATIONS, order=o["order"], project_factors=radius, start_link=o["start-link"], link=o["link"],
        monotone=bounds, z0=z0,
    )  # fmt: skip


def run_program(program, path, o, trace, folder):
    """The program on one setting: its trace as columns of numbers, or a ValueError that says what went wrong."""
    command = [*program, "fit", str(path), "--solver", "bcd", "--start", "spectral", "--effects", "off"]
    command += ["--iterations", str(ITERATIONS), "--threads", "1", "--trace", str(trace)]
    for key, value in o.items():
        if key != "data":
            command += [f"--{key}", str(value)]
    trace.unlink(missing_ok=True)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise ValueError("ran longer than 300 s") from None
    except OSError as error:
        raise ValueError(f"could not start: {error}") from None
    if done.returncode != 0:
        said = " / ".join((done.stderr or done.stdout).strip().splitlines()[-4:])
        raise ValueError(f"exit code {done.returncode}: {said}\n    {' '.join(command)}")
    try:
        with open(trace, newline="") as file:
            lines = list(csv.DictReader(file))
        columns = {name: [float(line[name]) for line in lines] for name in ("iteration", "objective", "data_term")}
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"trace not readable: {error!r}") from None
    if columns["iteration"] != list(range(ITERATIONS + 1)):
        raise ValueError(f"trace has {len(lines)} lines, not iterations 0 to {ITERATIONS}")
    return columns


def worst(ours, theirs):
    """Largest relative difference and the iteration where it occurs; anything that is not finite counts as infinite."""
    apart = [abs(a - b) / max(abs(b), 1e-300) for a, b in zip(ours, theirs, strict=True)]
    apart = [value if math.isfinite(value) else math.inf for value in apart]
    return max(apart), apart.index(max(apart))


def compare(program, chosen, folder):
    """Prints the table; returns how many settings failed."""
    print(f"{'setting':<52} {'objective':>10} {'at':>3} {'data term':>10} {'allowed':>8}")
    failed = 0
    for number, (name, o) in enumerate(chosen):
        path = folder / f"{o['data']}.csv"
        exact = run_reference(path, o)
        try:
            found = run_program(program, path, o, folder / f"trace-{number}.csv", folder)
        except ValueError as error:
            failed += 1
            print(f"{name:<52} FAIL  {error}", flush=True)
            continue
        apart, at = worst(found["objective"], exact["objective"])
        data_apart, _ = worst(found["data_term"], exact["data_term"])
        passed = apart <= tolerance(o)
        failed += not passed
        verdict = "PASS" if passed else "FAIL"
        print(f"{name:<52} {apart:10.1e} {at:3d} {data_apart:10.1e} {tolerance(o):8.0e}  {verdict}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} settings pass")
    return failed


def describe(chosen, folder):
    """Reference only: is each setting a fair question? It should move, stay finite and not amplify small errors."""
    print(f"{'setting':<52} {'start':>9} {'lowest':>9} {'end':>9} {'moved':>6} {'clipped':>7} {'amplifies':>9}")
    unfair = 0
    for name, o in chosen:
        path = folder / f"{o['data']}.csv"
        result, nearby = run_reference(path, o), run_reference(path, o, shift=1e-7)
        f = result["objective"]
        moved = max(abs(value - f[0]) for value in f) / f[0]
        length = np.linalg.norm(np.vstack([result["U"], result["V"]]), axis=1)
        clipped = int(np.sum(length > result["radius"] * (1 - 1e-12)))
        amplifies = worst(nearby["objective"], f)[0] / 1e-7
        fair = all(math.isfinite(value) for value in f) and moved > 0.02 and amplifies < 100
        unfair += not fair
        print(
            f"{name:<52} {f[0]:9.4g} {min(f):9.4g} {f[-1]:9.4g} {moved:6.0%} {clipped:7d} {amplifies:9.1f}"
            f"{'' if fair else '  UNFAIR'}",
            flush=True,
        )
    return unfair


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="path of the program, e.g. target/release/isofactor")
    parser.add_argument("--only", default="", help="only settings whose name contains this")
    parser.add_argument("--keep", help="folder that keeps the data and the traces")
    parser.add_argument("--reference-only", action="store_true", help="describe the settings, run no program")
    arguments = parser.parse_args()
    if not arguments.reference_only and not arguments.program:
        parser.error("--program PATH is needed")
    chosen = [(name, o) for name, o in settings() if arguments.only in name]
    if not chosen:
        parser.error(f"no setting's name contains {arguments.only!r}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(arguments.keep or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for name, recipe in DATA.items():
            make_data(folder / f"{name}.csv", *recipe)
        if arguments.reference_only:
            return 1 if describe(chosen, folder) else 0
        return 1 if compare([str(pathlib.Path(arguments.program).resolve())], chosen, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
