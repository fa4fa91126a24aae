"""Algorithm 1 (projected block coordinate descent in an RKHS), written to be read, not to be fast.

The link keeps every representer centre: phi = sum_j a_j K(c_j, .), M more centres each iteration. Nothing is
approximated, tabulated or dropped, so the fast solver can be held against this one. Needs NumPy only.

    objective = data term + (lam/4) |U'U - V'V|_F^2 + (alpha/2) |phi|_H^2
    data term = sum_k (y_k - phi(x_k))^2  (loss 'sum', c = 2)  or its mean (loss 'mean', c = 2/M)
    x_k       = u_i . v_t,   g_k = y_k - phi(x_k)
    grad_Z    = -c sum_k g_k phi'(x_k) (A_k + A_k') Z + lam D Z Z' D Z
    grad_phi  = -c sum_k g_k K(x_k, .) + alpha phi

Command line: python3 bench/reference.py DATA.csv --rank 3 --loss sum ...  prints one CSV line an iteration.
"""

import argparse
import csv
import sys

import numpy as np

GRID = 800  # points of the slope constraints
BLOCK = 50  # centres evaluated at a time, to bound the memory


# ---- kernels: K(c, x) = k(x - c). Each returns k, its first and its second derivative, at d = x - c. ----


def gaussian(d, h):
    k = np.exp(-(d**2) / (2 * h**2))
    return k, -d / h**2 * k, (d**2 / h**4 - 1 / h**2) * k


def matern52(d, h):
    s = np.sqrt(5) * np.abs(d) / h
    e = np.exp(-s)
    return (1 + s + s**2 / 3) * e, -5 * d / (3 * h**2) * (1 + s) * e, -5 / (3 * h**2) * (1 + s - s**2) * e


def rational_quadratic(d, h):
    q = 1 + d**2 / (2 * h**2)
    return 1 / q, -d / h**2 / q**2, -1 / h**2 / q**2 + 2 * d**2 / h**4 / q**3


def inverse_multiquadric(d, h):
    q = 1 + d**2 / h**2
    return q**-0.5, -d / h**2 * q**-1.5, -1 / h**2 * q**-1.5 + 3 * d**2 / h**4 * q**-2.5


KERNELS = {
    "gaussian": gaussian,
    "matern52": matern52,
    "rational-quadratic": rational_quadratic,
    "inverse-multiquadric": inverse_multiquadric,
}


# ---- links ----


class LearnedLink:
    """phi = sum_j a_j K(c_j, .) + sum_l mu_l d_l.

    d_l = dK(s_l, .)/ds is the representer of the slope at the grid point s_l: <phi, d_l> = phi'(s_l).
    Only the projection onto slope bounds uses the second sum.
    """

    def __init__(self, kernel, h):
        self.k = lambda d: KERNELS[kernel](d, h)
        self.centres, self.a = np.zeros(0), np.zeros(0)
        self.grid, self.mu = np.zeros(0), np.zeros(0)
        self.norm2 = 0.0  # |phi|_H^2, kept up to date by every change below

    def value_and_slope(self, x):
        value, slope = np.zeros(len(x)), np.zeros(len(x))
        for j in range(0, len(self.a), BLOCK):
            k, dk, _ = self.k(x[:, None] - self.centres[None, j : j + BLOCK])
            value += k @ self.a[j : j + BLOCK]
            slope += dk @ self.a[j : j + BLOCK]
        if len(self.mu):
            _, dk, ddk = self.k(x[:, None] - self.grid[None, :])
            value -= dk @ self.mu  # d_l(x)  = d/ds k(x - s) = -k'(x - s_l)
            slope -= ddk @ self.mu  # d_l'(x) = -k''(x - s_l)
        return value, slope

    def step(self, shrink, x, b):
        """phi <- shrink phi + sum_k b_k K(x_k, .).

        Its squared norm is shrink^2 |phi|^2 + 2 shrink sum_k b_k phi(x_k) + b' K b.
        """
        cross = b @ self.value_and_slope(x)[0]
        gram = self.k(x[:, None] - x[None, :])[0]
        self.norm2 = shrink**2 * self.norm2 + 2 * shrink * cross + b @ gram @ b
        self.centres = np.concatenate([self.centres, x])
        self.a = np.concatenate([shrink * self.a, b])
        self.mu = shrink * self.mu

    def bound_slopes(self, lower, upper, half_width):
        """P_H: the nearest phi in H with lower <= phi'(s_l) <= upper on the grid over [-half_width, half_width].

        The solution is phi + sum_l m_l d_l, and |sum_l m_l d_l|^2 = m' D m with D_lm = -k''(s_l - s_m).
        """
        if not len(self.grid):
            self.grid, self.mu = np.linspace(-half_width, half_width, GRID), np.zeros(GRID)
        slope = self.value_and_slope(self.grid)[1]
        if slope.min() >= lower and slope.max() <= upper:
            return
        d = -self.k(self.grid[:, None] - self.grid[None, :])[2]
        m = nearest_in_bounds(d, lower - slope, upper - slope)
        self.norm2 += 2 * m @ slope + m @ d @ m
        self.mu = self.mu + m


class KnownLink:
    """A link that is given and never moves; it has no norm."""

    norm2 = 0.0

    def __init__(self, name):
        self.name = name

    def value_and_slope(self, x):
        if self.name == "identity":
            return x.copy(), np.ones(len(x))
        if self.name == "tanh":
            return np.tanh(x), 1 - np.tanh(x) ** 2
        p = 1 / (1 + np.exp(-x))  # sigmoid
        return p, p * (1 - p)


def nearest_in_bounds(d, lower, upper):
    """The multipliers m that minimise m' D m subject to lower <= D m <= upper.

    With D = A A' and w = A' m this is min |w|^2/2 subject to G w >= b, G = [A; -A], b = [lower; -upper], and m is
    the difference of the multipliers of the two halves. A primal-dual interior point method (Mehrotra).
    """
    eigenvalues, q = np.linalg.eigh(d)
    keep = eigenvalues > 1e-15 * eigenvalues[-1]
    a = q[:, keep] * np.sqrt(eigenvalues[keep])
    big_g, b = np.vstack([a, -a]), np.concatenate([lower, -upper])
    w = np.zeros(a.shape[1])
    s = np.maximum(big_g @ w - b, 1.0)
    z = np.ones(len(b))
    for _ in range(200):
        dual, primal, gap = w - big_g.T @ z, big_g @ w - s - b, s @ z / len(s)
        if gap < 1e-11 and abs(primal).max() < 1e-9:  # nearer than this, round-off grows again
            break
        hessian = np.eye(len(w)) + big_g.T @ ((z / s)[:, None] * big_g)

        def direction(target):
            r = s * z - target
            dw = np.linalg.solve(hessian, -dual + big_g.T @ ((-r - z * primal) / s))
            ds = big_g @ dw + primal
            return dw, ds, (-r - z * ds) / s

        def longest(v, dv):
            return min(1.0, (-v[dv < 0] / dv[dv < 0]).min(initial=np.inf))

        _, ds, dz = direction(0.0)
        ahead = (s + longest(s, ds) * ds) @ (z + longest(z, dz) * dz) / len(s)
        dw, ds, dz = direction((ahead / gap) ** 3 * gap - ds * dz)
        step = 0.99 * min(longest(s, ds), longest(z, dz))
        w, s, z = w + step * dw, s + step * ds, z + step * dz
    m = z[: len(lower)] - z[len(lower) :]
    # The answer proves itself: feasible, and each multiplier sits on its bound.
    slope = d @ m
    tolerance = 1e-7 * (1 + abs(lower).max() + abs(upper).max())
    violation = max((lower - slope).max(), (slope - upper).max())
    slack = abs(np.concatenate([slope - lower, upper - slope]) @ z)
    if violation > tolerance or slack > 1e-6 * (1 + m @ d @ m):
        raise ArithmeticError(f"slope bounds not solved: violation {violation:.1e}, slackness {slack:.1e}")
    return m


# ---- the algorithm ----


def spectral_start(rows, cols, vals, shape, rank):
    """Rank-r SVD of the zero-filled matrix (repeated entries: their mean), X = U S V', Z_0 = [U; V] sqrt(S)."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (rows, cols), vals)
    np.add.at(count, (rows, cols), 1.0)
    u, s, vt = np.linalg.svd(total / np.maximum(count, 1.0), full_matrices=False)
    return np.vstack([u[:, :rank], vt[:rank].T]) * np.sqrt(s[:rank])


def clip_rows(z, beta):
    """P_C: rows longer than beta are scaled to length beta."""
    length = np.linalg.norm(z, axis=1, keepdims=True)
    return np.where(length > beta, z * (beta / np.maximum(length, 1e-300)), z)


def identity_start(link, x, c, alpha):
    """phi_0 = argmin (c/2) sum_k (x_k - phi(x_k))^2 + (alpha/2) |phi|_H^2: solve (c K + alpha I) a = c x."""
    gram = link.k(x[:, None] - x[None, :])[0]
    link.step(1.0, x, np.linalg.solve(c * gram + alpha * np.eye(len(x)), c * x))


def terms(rows, cols, vals, link, u, v, c, lam, alpha):
    """Objective, data term, balance term (lam/4 included), |phi|_H."""
    x = np.sum(u[rows] * v[cols], axis=1)
    data = c / 2 * np.sum((vals - link.value_and_slope(x)[0]) ** 2)
    balance = lam / 4 * np.sum((u.T @ u - v.T @ v) ** 2)
    return data + balance + alpha / 2 * link.norm2, data, balance, np.sqrt(max(link.norm2, 0.0))


def factor_gradient(rows, cols, vals, link, u, v, c, lam):
    """grad_Z in its two blocks. (A_k + A_k') Z has row i = v_t and row n + t = u_i; D Z Z'DZ = [U W; -V W]."""
    x = np.sum(u[rows] * v[cols], axis=1)
    value, slope = link.value_and_slope(x)
    weight = (-c * (vals - value) * slope)[:, None]
    w = u.T @ u - v.T @ v
    grad_u, grad_v = lam * u @ w, -lam * v @ w
    np.add.at(grad_u, rows, weight * v[cols])
    np.add.at(grad_v, cols, weight * u[rows])
    return grad_u, grad_v


def run(rows, cols, vals, shape, rank, *, loss="sum", kernel="gaussian", bandwidth=0.5, alpha=1e-3, lam=0.5,
        zeta=1e-3, eta=1e-3, iterations=50, order="factors-first", project_factors=None, start_link="zero",
        link="learned", monotone=None, z0=None):
    """Algorithm 1 from Z_0 (`z0`, or the spectral start). Index 0 of every list is the start.

    project_factors: None, 'auto' (beta = 4/3 of the longest row of Z_0) or a radius. monotone: None or (xi, Xi),
    which needs project_factors, because the slopes are bounded over [-beta^2, beta^2].
    """
    rows, cols, vals = np.asarray(rows), np.asarray(cols), np.asarray(vals, dtype=float)
    n, c = shape[0], {"sum": 2.0, "mean": 2.0 / len(vals)}[loss]
    learned = link == "learned"
    if order not in ("factors-first", "link-first") or start_link not in ("zero", "identity"):
        raise ValueError(f"unknown order {order!r} or start link {start_link!r}")
    if link not in ("learned", "identity", "sigmoid", "tanh"):
        raise ValueError(f"unknown link {link!r}")
    if monotone is not None and (not learned or project_factors is None):
        raise ValueError("slope bounds need a learned link and a radius for the factors")

    z = spectral_start(rows, cols, vals, shape, rank) if z0 is None else np.array(z0, dtype=float)
    beta = np.inf
    if project_factors is not None:
        longest = np.linalg.norm(z, axis=1).max()
        beta = 4 / 3 * longest if project_factors == "auto" else float(project_factors)
        z = clip_rows(z, beta)
    phi = LearnedLink(kernel, bandwidth) if learned else KnownLink(link)
    if learned and start_link == "identity":
        identity_start(phi, np.sum(z[rows] * z[n + cols], axis=1), c, alpha)

    def factor_step(z):
        grad = np.vstack(factor_gradient(rows, cols, vals, phi, z[:n], z[n:], c, lam))
        return clip_rows(z - zeta * grad, beta)

    def link_step(z):
        if not learned:
            return
        x = np.sum(z[rows] * z[n + cols], axis=1)
        g = vals - phi.value_and_slope(x)[0]
        phi.step(1 - eta * alpha, x, eta * c * g)
        if monotone is not None:
            phi.bound_slopes(*monotone, beta**2)

    trace = [terms(rows, cols, vals, phi, z[:n], z[n:], c, lam, alpha)]
    for _ in range(iterations):
        if order == "factors-first":
            z = factor_step(z)
            link_step(z)
        else:
            old = z
            link_step(old)
            z = factor_step(old)
        trace.append(terms(rows, cols, vals, phi, z[:n], z[n:], c, lam, alpha))

    names = ("objective", "data_term", "balance_term", "link_norm")
    result = {name: [float(line[i]) for line in trace] for i, name in enumerate(names)}

    def evaluate(x):
        x = np.asarray(x, dtype=float)
        return phi.value_and_slope(x.ravel())[0].reshape(x.shape)

    return {**result, "U": z[:n], "V": z[n:], "phi": evaluate, "link": phi, "radius": beta}


# ---- command line ----


def read_long_csv(path):
    """Rows, columns, values, shape of a long CSV with one header line; labels are numbered as they appear."""
    row_of, column_of, rows, cols, vals = {}, {}, [], [], []
    with open(path, newline="") as file:
        lines = csv.reader(file)
        next(lines)
        for row, column, value in (line[:3] for line in lines if line):
            rows.append(row_of.setdefault(row, len(row_of)))
            cols.append(column_of.setdefault(column, len(column_of)))
            vals.append(float(value))
    return np.array(rows), np.array(cols), np.array(vals), (len(row_of), len(column_of))


def main():
    parser = argparse.ArgumentParser(description="Algorithm 1, exact and slow; prints the trace as CSV.")
    parser.add_argument("data", help="long CSV with a header: row, column, value")
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--link", default="learned", choices=["learned", "identity", "sigmoid", "tanh"])
    parser.add_argument("--loss", default="sum", choices=["sum", "mean"])
    parser.add_argument("--kernel", default="gaussian", choices=sorted(KERNELS))
    parser.add_argument("--bandwidth", type=float, default=0.5)
    parser.add_argument("--link-penalty", type=float, default=1e-3)
    parser.add_argument("--balance-penalty", type=float, default=0.5)
    parser.add_argument("--factor-step", type=float, default=1e-3)
    parser.add_argument("--link-step", type=float, default=1e-3)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--order", default="factors-first", choices=["factors-first", "link-first"])
    parser.add_argument("--start", default="spectral", choices=["spectral"])
    parser.add_argument("--start-link", default="zero", choices=["zero", "identity"])
    parser.add_argument("--project-factors", default="off", help="off, auto or a radius")
    parser.add_argument("--monotone", default="off", help="off or XI,XI2")
    o = parser.parse_args()
    radius = {"off": None, "auto": "auto"}.get(o.project_factors, o.project_factors)
    bounds = None if o.monotone == "off" else tuple(float(bound) for bound in o.monotone.split(","))
    rows, cols, vals, shape = read_long_csv(o.data)
    result = run(
        rows, cols, vals, shape, o.rank, loss=o.loss, kernel=o.kernel, bandwidth=o.bandwidth, alpha=o.link_penalty,
        lam=o.balance_penalty, zeta=o.factor_step, eta=o.link_step, iterations=o.iterations, order=o.order,
        project_factors=radius, start_link=o.start_link, link=o.link, monotone=bounds,
    )  # fmt: skip
    names = ("objective", "data_term", "balance_term", "link_norm")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("iteration", *names))
    for t in range(o.iterations + 1):
        out.writerow((t, *(repr(result[name][t]) for name in names)))


if __name__ == "__main__":
    main()
