"""Why things happened: the events of a run, newest first."""

from __future__ import annotations

import html
from collections import deque

from mkldash.apps import ui
from mkldash.apps.jobs import MOST_COMPARED, Extra
from mkldash.apps.phrases import for_page
from mkldash.apps.state import AppState
from mkldash.streaming import Session
from mkldash.views._names import count

__all__ = ["Log"]

#: Lines kept.
LINES = 60


class Log:
    """Sentences with the iteration that they belong to."""

    def __init__(self) -> None:
        self.layout = ui.text(size=13, margin=(2, 10))
        self.layout.styles = {**self.layout.styles, "max-height": "210px", "overflow-y": "auto"}
        self._lines: deque[str] = deque(maxlen=LINES)
        self._session: Session | None = None
        self._read = 0
        self._begun = self._ended = False
        self.pending = True

    def say(self, sentence: str, where: str = "") -> None:
        """Add a line."""
        place = f"<b>{html.escape(where)}</b> " if where else ""
        self._lines.appendleft(f"<li style='margin:1px 0'>{place}{html.escape(sentence)}</li>")
        self.pending = True

    def is_behind(self, session: Session | None) -> bool:
        """Whether `follow` would find something to say of the end of this run."""
        if session is None or (session.status is None and session.error is None):
            return False
        return session is not self._session or not self._ended

    def follow(self, session: Session | None) -> None:
        """Add what is new in this session."""
        if session is None:
            return
        if session is not self._session:
            self._session, self._read = session, 0
            self._begun = self._ended = False
        job = session.job
        if not self._begun and job is not None:
            self._begun = True
            if isinstance(session.parameters, AppState):
                self.say(_began(session.parameters.summary(), job.extra))
            if isinstance(job.extra, Extra):
                for note in job.extra.workload.notes:
                    self.say(note)
                self._say_kernels(job.extra)
            # What the run that was branched did is in the log already.
            self._read = _inherited(session)
        rows = 0 if job is None else len(session.trace)
        numbers = session.trace.columns().get("iteration")
        for row, sentence in session.trace.events(self._read):
            where = f"{int(numbers[row])}:" if numbers is not None and row < len(numbers) else ""
            self.say(sentence, where)
        self._read = rows
        if not self._ended and session.status is not None:
            self._ended = True
            self.say(session.status.sentence)
        elif not self._ended and session.error is not None:
            self._ended = True
            self.say(for_page(str(session.error)))

    def _say_kernels(self, extra: Extra) -> None:
        """What the kernels are, where they are many or took long."""
        seconds = extra.workload.bank_seconds
        if extra.products is not None:
            family = extra.products.family
            self.say(
                f"{count(family.n_words)} words of up to {family.degree} of "
                f"{len(extra.products.features)} features, {count(family.n_keys)} kernels; "
                "none is listed."
            )
            if not extra.compared and len(extra.workload.y_test):
                self.say(
                    f"Other methods are not measured beside a run on more than {MOST_COMPARED:,} "
                    "training rows."
                )
        elif seconds > 0.05:
            n = extra.workload.bank.n_kernels
            noun = "kernel" if n == 1 else "kernels"
            self.say(f"{n} {noun} built in {seconds:.2g} s.")

    def write(self) -> None:
        """Bring the page up to date."""
        if self.pending:
            self.pending = False
            items = "".join(self._lines)
            self.layout.object = f"<ul style='margin:0;padding-left:18px'>{items}</ul>"


def _began(told: str, extra: object) -> str:
    """What run began, and from where."""
    descent = extra.descent if isinstance(extra, Extra) else None
    if descent is not None and descent.branched:
        start = "its whole state" if descent.resumed else "its weights and α, counted from 0"
        return (
            f"Branched at iteration {descent.at}, from {start}: {told}. The address keeps the "
            "choices only; the Python script has the branch too."
        )
    warm = isinstance(extra, Extra) and extra.warm
    start = ", from the weights of the run before (Reset starts afresh)" if warm else ""
    return f"Run started: {told}{start}."


def _inherited(session: Session) -> int:
    """Rows of a resumed run that were another one's."""
    extra = session.job.extra if session.job is not None else None
    descent = extra.descent if isinstance(extra, Extra) else None
    if descent is None or not descent.resumed:
        return 0
    numbers = session.trace.columns().get("iteration", ())
    return sum(int(n) <= descent.at for n in numbers)
