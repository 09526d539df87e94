"""Page, theme and layout: the only place that names the template.

`panel_material_ui.Page` is the one template that sends no request outside the
machine.  Axis lines and colours follow its theme in light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import panel as pn
import panel_material_ui as pmui
import param
from panel.util import edit_readonly

__all__ = [
    "BUBBLE_BELOW",
    "TextField",
    "Viewable",
    "card",
    "extension",
    "grid",
    "heading",
    "is_phone",
    "page",
    "prose",
    "section",
    "text",
]

Viewable = Any

#: White on it, and it on the pages' light grounds, have a contrast of 4.58 and more.
PRIMARY = "#2673b5"

#: Words in the primary colour on a dark ground: 7.7 on paper.
_PRIMARY_ON_DARK = "#7ab8ec"

_STYLES = Path(__file__).parent / "components"

_FONT = "Roboto, Arial, sans-serif"

THEME: dict[str, Any] = {
    "light": {
        "palette": {
            "primary": {"main": PRIMARY, "dark": "#1c5a90"},
            "background": {"default": "#f3f5f8", "paper": "#ffffff"},
        },
        "chart_style": "standard",
        "typography": {"h3": {"fontSize": "1.3rem", "fontWeight": 500}},
        "shape": {"borderRadius": 10},
    },
    "dark": {
        "palette": {
            "primary": {"main": PRIMARY, "light": _PRIMARY_ON_DARK, "dark": "#1f4e79"},
            "background": {"default": "#11151b", "paper": "#1a2028"},
        },
        "chart_style": "standard",
        "typography": {"h3": {"fontSize": "1.3rem", "fontWeight": 500}},
        "components": {
            "MuiButton": {
                "styleOverrides": {
                    "root": {
                        "&.MuiButton-colorPrimary.MuiButton-text, "
                        "&.MuiButton-colorPrimary.MuiButton-outlined": {
                            "color": _PRIMARY_ON_DARK,
                            "borderColor": "currentColor",
                        }
                    }
                }
            }
        },
        "shape": {"borderRadius": 10},
    },
}


#: For a slider: the bubble with its value leaves the label above free.
BUBBLE_BELOW: dict[str, Any] = {
    "& .MuiSlider-valueLabel": {
        "top": "auto",
        "bottom": "-6px",
        "transformOrigin": "top center",
        "transform": "translateY(100%) scale(0)",
        "&.MuiSlider-valueLabelOpen": {"transform": "translateY(100%) scale(1)"},
        "&::before": {
            "bottom": "auto",
            "top": 0,
            "transform": "translate(-50%, -50%) rotate(45deg)",
        },
    },
}

_LOGO = (
    "data:image/svg+xml;utf8,"
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<path d='M3 4c6 9 12 11 26 11' fill='none' stroke='%23ffb27a' stroke-width='3.4'"
    " stroke-linecap='round' stroke-dasharray='5 4.5'/>"
    "<path d='M3 28C9 20 15 17.5 29 17.5' fill='none' stroke='%23ffffff' stroke-width='3.4'"
    " stroke-linecap='round'/></svg>"
)


def extension() -> None:
    """Load what the pages need; formulas by KaTeX, from this machine."""
    pn.extension("katex", notifications=False)
    pn.config.reconnect = False  # the page loads itself anew, see board.js


def page(
    *, title: str, main: Sequence[Viewable], sidebar: Sequence[Viewable] = (), home: str = "/"
) -> Viewable:
    """A whole page.

    Parameters
    ----------
    title : str
    main, sidebar : sequence of viewable
    home : str
        Where the title links to.
    """
    watched = _busy_watchers()
    found = pmui.Page(
        title=title,
        main=list(main),
        sidebar=list(sidebar),
        sidebar_width=312,
        sidebar_resizable=False,
        theme_config=THEME,
        logo=_LOGO,
        favicon=_LOGO.replace("%23ffffff", f"%23{PRIMARY[1:]}").replace("%23ffb27a", "%23c8601a"),
        site_url=home,
        busy_indicator=None,
        # The page has a shadow root: what is said here reaches it, `page.css` does not.
        sx={
            "&.mui-dark .header": {"backgroundColor": "#1b2733 !important", "boxShadow": "none"},
            "& .main-content > .child-wrapper > *": {"maxHeight": "none !important"},
            "@media (max-width: 600px)": {"& .header .title": {"fontSize": "16px !important"}},
        },
        sidebar_open=not is_phone(),
        raw_css=[(_STYLES / "page.css").read_text(encoding="utf-8")],
        meta_description="Multiple kernel learning solvers, live and with certificates",
    )
    # Measured: following the server's busy flag walks the whole page twice per
    # event, 0.2 s on this one.  The board says what is going on anyway.
    with edit_readonly(found):
        found.busy = False
    # The flag is of the whole process: who watches it keeps every page that ever was.
    for watcher in _busy_watchers():
        if watcher not in watched:
            pn.state.param.unwatch(watcher)
    # In the page itself, as its style is: no server needs to know of the files.
    # Panel adds its version to every address, hence the comment at the end.
    scripts = {
        n: (_STYLES / f"{n}.js").read_text(encoding="utf-8") for n in ("thrift", "highlight")
    }
    found.config.js_modules = {
        name: f"data:text/javascript,{quote(script)}//" for name, script in scripts.items()
    }
    return found


def _busy_watchers() -> list[Any]:
    return list(pn.state.param.watchers.get("busy", {}).get("value", []))


def is_phone() -> bool:
    """Whether the browser says that it is a phone: there the controls start folded away."""
    return "Mobi" in (pn.state.headers or {}).get("User-Agent", "")


def card(*objects: Viewable, name: str = "", **options: Any) -> Viewable:
    """A quiet sheet of paper around `objects`.

    A plain box: a Paper of panel-material-ui is a React component with a script of
    its own, and a page has one around every picture.
    """
    return pn.Column(
        *objects,
        name=name,
        sizing_mode="stretch_width",
        styles={
            "box-sizing": "border-box",
            "padding": "10px",
            "border": "1px solid var(--mui-palette-divider)",
            "border-radius": "12px",
            "background": "var(--mui-palette-background-paper)",
            "min-width": "0",
            "align-self": "stretch",
            # Bokeh allows a box no more than its parent's height: on a low window the
            # end of a card lay over the next one.
            "max-height": "none",
            "flex": "none",
        },
        margin=0,
        **options,
    )


def grid(*objects: Viewable, least: int = 440) -> Viewable:
    """Cards side by side, as many as fit with at least `least` pixels each."""
    return pn.Column(
        *objects,
        sizing_mode="stretch_width",
        styles={
            "display": "grid",
            "grid-template-columns": f"repeat(auto-fill, minmax(min(100%, {least}px), 1fr))",
            "grid-auto-rows": "max-content",
            "grid-auto-flow": "dense",  # beside a card that takes a whole row there is no hole
            "gap": "14px",
            "flex": "none",
            "transition": "opacity .15s",
        },
        margin=0,
    )


def section(title: str, *objects: Viewable, opened: bool = True) -> Viewable:
    """A titled group of controls that can be folded."""
    return pmui.Accordion(
        (title, pn.Column(*objects, sizing_mode="stretch_width", margin=(0, 2))),
        active=[0] if opened else [],
        elevation=0,
        disable_gutters=True,
        sx={"& .MuiTypography-root": {"fontSize": "14px", "fontWeight": 500}},
        sizing_mode="stretch_width",
        margin=0,
    )


class TextField(pmui.TextInput):
    """A text field that does not undo what is typed while the server takes note.

    panel-material-ui answers each text with the same text; by then the person
    may have typed on, and that would be lost.
    """

    _from_browser = False

    def _process_events(self, events: dict[str, Any]) -> None:
        self._from_browser = True
        try:
            super()._process_events(events)
        finally:
            self._from_browser = False

    @param.depends("value", watch=True, on_init=True)
    def _sync_value_input(self) -> None:
        if not self._from_browser:
            super()._sync_value_input()


def heading(content: str) -> Viewable:
    """A small heading in the sidebar."""
    return pn.pane.HTML(
        f"<h2 style='margin:0;font:500 14px {_FONT};letter-spacing:.2px;"
        f"color:var(--mui-palette-text-primary)'>{content}</h2>",
        margin=(12, 10, 2, 10),
        sizing_mode="stretch_width",
    )


def text(content: str = "", *, size: int = 13, margin: Any = (0, 10)) -> Viewable:
    """A quiet paragraph; its ``object`` may be replaced."""
    return pn.pane.HTML(
        content,
        sizing_mode="stretch_width",
        margin=margin,
        styles={
            "font": f"{size}px/1.45 {_FONT}",
            "color": "var(--mui-palette-text-secondary)",
            "overflow-wrap": "anywhere",
        },
    )


def prose(content: str) -> Viewable:
    """Headings, paragraphs, links and tables of the landing page, as HTML."""
    style = (_STYLES / "prose.css").read_text(encoding="utf-8")
    return pn.pane.HTML(
        content,
        sizing_mode="stretch_width",
        stylesheets=[style],
        margin=0,
    )
