"""How an app feels, measured in headless Chromium, beside what was promised.

    python -m benchmarks.feel [--only NAME ...] [--url http://localhost:5006]

NAME is slider, drag, frames, second-page, ten, closed-tab or sigterm.  With
`--app neighborhood_kernel` slider and drag are those of that app.  With
`--url` a running server is measured; what only its inside knows is then left
out.  It is a report and not a test: the exit code is 0 whether or not a target
is met.  A busy machine makes every number worse; the load is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback

from playwright.sync_api import sync_playwright

from benchmarks._feel_measures import MEASURES, Row, Stage
from benchmarks._feel_page import APPS, Tab, launch
from benchmarks._feel_server import Server

LINE = "{:62}  {:4}  {:18} {}"


def _say(sentence: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {sentence}\n")
    sys.stderr.flush()


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _measure(name: str, stage: Stage) -> list[Row]:
    _say(f"{name} ({_load()})")
    title = Row(f"-- {name}", f"{_load()} when it began")
    try:
        return [title, *MEASURES[name](stage)]
    except Exception:
        traceback.print_exc()
        return [title, Row(f"{name}: could not be measured, see above", "-", "", False)]


def _print(rows: list[Row]) -> None:
    """At once: what was measured is not lost when something later goes wrong."""
    for row in rows:
        met = "" if row.met is None else "yes" if row.met else "NO"
        print(LINE.format(row.what, met, row.target, row.measured), flush=True)


def main() -> None:
    """Measure, print, exit 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(MEASURES), action="append", metavar="NAME")
    parser.add_argument("--url", help="of a running server")
    parser.add_argument("--app", choices=list(APPS), default="elastic_net")
    arguments = parser.parse_args()
    _say("starting the server")
    server = Server(arguments.url)
    missed: list[str] = []
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            app = APPS[arguments.app]
            stage = Stage(browser, server, _say, app)
            _say("one page first: the bank is built, and everything is compiled")
            tab = Tab(browser, server.url, app.short, app)
            tab.wait_iteration(1)
            tab.close()
            print(LINE.format("what", "met", "target", "measured"))
            every = MEASURES if app.page == "elastic_net" else ("slider", "drag")
            for name in arguments.only or every:
                rows = _measure(name, stage)
                _print(rows)
                missed += [row.what for row in rows if row.met is False]
            browser.close()
    finally:
        server.stop()
    print(f"\n{_load()} at the end; {len(missed)} targets missed", *missed, sep="\n  ")


if __name__ == "__main__":
    main()
