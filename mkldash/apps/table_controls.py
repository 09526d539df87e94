"""How a person's own table is read: detected, shown, and changeable by hand."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.phrases import for_page
from mkldash.apps.state import AppState
from mkldash.datasets.tables import TablePreview, preview
from mkldash.errors import InputError

__all__ = ["TableControls", "read_ahead"]

#: A select cannot show None.
DETECTED = ""

SEPARATORS = {
    "detected": DETECTED,
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "bar": "|",
    "blank": " ",
}
DECIMALS = {"detected": DETECTED, "point": ".", "comma": ","}
HEADERS = {"detected": DETECTED, "yes": True, "no": False}


@functools.lru_cache(maxsize=4)
def read_ahead(
    content: bytes,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> TablePreview:
    """`preview`, once for each table: a large one takes seconds."""
    return preview(content, separator=separator, decimal=decimal, header=header)


class TableControls:
    """A preview of the first rows, and the choices that reading takes.

    Parameters
    ----------
    on_choice : callable
        Gets name and value of what a person chose.
    """

    def __init__(self, on_choice: Callable[[str, Any], None]) -> None:
        self._tell = on_choice
        self._quiet = False
        self._preview = ui.text(margin=(2, 10))
        self._widgets: dict[str, Any] = {}
        self.layout = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)

    def _make(self, state: AppState) -> None:
        """Build the widgets: most people never upload, and pages must open fast."""
        for name, label, options in (
            ("label", "Label column", {}),
            ("positive", "Class that counts as +1", {}),
            ("missing", "Missing values", {}),
            ("text", "Text columns", {}),
            ("separator", "Separator", SEPARATORS),
            ("decimal", "Decimal sign", DECIMALS),
            ("header", "First line holds names", HEADERS),
        ):
            if name not in state.values:
                continue  # a number to predict has no class
            self._widgets[name] = pmui.Select(
                label=label, options=dict(options), size="small",
                sizing_mode="stretch_width", margin=(6, 10),
            )  # fmt: skip
            self._widgets[name].param.watch(lambda e, n=name: self._choose(n, e.new), "value")
        dialect = [self._widgets[n] for n in ("separator", "decimal", "header")]
        names = ("label", "positive", "missing", "text")
        main = [self._widgets[n] for n in names if n in self._widgets]
        folded = ui.section("How the file is read", *dialect, opened=False)
        self.layout[:] = [self._preview, *main, folded]

    def _choose(self, name: str, value: Any) -> None:
        if not self._quiet:
            self._tell(name, None if value == DETECTED else value)

    def show(self, state: AppState) -> None:
        """Bring the controls to `state`; hidden for shipped data."""
        self.layout.visible = state.table is not None
        if state.table is None:
            return
        if not self._widgets:
            self._make(state)
        try:
            found = read_ahead(
                state.table[1], state["separator"], state["decimal"], state["header"]
            )
        except InputError as problem:
            self._preview.object = html.escape(for_page(str(problem)))
            return
        self._quiet = True
        try:
            self._fill(state, found)
        finally:
            self._quiet = False
        self._preview.object = _table(found)

    def _fill(self, state: AppState, found: TablePreview) -> None:
        guess = found.label_guess
        options: dict[str, dict[str, Any]] = {
            "label": {
                f"{guess} (guessed)": DETECTED,
                **{c: c for c in found.columns if c != guess},
            },
            "missing": {t: n for n, t in (state.choice("missing").names or dict)().items()},
            "text": {t: n for n, t in (state.choice("text").names or dict)().items()},
        }
        if state["label"] in (None, guess) and "positive" in self._widgets:
            options["positive"] = {
                "chosen by name order": DETECTED,
                **{v: v for v in found.label_values},
            }
        for name, named in options.items():
            if self._widgets[name].options != named:
                self._widgets[name].options = named
        if "positive" in self._widgets:
            self._widgets["positive"].visible = "positive" in options
        self._widgets["missing"].visible = any(found.missing)
        texts = [
            c for c, kind in zip(found.columns, found.types, strict=True)
            if kind == "text" and c != (state["label"] or guess)
        ]  # fmt: skip
        self._widgets["text"].visible = bool(texts)
        for name, widget in self._widgets.items():
            value = state[name]
            value = DETECTED if value is None else value
            if value in widget.options.values():
                widget.value = value


def _table(found: TablePreview) -> str:
    """The first rows as a small table, with what was detected."""
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank"}
    missing = [
        f"{n} missing in {html.escape(c)}"
        for c, n in zip(found.columns, found.missing, strict=True)
        if n
    ]
    said = (
        f"Read as {names.get(found.separator, found.separator)}-separated, decimal "
        f"{'comma' if found.decimal == ',' else 'point'}, "
        f"{'with' if found.header else 'without'} a header line; {found.n_rows} rows. "
        + "; ".join(missing)
    )
    cell = "padding:1px 6px;border-bottom:1px solid var(--mui-palette-divider);white-space:nowrap"
    head = "".join(
        f"<th style='{cell};text-align:left'>{html.escape(c)}</th>" for c in found.columns
    )
    body = "".join(
        "<tr>" + "".join(f"<td style='{cell}'>{html.escape(v)}</td>" for v in row) + "</tr>"
        for row in found.rows
    )
    return (
        f"{said}<div style='overflow-x:auto;margin-top:4px'><table style='border-collapse:collapse;"
        f"font-size:12px'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
