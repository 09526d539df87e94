"""The numbers of a run, each with its name and what it is."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mkldash.apps.jobs import Extra
from mkldash.apps.offers import WEIGHT_NORM
from mkldash.apps.product_scoring import ProductFacts
from mkldash.apps.state import AppState
from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.base import Snapshot
from mkldash.streaming import Session
from mkldash.views._names import count
from mkldash.views._names import number as short_number
from mkldash.views._reading import is_violated, latest

__all__ = ["Tile", "constraint_value", "number", "percent", "tiles"]

#: Label, value, hint.
Tile = tuple[str, str, str]


def percent(gap: float) -> str:
    """A gap as percent, with as many digits as it takes."""
    if gap <= 0:
        return "0 %"
    value = 100 * gap
    return f"{value:,.0f} %" if value >= 100 else f"{value:.2g} %".replace("e-0", "e-")


def number(value: float) -> str:
    """An objective value, readable at any size."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e7):
        return f"{value:.4e}"
    return f"{value:,.{3 if size < 10_000 else 2}f}" if size >= 10 else f"{value:.5f}"


def constraint_value(theta: np.ndarray, eta: float) -> float:
    """eta sum(theta) + (1 - eta) sum(theta^2): 1 on the boundary of the set."""
    return float(eta * theta.sum() + (1.0 - eta) * np.square(theta).sum())


def tiles(session: Session | None, k: int, snapshot: Snapshot | None) -> list[Tile]:
    """Everything worth a number at row `k`.

    Parameters
    ----------
    session : Session or None
    k : int
    snapshot : Snapshot or None
        Its state, when it is at hand.
    """
    if session is None or k < 0:
        return []
    cells = {name: float(values[k]) for name, values in session.trace.columns().items()}
    state = session.parameters if isinstance(session.parameters, AppState) else None
    neighborhood = state is not None and state.kind.takes_rho
    if state is not None and state.kind.has_family:
        return product_tiles(session, cells, snapshot)
    found = [_steps(cells, neighborhood=neighborhood), *_certificate(cells)]
    if snapshot is not None and neighborhood:
        found += _shift(session, cells, snapshot)
    if session.job is not None and session.job.problem.bank.n_kernels > 1:
        found += _weights(cells, snapshot, state)
    found += _rows(cells, snapshot)
    if neighborhood:
        solves = ("Inner solves", "Smaller problems solved so far: SVMs, projections or programs")
    else:
        solves = ("SVM solves", "Inner solves so far")
    found.append((solves[0], f"{int(cells['inner_solves'])}", solves[1]))
    return [*found, _time(cells)]


def _time(cells: Mapping[str, float]) -> Tile:
    text = f"{cells['elapsed']:.3f} s"
    return ("Solver time", text, "Inside the solver; pauses, drawing and scoring not counted")


def product_tiles(
    session: Session, cells: Mapping[str, float], snapshot: Snapshot | None
) -> list[Tile]:
    """Those of a run over products."""
    found = [
        ("Iteration", f"{int(cells['iteration'])}", "Products drawn so far; 0 is the start"),
        *_certificate(cells, str(getattr(snapshot, "certificate", ""))),
    ]
    extra = session.job.extra if session.job is not None else None
    products = extra.products if isinstance(extra, Extra) else None
    if products is not None:
        found.append(
            ("Words |I|", count(products.family.n_words),
             "Products of base kernels to draw from, every order counted; never listed")
        )  # fmt: skip
        if snapshot is not None:
            found += _found(products, snapshot)
    return [
        *found,
        ("Train error", _error(session, "train_mse", cells),
         "Mean squared error of the best point so far on its training rows"),
        ("Test error", _error(session, "test_mse", cells),
         "The same on rows that were set aside, when there are any"),
        ("Ridge solves", f"{int(cells['inner_solves']):,}",
         "Kernel ridge problems solved so far, those of the certificates included"),
        _time(cells),
    ]  # fmt: skip


def _found(products: ProductFacts, snapshot: Snapshot) -> list[Tile]:
    """How many products carry weight, and how many true ones are on top."""
    weights = snapshot.best.weights.as_dict(ACTIVE_THRESHOLD)
    found = [
        ("Products with weight", f"{len(weights):,} of {count(products.family.n_keys)}",
         "Above 1e-5 of the largest weight, of the best point so far")
    ]  # fmt: skip
    if products.true_products:
        known = len(products.true_products)
        # Orders of one product count once.
        heaviest = dict.fromkeys(tuple(sorted(key)) for key in weights if isinstance(key, tuple))
        top = set(list(heaviest)[:known]) & set(products.true_products)
        found.append(
            ("True products on top", f"{len(top)} of {known}",
             f"Of the {known} heaviest products, those that made the target")
        )  # fmt: skip
    return found


def _error(session: Session, name: str, cells: Mapping[str, float]) -> str:
    """As last scored: not every iteration is, and the best point seldom changes."""
    columns = session.trace.columns()
    if name not in columns:
        return "–"
    value = latest(columns[name], int(np.searchsorted(columns["iteration"], cells["iteration"])))
    return "–" if math.isnan(value) else short_number(value, 4)


def _steps(cells: Mapping[str, float], *, neighborhood: bool) -> Tile:
    what = "Steps of the solver so far" if neighborhood else "Weight steps so far"
    return ("Iteration", f"{int(cells['iteration'])}", f"{what}; 0 is the start")


def _certificate(cells: Mapping[str, float], kind: str = "") -> list[Tile]:
    gap = cells["gap"]
    broken = bool(is_violated(np.array([cells["upper"]]), np.array([cells["lower"]]))[0])
    return [
        ("Upper bound", number(cells["upper"]), "Least primal objective so far"),
        ("Lower bound", number(cells["lower"]), "Best dual bound so far: certified"),
        (
            "Relative gap",
            "VIOLATED"
            if broken
            else ("∞" if math.isinf(gap) else percent(gap)) + (f", {kind}" if kind else ""),
            "upper / lower - 1: the objective is within this share of the optimum",
        ),
    ]


def _shift(session: Session, cells: Mapping[str, float], snapshot: Snapshot) -> list[Tile]:
    """What the neighborhood does to the kernel, and the level method's own gap."""
    job = session.job
    if job is None:
        return []
    shift = float(snapshot.alpha @ snapshot.alpha) / (2.0 * job.problem.rho)
    found = [
        ("Shift c", f"{shift:.4g}",
         "c = ‖α‖²/(2ρ): the optimum is a support vector machine on K + cI")
    ]  # fmt: skip
    model = cells.get("model_upper", math.nan)
    if math.isfinite(model):
        gap = max(0.0, model - cells["lower"])
        found.append(
            ("Level gap", f"{gap:.2e}", "Model's bound minus best value: what the cuts leave open")
        )
    return found


def _weights(
    cells: Mapping[str, float], snapshot: Snapshot | None, state: AppState | None
) -> list[Tile]:
    """Which kernels are used; only where there are several."""
    total = "" if snapshot is None else f" of {len(snapshot.weights)}"
    found = [
        ("Kernels with weight", f"{int(cells['active_kernels'])}{total}",
         "Kernels above 1e-5 of the largest weight")
    ]  # fmt: skip
    if snapshot is not None and state is not None:
        theta, left = snapshot.weights.values, "η Σθ + (1-η) Σθ²"
        if state.weights_by == WEIGHT_NORM:
            value, left = NormBall(state[WEIGHT_NORM]).constraint(theta), "‖θ‖ of the weight norm P"
        else:
            value = constraint_value(theta, float(state["eta"]))
        found.append(
            ("Constraint (≤ 1)", f"{value:.6f}",
             f"{left}; this is 1, the weights need not sum to 1")
        )  # fmt: skip
    return found


def _rows(cells: Mapping[str, float], snapshot: Snapshot | None) -> list[Tile]:
    """Support vectors and accuracies."""
    train, test = cells.get("train_accuracy", math.nan), cells.get("test_accuracy", math.nan)
    found = []
    if "support_vectors" in cells and snapshot is not None:
        bounded = cells.get("bounded")
        at = "" if bounded is None else f", {int(bounded)} at C"
        text = "–" if math.isnan(cells["support_vectors"]) else f"{int(cells['support_vectors'])}"
        found.append(
            ("Support vectors", text + at, f"Of {len(snapshot.alpha)} training rows: alpha > 0")
        )
    return [
        *found,
        ("Train accuracy", _share(train), "Training rows classified correctly, when scored"),
        ("Test accuracy", _share(test), "Rows that were set aside, when there are any"),
    ]


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"
