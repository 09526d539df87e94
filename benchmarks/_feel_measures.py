"""What is measured: each function takes the stage and returns rows of the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser

from benchmarks._feel_clients import Crowd
from benchmarks._feel_page import APPS, App, Tab
from benchmarks._feel_server import Server

__all__ = ["MEASURES", "Row", "Stage"]

#: Runs of the elastic-net app.
SHORT, LONG = APPS["elastic_net"].short, APPS["elastic_net"].long

#: The page that opens first, at its own pace, kept from ending.
FIRST = "data=two-moons&tol=1e-10&max_iter=5000"

#: Slider moves of which the median is taken.
MOVES = 20

#: Seconds over which frames are counted.
WINDOW = 10.0

FAST_PICTURES = ("bounds", "gap")

PEOPLE = 10


@dataclass(frozen=True)
class Row:
    """One line of the report; `met` is None where nothing was promised."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Stage:
    """A browser, and a server that is warm."""

    browser: Browser
    server: Server
    say: Callable[[str], None]
    app: App = APPS["elastic_net"]


def slider(stage: Stage) -> list[Row]:
    """Time from the press that chooses another value to its first painted frame."""
    rows, app = [], stage.app
    for query, when in ((app.short, "the run before has ended"), (app.long, "while a run streams")):
        tab = Tab(stage.browser, stage.server.url, query, app)
        tab.hook()
        times = []
        for i in range(MOVES):
            if query is app.short:
                tab.wait_state("finished")
            time.sleep(0.7)
            n = len(tab.read("runs"))
            x, y = tab.place(0.2 + 0.01 * i if i % 2 else 0.6 + 0.01 * i)  # never the same twice
            tab.page.mouse.move(x, y)
            tab.page.mouse.down()
            tab.page.mouse.up()
            if not tab.until(f"feel.runs.length > {n} && feel.runs.at(-1).painted !== null", 15):
                times.append(15.0)
                continue
            # Counted from the press, where the value changes, not from the release
            # a few milliseconds later.
            times.append(tab.read("runs")[n]["painted"] - tab.read("pressed")[-1])
        tab.close()
        rows.append(
            Row(
                f"slider released to first new frame, {when}",
                f"median {1e3 * median(times):.0f} ms, worst {1e3 * max(times):.0f} ms"
                f" of {len(times)}",
                "median <= 250 ms",
                median(times) <= 0.25,
            )
        )
    return rows


def drag(stage: Stage) -> list[Row]:
    """A drag over 50 values: runs asked for, begun, and when the last one shows."""
    app = stage.app
    tab = Tab(stage.browser, stage.server.url, app.long, app)
    tab.hook()
    tab.wait_iteration(5)
    start, end = 0.2, 0.7
    before = int(tab.fact("run"))
    tab.page.mouse.move(*tab.place(start))
    tab.page.mouse.down()
    time.sleep(1.0)
    if stage.server.own:
        stage.server.watch()
    first, released = tab.drag([tab.place(start + (end - start) * i / 50) for i in range(51)])
    time.sleep(3.0)
    runs = [run for run in tab.read("runs") if run["arrived"] > first]
    chosen = tab.page.get_by_role("slider", name=app.slider).first.get_attribute("aria-valuenow")
    run = parse_qs(urlsplit(tab.page.url).query)[app.choice][0]
    right = float(run) == app.value(float(chosen or "nan"))
    settled = max(0.0, runs[-1]["painted"] - released) if runs else 3.0
    asked = int(tab.fact("run")) - before - 1
    looks = stage.server.unwatch() if stage.server.own else []
    tab.close()
    rows = [
        Row("drag over 50 values", f"took {released - first:.2f} s; {asked} values reached the"
            f" server, {len(runs)} runs were seen", "about 1 s"),
        Row(
            "drag: released to first frame of the last value",
            f"{1e3 * settled:.0f} ms"
            + ("" if right else f", but of {app.choice} {run} and not {chosen}"),
            "<= 500 ms", right and settled <= 0.5,
        ),
    ]  # fmt: skip
    return rows + _queue(looks, released)


def _queue(looks: list[dict], released: float) -> list[Row]:
    """How many runs began, and how many of them only after the release."""
    if not looks:
        return [Row("drag: runs begun and skipped", "seen on a server of our own only")]

    def begun(look: dict) -> int:
        page = look["pages"][-1]
        return page["started"] - page["skipped"] - page["waiting"]

    pages = [look["pages"][-1] for look in (looks[0], looks[-1])]
    at_release = max((look for look in looks if look["time"] <= released), key=lambda k: k["time"])
    late = begun(looks[-1]) - begun(at_release)
    # One may be on its way when the slider is let go, and the last one follows it.
    return [
        Row(
            "drag: runs queued",
            f"{pages[1]['started'] - pages[0]['started']} asked for,"
            f" {pages[1]['skipped'] - pages[0]['skipped']} skipped unbegun,"
            f" {begun(looks[-1]) - begun(looks[0])} begun, {late} of them after the release",
            "at most 2 begin late",
            late <= 2,
        )
    ]


def frames(stage: Stage) -> list[Row]:
    """Painted frames of each picture per second, and what one costs."""
    rows = []
    for query, name in ((LONG, "ionosphere"), (FIRST + "&speed=50", "two moons, 50 it/s")):
        tab = Tab(stage.browser, stage.server.url, query)
        tab.hook()
        tab.wait_iteration(10)
        time.sleep(1.0)
        first = int(tab.fact("iteration"))
        before = (stage.server.cpu(), tab.busy(), *tab.sockets())
        begun = tab.page.evaluate("feel.now()")
        time.sleep(WINDOW)
        end = tab.page.evaluate("feel.now()")
        painted = tab.read("painted")
        after = (stage.server.cpu(), tab.busy(), *tab.sockets())
        iterations = (int(tab.fact("iteration")) - first) / (end - begun)
        state = tab.fact("state")
        tab.close()
        rate = {
            picture: sum(begun <= t <= end for t in times) / (end - begun)
            for picture, times in painted.items()
        }
        for picture, fps in sorted(rate.items(), key=lambda item: -item[1]):
            least = 10 if picture in FAST_PICTURES else 4
            rows.append(
                Row(f"{name}: {picture}", f"{fps:.1f} frames/s", f">= {least}", fps >= least)
            )
        n = max(1.0, rate["bounds"] * (end - begun))
        cpu, busy, messages, size = (b - a for a, b in zip(before, after, strict=True))
        rows.append(
            Row(
                f"{name}: what that costs",
                f"{iterations:.0f} iterations/s, run {state} at the end; per frame of bounds:"
                f" server {1e3 * cpu / n:.0f} ms CPU (solver included), browser"
                f" {1e3 * busy / n:.0f} ms, {messages / n:.1f} messages, {size / n / 1e3:.0f} kB",
            )
        )
    return rows


def second_page(stage: Stage) -> list[Row]:
    """Another person opens a page while one session solves."""
    tab = Tab(stage.browser, stage.server.url, LONG)
    tab.wait_iteration(5)
    rows = [Row("the first page itself, nobody else solving", f"{tab.seconds:.2f} s")]
    for query, name in (("", "two moons"), ("data=ionosphere", "ionosphere")):
        times = []
        for _ in range(3):
            other = Tab(stage.browser, stage.server.url, query)
            times.append(other.seconds)
            other.close()
            time.sleep(1.0)
        rows.append(
            Row(
                f"another session's page ({name}) opens while one solves",
                ", ".join(f"{t:.2f}" for t in times) + " s, nothing cached",
                "each < 5 s",
                max(times) < 5,
            )
        )
    busy = tab.fact("state")
    tab.close()
    return [*rows, Row("the solving session meanwhile", f"is {busy}")]


def ten(stage: Stage) -> list[Row]:
    """One browser and nine protocol clients stream at once."""
    rows = []
    for query, name in ((FIRST, "two moons at 12 it/s"), (LONG, "ionosphere, no pace")):
        alone = stage.server.memory()
        tab = Tab(stage.browser, stage.server.url, query)
        tab.hook()
        crowd = Crowd(stage.server.url, query, PEOPLE - 1)
        try:
            before = stage.server.cpu()
            begun = tab.page.evaluate("feel.now()")
            crowd.start(WINDOW)
            time.sleep(0.8 * WINDOW)
            pages = stage.server.look()[-PEOPLE:] if stage.server.own else []
            time.sleep(0.2 * WINDOW)
            end = tab.page.evaluate("feel.now()")
            times = tab.read("painted")["bounds"]
            cpu = (stage.server.cpu() - before) / (end - begun)
            clients = crowd.result()
        finally:
            crowd.close()
        memory, state = stage.server.memory(), tab.fact("state")
        tab.close()
        seen = sum(begun <= t <= end for t in times) / (end - begun)
        rates = sorted(client["fps"] for client in clients if client["alive"])
        running = sum(page["state"] == "running" for page in pages)
        whole = len(rates) == PEOPLE - 1
        rows += [
            Row(f"ten at once, {name}: the browser", f"{seen:.1f} frames/s painted, run {state}",
                ">= 4", seen >= 4),
            Row(f"ten at once, {name}: 9 protocol clients",
                f"{len(rates)} alive, frames/s " + " ".join(f"{r:.1f}" for r in rates),
                "each >= 4", whole and rates[0] >= 4),
            Row(f"ten at once, {name}: the server",
                f"{100 * cpu:.0f} % CPU, {sum(rates) + seen:.0f} frames/s in all, {memory:.0f} MB"
                f" ({alone:.0f} MB before)"
                + (f", {running} of {PEOPLE} still running" if pages else "")
                + f"; the nine opened in {crowd.seconds:.1f} s"),
        ]  # fmt: skip
        time.sleep(3.0)
    return rows


def closed_tab(stage: Stage) -> list[Row]:
    """A tab is closed; its run must rest soon."""
    if not stage.server.own:
        return [Row("closed tab pauses its run", "seen on a server of our own only")]
    tab = Tab(stage.browser, stage.server.url, LONG)
    tab.wait_iteration(5)
    assert stage.server.look()[-1]["state"] == "running"
    begun = time.monotonic()
    tab.close()
    page = stage.server.look()[-1]
    while page["state"] == "running" and time.monotonic() - begun < 30:
        time.sleep(0.02)
        page = stage.server.look()[-1]
    spent = time.monotonic() - begun
    row = Row("closed tab pauses its run", f"{page['state']} after {spent:.2f} s", "within 2 s",
              page["state"] == "paused" and spent <= 2)  # fmt: skip
    return [row]


def sigterm(stage: Stage) -> list[Row]:
    """A server of its own is told to end in the middle of a run."""
    stage.say("starting another server to end it")
    server = Server()
    tab = Tab(stage.browser, server.url, LONG)
    tab.wait_iteration(5)
    state = server.look()[-1]["state"]
    seconds = server.stop()
    tab.close()
    return [
        Row("SIGTERM in the middle of a run ends the server", f"{seconds:.2f} s, run was {state}",
            "within 10 s", seconds <= 10 and state == "running"),
        Row("start of a server, warm-up included", f"{server.start_seconds:.1f} s"),
    ]  # fmt: skip


MEASURES: Mapping[str, Callable[[Stage], list[Row]]] = {
    "slider": slider,
    "drag": drag,
    "frames": frames,
    "second-page": second_page,
    "ten": ten,
    "closed-tab": closed_tab,
    "sigterm": sigterm,
}
