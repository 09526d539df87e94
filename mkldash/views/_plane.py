"""Geometry of the dual with three rows: its feasible set is a triangle.

With y'alpha = 0, the coefficient of the class with one row is the sum of the other
two, p = (p_0, p_1), and the feasible set is p >= 0, p_0 + p_1 <= C.  Distances
between such alpha are those of an equilateral triangle, so the picture is drawn as
one: in it the projections of the level method are at right angles, as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["WORDS", "ThreeRows", "clip", "clip_segment", "locator", "many", "words"]

#: Columns of the words along the edges.
WORDS = ("x", "y", "text", "angle", "dx", "dy", "align", "size")

_SLANT = np.array([[1.0, 0.0], [0.5, math.sqrt(0.75)]])


@dataclass(frozen=True, eq=False)
class ThreeRows:
    """f of the neighborhood problem on three rows of both classes.

    Attributes
    ----------
    K : array, shape (3, 3)
    y : array, shape (3,)
    cost : float
    rho : float
    """

    K: Array
    y: Array
    cost: float
    rho: float

    @property
    def pair(self) -> NDArray[np.intp]:
        """The two rows of one class."""
        return np.flatnonzero(self.y == (1.0 if (self.y > 0).sum() == 2 else -1.0))

    @property
    def single(self) -> int:
        """The row of the other class."""
        return int(np.setdiff1d(np.arange(3), self.pair)[0])

    @property
    def basis(self) -> Array:
        """alpha = basis p, shape (3, 2)."""
        basis = np.zeros((3, 2))
        basis[self.pair, [0, 1]] = 1.0
        basis[self.single] = 1.0
        return basis

    @property
    def triangle(self) -> Array:
        """Corners of the feasible set as p, shape (3, 2)."""
        return self.cost * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def f(self, p: Array) -> Array:
        """f at each p, shape (..., 2) to (...)."""
        alpha = p @ self.basis.T
        v = alpha * self.y
        square = (alpha**2).sum(-1)
        quadratic = 0.5 * ((v @ self.K) * v).sum(-1)
        return np.asarray(quadratic + square**2 / (8.0 * self.rho) - alpha.sum(-1))

    def _slopes(self, p: Array) -> tuple[Array, Array]:
        alpha = self.basis @ p
        square = float(alpha @ alpha)
        signed = np.outer(self.y, self.y) * self.K
        gradient = signed @ alpha + square / (2.0 * self.rho) * alpha - 1.0
        bend = square * np.eye(3) + 2.0 * np.outer(alpha, alpha)
        hessian = signed + bend / (2.0 * self.rho)
        return self.basis.T @ gradient, self.basis.T @ hessian @ self.basis

    def optimum(self) -> Array:
        """The p of least f: of a general solver, then Newton's steps on its face."""
        from scipy.optimize import minimize

        found = minimize(
            lambda p: float(self.f(p)), np.full(2, 0.25 * self.cost),
            jac=lambda p: self._slopes(p)[0], method="SLSQP", bounds=[(0.0, self.cost)] * 2,
            constraints={"type": "ineq", "fun": lambda p: self.cost - p.sum(),
                         "jac": lambda p: -np.ones(2)},
            options={"ftol": 1e-15, "maxiter": 200},
        )  # fmt: skip
        p = np.clip(found.x, 0.0, self.cost)
        p *= min(1.0, self.cost / max(float(p.sum()), 1e-300))
        normals = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        slack = np.array([p[0], p[1], self.cost - p.sum()])
        active = normals[slack <= 1e-6 * self.cost]
        rank = np.linalg.matrix_rank(active) if len(active) else 0
        free = np.linalg.svd(np.vstack([active, np.zeros((2, 2))]))[2][rank:].T
        for _ in range(8 if free.size else 0):
            gradient, hessian = self._slopes(p)
            step = np.linalg.lstsq(free.T @ hessian @ free, free.T @ gradient, rcond=None)[0]
            new = p - free @ step
            if not (np.all(new >= 0.0) and new.sum() <= self.cost and self.f(new) <= self.f(p)):
                break
            p = new
        return np.asarray(p)

    def sublevel(
        self, p: Array, levels: Array, directions: int = 181
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Boundaries of {f <= level} within the triangle, seen from its optimum `p`.

        Parameters
        ----------
        p : array, shape (2,)
        levels : array, shape (m,)
        directions : int

        Returns
        -------
        array, shape (m, directions, 2)
            Points p; the sets are convex, so each is seen from the optimum.
        array of bool, shape (m, directions)
            Where the boundary is f = level rather than the edge of the triangle.
        """
        angle = np.linspace(0.0, 2.0 * math.pi, directions)  # closed: the first comes again
        d = np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ np.linalg.inv(_SLANT)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.stack([
                np.where(d[:, 0] < 0, -p[0] / d[:, 0], np.inf),
                np.where(d[:, 1] < 0, -p[1] / d[:, 1], np.inf),
                np.where(d.sum(-1) > 0, (self.cost - p.sum()) / d.sum(-1), np.inf),
            ]).min(0)  # fmt: skip
        edge = np.maximum(reach, 0.0)
        low = np.zeros((len(levels), directions))
        high = np.broadcast_to(edge, low.shape).copy()
        free = self.f(p + edge[:, None] * d)[None] > levels[:, None]
        for _ in range(40):
            middle = 0.5 * (low + high)
            inside = self.f(p + middle[..., None] * d) <= levels[:, None]
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        r = np.where(free, low, edge)
        return np.asarray(p + r[..., None] * d), free

    @staticmethod
    def drawn(p: Array) -> Array:
        """Where p lies in the picture: an equilateral triangle, its lower edge p_0."""
        return np.asarray(np.asarray(p) @ _SLANT)


def clip(polygon: Array, normal: Array, offset: float) -> Array:
    """The part of a convex polygon with normal'p <= offset.

    Parameters
    ----------
    polygon : array, shape (m, 2)
        Corners in order; may be empty.
    normal : array, shape (2,)
    offset : float

    Returns
    -------
    array, shape (m', 2)
    """
    over = polygon @ normal - offset
    found = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if over[i] <= 0.0:
            found.append(polygon[i])
        if over[i] * over[j] < 0.0:
            t = over[i] / (over[i] - over[j])
            found.append(polygon[i] + t * (polygon[j] - polygon[i]))
    return np.array(found).reshape(-1, 2)


def clip_segment(polygon: Array, normal: Array, offset: float) -> Array:
    """Where the line normal'p = offset crosses a convex polygon: shape (2, 2), or (0, 2)."""
    over = polygon @ normal - offset
    after = np.roll(over, -1)
    cross = np.flatnonzero((over <= 0.0) != (after <= 0.0))
    if len(cross) != 2:
        return np.empty((0, 2))
    t = (over[cross] / (over[cross] - after[cross]))[:, None]
    return np.asarray(polygon[cross] + t * (np.roll(polygon, -1, axis=0)[cross] - polygon[cross]))


def words(rows: ThreeRows, names: tuple[str, str, str] | None) -> dict[str, list]:
    """Names and numbers along the edges of the triangle, in `WORDS`; None: nothing."""
    found: list[tuple[float, float, str, float, int, int, str, str]] = []

    def put(
        share: tuple[float, float], text: str, turn: float, dx: int, dy: int, **how: str
    ) -> None:
        x, y = rows.drawn(rows.cost * np.array(share))
        align, size = how.get("align", "center"), how.get("size", "16px")
        found.append((float(x), float(y), text, turn * math.pi / 3, dx, dy, align, size))

    if names is not None:
        first, second, third = (name.partition(" ")[0] for name in names)
        put((0.0, 0.0), "0", 0.0, -13, 7, size="12px")
        for share in (0.5, 1.0):
            put((share, 0.0), f"{share * rows.cost:g}", 0.0, 0, 13, size="12px")
            put((0.0, share), f"{share * rows.cost:g}", 0.0, -9, -3, align="right", size="12px")
        put((0.25, 0.0), f"{first} →", 0.0, 0, 15)
        put((0.0, 0.25), f"{second} →", 1.0, -16, -9)
        put((0.5, 0.5), f"{third} = C", -1.0, 14, -8)
    columns = list(zip(*found, strict=True)) or [()] * len(WORDS)
    return {name: list(values) for name, values in zip(WORDS, columns, strict=True)}


def locator(
    rows: ThreeRows, optimum: Array, window: tuple[float, float, float, float]
) -> list[Array]:
    """Lines of a small triangle at the top right of `window`, a cross at the optimum in it."""
    x0, x1, _, y1 = window
    wide = x1 - x0
    scale = 0.14 * wide / rows.cost
    base = np.array([x1 - 0.16 * wide, y1 - 0.15 * wide])
    centre, arm = base + scale * rows.drawn(optimum), 0.012 * wide
    return [
        base + scale * rows.drawn(rows.triangle)[[0, 1, 2, 0]],
        centre + arm * np.array([[-1.0, 0.0], [1.0, 0.0]]),
        centre + arm * np.array([[0.0, -1.0], [0.0, 1.0]]),
    ]


def many(curves: Array | list[Array]) -> dict[str, list]:
    """Several curves as columns; lists, as each array would be two websocket messages."""
    return {"xs": [c[:, 0].tolist() for c in curves], "ys": [c[:, 1].tolist() for c in curves]}
