"""The sliders for the set of kernel weights: eta, or a weight norm in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.offers import ETA, SIMPLEX, WEIGHT_NORM
from mkldash.apps.state import AppState

__all__ = ["show_weight_sliders", "weight_sliders"]

#: Ends and step of each slider; a link may go beyond the upper end.
_REACH = {"eta": (0.0, 1.0, 0.01), WEIGHT_NORM: (1.0, 8.0, 0.05)}

#: Above the slider of eta when the solver leaves no choice.
_PINNED = "η, fixed by this solver"


def weight_sliders(state: AppState, choose: Callable[[str, Any], None]) -> dict[str, Any]:
    """The sliders that the problem has, by name of the choice.

    Parameters
    ----------
    state : AppState
    choose : callable
        Gets name and value of what a person chose.
    """
    made = {}
    for name, (low, high, step) in _REACH.items():
        if name not in state.values:
            continue
        widget = pmui.FloatSlider(
            label=state.choice(name).label, start=low, end=high, step=step, value=state[name],
            sx=ui.BUBBLE_BELOW, sizing_mode="stretch_width", size="small", margin=(6, 10),
        )  # fmt: skip
        widget.param.watch(lambda e, n=name: choose(n, round(e.new, 6)), "value")
        made[name] = widget
    return made


def show_weight_sliders(widgets: Mapping[str, Any], state: AppState) -> None:
    """Bring them to `state`: the one that the solver goes by, none over a single kernel."""
    by = "" if state.single else state.weights_by
    for name, seen in (("eta", by in (ETA, SIMPLEX)), (WEIGHT_NORM, by == WEIGHT_NORM)):
        widget = widgets.get(name)
        if widget is None:
            continue
        end = max(_REACH[name][1], float(state[name]))
        changed = {"visible": seen, "end": end, "value": state[name]}
        pinned = name == "eta" and by == SIMPLEX
        changed["disabled"] = pinned
        changed["label"] = _PINNED if pinned else state.choice(name).label
        # Only what differs: each message to the page costs.
        changed = {key: new for key, new in changed.items() if getattr(widget, key) != new}
        if changed:
            widget.param.update(**changed)
