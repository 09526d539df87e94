"""The server that is looked at: ``mkldash serve`` in its own process, with a window.

Run as a module it serves the apps and answers on standard output what is asked
on standard input, so that runs can be counted without a request to the server:

- ``look``: one line with every page's run;
- ``watch`` / ``unwatch``: from then on every 10 ms, and all of it at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import psutil

__all__ = ["Server"]

#: Seconds that the first start may take: it compiles.
START = 300.0

ROOT = Path(__file__).resolve().parents[1]


class Server:
    """A server of our own, or one that runs already (then nothing inside is seen).

    Parameters
    ----------
    url : str, optional
        Of a running server.

    Attributes
    ----------
    url : str
    own : bool
    start_seconds : float or None
        From process start to the line that says ready.
    """

    def __init__(self, url: str | None = None) -> None:
        self.own = url is None
        self.start_seconds: float | None = None
        self._process: subprocess.Popen[str] | None = None
        self.url = url.rstrip("/") if url is not None else self._start()

    def _start(self) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        begun = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks._feel_server", str(port)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._read("ready", START)
        self.start_seconds = time.monotonic() - begun
        return f"http://127.0.0.1:{port}"

    def _read(self, word: str, patience: float = 30.0) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if select.select([self._process.stdout], [], [], 0.5)[0]:
                line = self._process.stdout.readline()
                if line.startswith(word):
                    return json.loads(line[len(word) :])
                if not line:
                    break
        raise RuntimeError(f"the server did not say {word!r}")

    def _ask(self, word: str) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        return self._read(word)

    def look(self) -> list[dict[str, Any]]:
        """What every page's run is doing now, oldest page first."""
        return self._ask("look")["pages"]

    def watch(self) -> None:
        """Begin to look every 10 ms."""
        self._ask("watch")

    def unwatch(self) -> list[dict[str, Any]]:
        """All looks since `watch`."""
        return self._ask("unwatch")

    @property
    def process(self) -> psutil.Process | None:
        """For CPU time and memory; None when the server is not our own."""
        return None if self._process is None else psutil.Process(self._process.pid)

    def cpu(self) -> float:
        """CPU seconds so far; NaN when the server is not our own."""
        return sum(self.process.cpu_times()[:2]) if self.process is not None else float("nan")

    def memory(self) -> float:
        """Resident megabytes; NaN when the server is not our own."""
        return self.process.memory_info().rss / 1e6 if self.process is not None else float("nan")

    def stop(self) -> float:
        """End it by SIGTERM; seconds until the process was gone (60: it had to be killed)."""
        if self._process is None:
            return float("nan")
        begun = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return time.monotonic() - begun


# -- inside the server's process -------------------------------------------------


def _say(word: str, content: Any) -> None:
    sys.stdout.write(f"{word} {json.dumps(content)}\n")
    sys.stdout.flush()


def _page(runner: Any) -> dict[str, Any]:
    session = runner.current
    return {
        "started": runner.started,
        "skipped": runner.skipped,
        "waiting": bool(runner.waiting),
        "state": None if session is None else session.state.value,
        "rows": 0 if session is None else len(session.trace),
    }


def _window(runners: list[weakref.ref[Any]]) -> None:
    watching = threading.Event()
    seen: list[dict[str, Any]] = []

    def look() -> dict[str, Any]:
        alive = [runner for born in list(runners) if (runner := born()) is not None]
        return {"time": time.time(), "pages": [_page(runner) for runner in alive]}

    def keep_looking() -> None:
        while watching.is_set():
            seen.append(look())
            time.sleep(0.01)

    for line in sys.stdin:
        word = line.strip()
        if word == "watch":
            seen.clear()
            watching.set()
            threading.Thread(target=keep_looking, daemon=True).start()
            _say("watch", None)
        elif word == "unwatch":
            watching.clear()
            _say("unwatch", list(seen))
        else:
            _say("look", look())
    # Whoever measured is gone: no server is left behind.
    os.kill(os.getpid(), signal.SIGTERM)


def _serve(port: int) -> None:
    from mkldash.apps.serve import serve
    from mkldash.streaming import Runner

    runners: list[weakref.ref[Any]] = []  # weak: memory is measured too
    born = Runner.__init__

    def remember(self: Any, *arguments: Any, **options: Any) -> None:
        born(self, *arguments, **options)
        runners.append(weakref.ref(self))

    Runner.__init__ = remember  # type: ignore[method-assign]
    threading.Thread(target=_window, args=(runners,), daemon=True).start()
    serve(port=port, ready=lambda url: _say("ready", url))


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
