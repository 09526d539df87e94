"""Generators of the synthetic data sets; each is a pure function of its seed.

Every generator returns features and a target: of -1 and +1, except that
`known_products` returns a real one.  The cards in the data folder name the
generator and its parameters.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "circles",
    "golden",
    "hill_valley",
    "known_products",
    "relevant_features",
    "three_points",
    "two_moons",
    "xor",
]

Sample = tuple[np.ndarray, np.ndarray]


def _signs(rows: int) -> np.ndarray:
    """-1 for the first half of the rows, +1 for the others."""
    return np.where(np.arange(rows) < rows // 2, -1.0, 1.0)


def two_moons(seed: int = 0, rows: int = 200, noise: float = 0.15) -> Sample:
    """Two interleaved half circles of radius 1 in the plane.

    Parameters
    ----------
    seed : int
        Seed of the noise and of the points' places.
    rows : int
        Number of points, half of them in each class.
    noise : float
        Standard deviation of the noise on both coordinates.

    Returns
    -------
    X : array, shape (rows, 2)
        Points.
    y : array, shape (rows,)
        -1 on the upper half circle, +1 on the lower.
    """
    rng = np.random.default_rng(seed)
    y = _signs(rows)
    angle = rng.uniform(0.0, np.pi, rows)
    upper = np.column_stack((np.cos(angle), np.sin(angle)))
    lower = np.column_stack((1.0 - np.cos(angle), 0.5 - np.sin(angle)))
    X = np.where(y[:, None] < 0, upper, lower)
    return X + noise * rng.standard_normal((rows, 2)), y


def circles(seed: int = 0, rows: int = 200, noise: float = 0.08) -> Sample:
    """Two circles around the origin, of radius 1 and 1/2.

    Parameters
    ----------
    seed : int
        Seed of the noise and of the points' places.
    rows : int
        Number of points, half of them in each class.
    noise : float
        Standard deviation of the noise on both coordinates.

    Returns
    -------
    X : array, shape (rows, 2)
        Points.
    y : array, shape (rows,)
        -1 on the outer circle, +1 on the inner.
    """
    rng = np.random.default_rng(seed)
    y = _signs(rows)
    angle = rng.uniform(0.0, 2.0 * np.pi, rows)
    radius = np.where(y < 0, 1.0, 0.5)
    X = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return X + noise * rng.standard_normal((rows, 2)), y


def xor(seed: int = 0, rows: int = 200, noise: float = 0.35) -> Sample:
    """Points around the four corners (+-1, +-1) of a square.

    Parameters
    ----------
    seed : int
        Seed of the noise.
    rows : int
        Number of points; the corners take turns.
    noise : float
        Standard deviation of the noise on both coordinates.

    Returns
    -------
    X : array, shape (rows, 2)
        Points.
    y : array, shape (rows,)
        -1 around corners whose coordinates have the same sign, +1 otherwise.
    """
    rng = np.random.default_rng(seed)
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    centre = corners[np.arange(rows) % 4]
    return centre + noise * rng.standard_normal((rows, 2)), -centre[:, 0] * centre[:, 1]


def golden(seed: int = 42) -> Sample:
    """Twenty points whose optimum is certified for the four golden kernels.

    Parameters
    ----------
    seed : int
        Seed of the sample; the certified optimum holds for 42.

    Returns
    -------
    X : array, shape (20, 4)
        Standard normal sample.
    y : array, shape (20,)
        +1 where x1 x2 + x3 / 2 is above its median, else -1 (ten of each).
    """
    X = np.random.default_rng(seed).standard_normal((20, 4))
    score = X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    return X, np.where(score > np.median(score), 1.0, -1.0)


def three_points() -> Sample:
    """Three points in the plane, one against two.

    Few enough for the dual coefficients to be seen: with alpha_1 = alpha_2 +
    alpha_3 they lie in a triangle.

    Returns
    -------
    X : array, shape (3, 2)
        Points.
    y : array, shape (3,)
        +1 for the first, -1 for the others.
    """
    return np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0, -1.0])


def hill_valley(seed: int = 0, rows: int = 1212, noise: float = 0.0) -> Sample:
    """Curves B + A r^|i - c|, i = 1..100, with a hill (A > 0) or a valley.

    The family that UCI's noise-free Hill-Valley rows fit: centre c in 10..89,
    r in 0.77..0.855, log10 B in 0..5, and |A/B| up to 1/2.

    Parameters
    ----------
    seed : int
        Seed of the curves.
    rows : int
        Number of curves, half of them hills.
    noise : float
        Standard deviation of the noise on each point, relative to B.

    Returns
    -------
    X : array, shape (rows, 100)
        Curves.
    y : array, shape (rows,)
        +1 for a hill, -1 for a valley.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(_signs(rows))
    level = 10.0 ** rng.uniform(0.0, 5.0, rows)
    height = y * level * rng.uniform(0.05, 0.5, rows)
    ratio = rng.uniform(0.77, 0.855, rows)
    centre = rng.integers(10, 90, rows)
    distance = np.abs(np.arange(1, 101)[None, :] - centre[:, None])
    X = level[:, None] + height[:, None] * ratio[:, None] ** distance
    return X + noise * level[:, None] * rng.standard_normal((rows, 100)), y


def known_products(seed: int = 0, rows: int = 400, features: int = 8, noise: float = 0.5) -> Sample:
    """A regression whose target is made of one product and one main effect.

    Parameters
    ----------
    seed : int
        Seed of the features and of the noise.
    rows : int
        Number of points.
    features : int
        Number of features, at least 5; only x2, x3 and x5 matter.
    noise : float
        Standard deviation of the noise on the target.

    Returns
    -------
    X : array, shape (rows, features)
        Standard normal sample.
    y : array, shape (rows,)
        2 x2 x5 + x3, counted from 1, and noise.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features))
    return X, 2.0 * X[:, 1] * X[:, 4] + X[:, 2] + noise * rng.standard_normal(rows)


def relevant_features(
    seed: int = 0, rows: int = 200, features: int = 20, relevant: int = 2, noise: float = 0.3
) -> Sample:
    """Two classes that some of the features tell apart, each by how far it is from 0.

    Parameters
    ----------
    seed : int
        Seed of the features and of the noise.
    rows : int
        Number of points.
    features : int
        Number of features.
    relevant : int
        How many of them matter, all alike: the first ones.
    noise : float
        Standard deviation of the noise on the score, whose own is 1.

    Returns
    -------
    X : array, shape (rows, features)
        Standard normal sample.
    y : array, shape (rows,)
        +1 where the sum of the squares of the features that matter, and noise, is
        above its median, else -1.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features))
    score = (X[:, :relevant] ** 2 - 1.0).sum(axis=1) / np.sqrt(2.0 * relevant)
    score += noise * rng.standard_normal(rows)
    return X, np.where(score > np.median(score), 1.0, -1.0)
