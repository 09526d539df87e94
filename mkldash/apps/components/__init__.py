"""Small parts of a page in plain JavaScript: no framework, no request, few bytes.

What a person does arrives as a message, what the server shows as a property,
so a value that the server moves can never echo back as if it were typed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

__all__ = [
    "UPLOAD_LIMIT", "Board", "CardHead", "LaneTable", "PlayerBar", "Recipe", "SaveBar", "Upload",
]  # fmt: skip

_HERE = Path(__file__).parent

#: A component's script is one file: what two of them share is put before each.
_PICTURES = (_HERE / "pictures.js").read_text(encoding="utf-8")

#: Bytes of a person's own table.
UPLOAD_LIMIT = 10_000_000


class _Part(JSComponent):
    __abstract = True

    on_message: Callable[[Mapping[str, Any]], None] | None = None

    def _handle_msg(self, data: Mapping[str, Any]) -> None:
        if self.on_message is not None:
            self.on_message(data)


class PlayerBar(_Part):
    """Buttons, scrubber, speed and keys; sends ``{kind, value}``."""

    length = param.Integer(default=0, doc="Iterations on record.")
    first = param.Integer(default=0, doc="Number of the first of them.")
    position = param.Integer(default=0, doc="Where the shared cursor is.")
    playing = param.Boolean(default=False)
    ended = param.Boolean(default=False)
    can_play = param.Boolean(default=True)
    can_step = param.Boolean(default=True)
    can_stop = param.Boolean(default=False)
    speed = param.Number(default=12.0, doc="Iterations per second.")
    unit = param.String(default="iteration", doc="What the cursor counts.")
    pace = param.String(default="it/s", doc="Unit of the speed.")
    decade = param.Integer(default=0, doc="Places of a tenfold; 0: places are counted.")
    origin = param.Number(default=0.0, doc="Seconds of place 0, where there are decades.")
    branches = param.Boolean(default=False, doc="Whether a run can be branched at the cursor.")
    can_branch = param.Boolean(default=False, doc="Whether it can be now.")

    _esm = _HERE / "player.js"
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "player.css")]


class Board(_Part):
    """The sentence that always says what is going on, and the numbers."""

    sentence = param.String(default="Loading …")
    tone = param.Selector(
        default="preparing",
        objects=["running", "paused", "certified", "ended", "failed", "preparing"],
    )
    more = param.String(default="")
    note = param.String(default="", doc="What is wrong with the link; can be dismissed.")
    alert = param.String(default="", doc="What went wrong, and the remedy.")
    progress = param.Number(default=0.0, doc="Share of the decades of the gap.")
    progress_title = param.String(default="")
    tiles = param.List(default=[], doc="(label, value, hint) of each number.")
    facts = param.Dict(default={}, doc="data- attributes of the sentence.")
    stale = param.Boolean(default=False, doc="Whether the numbers belong to the run before.")
    query = param.String(default="", doc="Address of the present choices.")

    _esm = _HERE / "board.js"
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "board.css")]


class CardHead(_Part):
    """Title of a picture, its curves, what it shows, and the picture in words.

    A click on the name of a curve sends ``{key: name}``.  Its button saves the picture
    as PNG or SVG, with title, curves, and what `tell` says of it: the name of the file
    (without ending) and lines such as the parameters of the run.
    """

    tell: Callable[[], tuple[str, list[str]]] | None = None

    title = param.String(default="")
    figure = param.String(default="", doc="Name of the figure that the picture is saved of.")
    keys = param.List(default=[], doc="(label, colour, dashes, drawn, lane or not) of each curve.")
    marks = param.List(default=[], doc="(sign, colour, meaning), where no curve has a name.")
    caption = param.String(default="")
    words = param.String(default="")
    open = param.Boolean(default=False)

    _esm = _PICTURES + (_HERE / "card.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "card.css")]

    def _handle_msg(self, data: Mapping[str, Any]) -> None:
        if "save" not in data:
            super()._handle_msg(data)
            return
        name, lines = (f"mkldash-{self.figure}", []) if self.tell is None else self.tell()
        self._send_msg(
            {"format": data["save"], "name": name, "lines": lines, "figures": [self.drawing()]}
        )

    def drawing(self, lines: Sequence[str] = ()) -> dict[str, Any]:
        """What the browser must know to save the picture with its title and its curves."""
        return {
            "figure": self.figure, "title": self.title, "keys": self.keys, "marks": self.marks,
            "lines": list(lines),
        }  # fmt: skip


class SaveBar(_Part):
    """Everything that can be saved, as one group of buttons.

    A button sends ``{kind}`` of its offer; the page answers by `give_text` or
    `give_pictures`, which the browser saves.
    """

    task: Any = None  # what makes a text; held here until it is done

    offers = param.List(default=[], doc="(kind, words, hint) of each button.")
    ready = param.Boolean(default=True, doc="Whether there is something to save.")

    _esm = _PICTURES + (_HERE / "save.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "save.css")]

    def give_text(self, name: str, text: str, kind: str = "text/plain") -> None:
        """Have the browser save a text under a file name."""
        self._send_msg({"format": "text", "name": name, "text": text, "type": kind})

    def give_pictures(
        self,
        form: str,
        name: str,
        title: str,
        lines: Sequence[str],
        figures: Sequence[Mapping[str, Any]],
    ) -> None:
        """Have the browser save pictures on one sheet.

        Parameters
        ----------
        form : {"png", "svg"}
        name : str
            Of the file, without ending.
        title : str
        lines : sequence of str
            Under the title: the parameters.
        figures : sequence of mapping
            `CardHead.drawing` of each.
        """
        self._send_msg(
            {
                "format": form, "name": name, "title": title, "lines": list(lines),
                "figures": [dict(figure) for figure in figures],
            }
        )  # fmt: skip

    def say(self, sentence: str) -> None:
        """Show why there is nothing to save."""
        self._send_msg({"format": "words", "text": sentence})


class LaneTable(_Part):
    """Lanes of a race: their names are the legend of all pictures.

    Sends ``{kind, letter}``: hide, branch or remove.
    """

    rows = param.List(default=[], doc="See `mkldash.apps.racing.words.rows`.")
    columns = param.List(default=[], doc="Heads of the numbers.")
    hints = param.List(default=[], doc="What each of them is.")
    first = param.String(default="Lane")
    second = param.String(default="On the way to the tolerance")
    caption = param.String(default="")
    foot = param.String(default="")
    stale = param.Boolean(default=False)
    editable = param.Boolean(default=True)

    _esm = _HERE / "lanes.js"
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "lanes.css")]


class Recipe(_Part):
    """How to have the run again, with buttons that copy it."""

    command = param.String(default="")
    python = param.String(default="")
    note = param.String(default="")

    _esm = _HERE / "recipe.js"
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "recipe.css")]


class Upload(_Part):
    """A file of one's own, in pieces; `on_file` gets its name and content."""

    limit = param.Integer(default=UPLOAD_LIMIT)
    note = param.String(default="")
    good = param.Boolean(default=False)

    _esm = _HERE / "upload.js"
    _stylesheets: ClassVar[list[Path]] = [(_HERE / "upload.css")]

    on_file: Callable[[str, bytes], None] | None = None

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._pieces: dict[int, bytes] = {}
        self._id: int | None = None

    def _handle_msg(self, data: Mapping[str, Any]) -> None:
        name = Path(str(data.get("name", "table.csv"))).name or "table.csv"
        if data.get("kind") == "refused":
            size = float(data["size"]) / 1e6
            self.say(
                f"{name} has {size:.1f} MB; the limit is {self.limit / 1e6:.0f} MB. Take fewer "
                "rows or columns, or use `mkldash solve FILE` on the command line."
            )
            return
        content = self._collect(data)
        if content is not None and self.on_file is not None:
            self.on_file(name, content)

    def _collect(self, data: Mapping[str, Any]) -> bytes | None:
        """The whole file once its last piece is here."""
        if data["id"] != self._id:
            self._id, self._pieces = data["id"], {}
        try:
            self._pieces[int(data["index"])] = base64.b64decode(data["content"], validate=True)
        except binascii.Error:
            self.say("The upload was damaged on its way; try again.")
            return None
        if sum(map(len, self._pieces.values())) > self.limit:
            self._pieces = {}
            self.say(f"The file is larger than {self.limit / 1e6:.0f} MB.")
            return None
        if len(self._pieces) < int(data["pieces"]):
            return None
        content = b"".join(self._pieces[i] for i in sorted(self._pieces))
        self._pieces = {}
        return content

    def say(self, note: str, *, good: bool = False) -> None:
        """Show a sentence beside the button."""
        self.param.update(note=note, good=good)
