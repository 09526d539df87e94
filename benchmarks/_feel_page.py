"""A tab of headless Chromium that notes when something new was painted.

A frame of a picture is a repaint after one of the figure's sources changed.
Times are seconds since the epoch, so that they can be laid beside the server's.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, Playwright

__all__ = ["STATUS", "Tab", "launch"]

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()

STATUS = "[role=status]"

PATIENCE = 120.0

#: Before anything else on the page: counts what arrives on the sockets.
_SOCKETS = """
window.feel_socket = {messages: 0, bytes: 0}
window.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args)
    this.addEventListener("message", (e) => {
      feel_socket.messages += 1
      feel_socket.bytes += e.data.byteLength ?? e.data.size ?? e.data.length
    })
  }
}
"""

_HOOKS = """
() => {
  const now = () => (performance.timeOrigin + performance.now()) / 1000
  const feel = window.feel = {now, data: {}, painted: {}, runs: [], pressed: [], released: []}
  const models = Bokeh.documents.flatMap((d) => [...d.all_models])
  const figures = models.filter((m) => m.type == "Figure")
  const names = ["bounds", "neighborhood-bounds", "objective-bounds"]
  const bounds = figures.find((f) => names.includes(f.name))
  const views = new Map()
  for (const view of Bokeh.index.all_views()) {
    if (view.repainted && !views.has(view.model)) { views.set(view.model, view) }
  }
  for (const figure of figures) {
    const name = figure.name
    const view = views.get(figure)
    if (!view || view.el.getBoundingClientRect().width == 0) { continue }
    feel.data[name] = []
    feel.painted[name] = []
    let dirty = false
    const arrived = () => {
      if (!dirty) { feel.data[name].push(now()) }
      dirty = true
    }
    for (const source of new Set(figure.renderers.map((r) => r.data_source))) {
      for (const signal of [source.change, source.streaming, source.patching]) {
        signal.connect(arrived)
      }
    }
    view.repainted.connect(() => {
      if (!dirty) { return }
      dirty = false
      feel.painted[name].push(now())
      const run = feel.runs.at(-1)
      if (figure == bounds && run && !run.painted) { run.painted = now() }
    })
  }
  // A run is known by the bounds of its first iteration, and by ending before the last one
  // did.  Not by having fewer points: long runs are thinned as they grow.
  const source = bounds.renderers[0].data_source
  const key = () => `${source.data.upper[0]}|${source.data.lower[0]}`
  let last = key(), end = source.data.x.at(-1)
  const look = () => {
    const {length} = source.data.x
    const earlier = length && source.data.x.at(-1) < end
    end = length ? source.data.x.at(-1) : end
    if (length && (earlier || key() != last)) {
      last = key()
      feel.runs.push({key: last, arrived: now(), painted: null})
    }
  }
  for (const signal of [source.change, source.streaming, source.patching]) { signal.connect(look) }
  window.addEventListener("pointerdown", () => feel.pressed.push(now()), true)
  window.addEventListener("pointerup", () => feel.released.push(now()), true)
}
"""


#: A hand does not wait for a busy page: where the page has no time for a
#: position, it gets the next one.  Driven from outside, each move would wait.
_DRAG = """
async (places) => {
  const last = places.length - 1
  const fire = (kind, i, buttons) => {
    const where = {clientX: places[i][0], clientY: places[i][1]}
    const facts = {bubbles: true, cancelable: true, buttons, ...where}
    document.dispatchEvent(new PointerEvent("pointer" + kind, {...facts, pointerId: 1}))
    document.dispatchEvent(new MouseEvent("mouse" + kind, facts))
  }
  const begun = performance.now()
  for (let i = 0; i < last;) {
    await new Promise((done) => setTimeout(done, 20))
    i = Math.min(last, Math.max(i + 1, Math.floor((performance.now() - begun) / 20)))
    fire("move", i, 1)
  }
  fire("up", last, 0)
  return [begun, performance.now()].map((t) => (performance.timeOrigin + t) / 1000)
}
"""


#: Every card that is shown has its figure.
_ALL_THERE = """
Bokeh.index.roots.length > 0 && (() => {
  const views = [...Bokeh.index.all_views()]
  const shown = (v) => v.el.getBoundingClientRect().width > 0
  const heads = views.filter((v) => v.model.data?.type?.startsWith("CardHead") && shown(v)).length
  return heads > 0 && views.filter((v) => v.repainted && shown(v)).length >= heads
})()
"""


def launch(playwright: Playwright) -> Browser:
    """Chromium from the PATH, else Playwright's own."""
    found = (shutil.which(n) for n in ("chromium", "chromium-browser", "google-chrome"))
    path = os.environ.get("CHROMIUM") or next((p for p in found if p), None)
    return playwright.chromium.launch(executable_path=path, args=FLAGS)


@dataclass(frozen=True)
class App:
    """One dashboard, and what is moved and solved on it.

    Attributes
    ----------
    page : str
        URL name.
    slider : str
        Part of the name of the slider that is moved.
    choice : str
        What it chooses, in the URL.
    value : callable
        From the slider's position to that.
    short : str
        A run that is certified after seconds, as a person meets it, without a pace.
    long : str
        A run that goes on while somebody measures, as fast as it can.
    """

    page: str
    slider: str
    choice: str
    value: Callable[[float], float]
    short: str
    long: str


APPS = {
    app.page: app
    for app in (
        App(
            "elastic_net", "smooth", "eta", float,
            "data=ionosphere&bank=paper&speed=1000",
            "data=ionosphere&bank=paper&tol=1e-10&max_iter=5000&speed=1000",
        ),
        App(
            "neighborhood_kernel", "price of leaving", "rho", lambda at: float(f"{10**at:.3g}"),
            "data=ionosphere&solver=accelerated&speed=1000",
            "data=pima&solver=level&tol=1e-9&max_iter=5000&speed=1000",
        ),
        App(
            "mirror_descent", "Penalty of products", "penalty", lambda at: float(f"{10**at:.3g}"),
            "data=known-products&tol=0.05&speed=1000",
            "data=diabetes&tol=1e-9&max_iter=20000&speed=1000",
        ),
    )
}  # fmt: skip


class Tab:
    """One person's page, with nothing cached.

    Parameters
    ----------
    browser : Browser
    url : str
        Of the server.
    query : str
        Choices of the run.
    app : App

    Attributes
    ----------
    seconds : float
        From going to the page until its status told of a live run.
    """

    def __init__(
        self, browser: Browser, url: str, query: str = "", app: App = APPS["elastic_net"]
    ) -> None:
        self.app = app
        self.context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.add_init_script(_SOCKETS)
        self._cdp = self.context.new_cdp_session(self.page)
        self._cdp.send("Performance.enable")
        begun = time.monotonic()
        self.page.goto(f"{url}/{app.page}?{query}", wait_until="commit")
        self.status = self.page.locator(STATUS).first
        self.page.locator(f"{STATUS}[data-state=running],{STATUS}[data-state=finished]").wait_for()
        self.seconds = time.monotonic() - begun

    def hook(self) -> None:
        """Begin to note frames; the first picture is waited for."""
        self.wait_iteration(1)
        self.until(_ALL_THERE)
        self.page.evaluate(_HOOKS)

    def fact(self, name: str) -> str:
        """A data attribute of the status."""
        return self.status.get_attribute(f"data-{name}") or ""

    def wait_iteration(self, least: int) -> None:
        """Until the status tells of this iteration."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.fact("iteration")
            if text and int(text) >= least:
                return
            time.sleep(0.05)
        raise RuntimeError(f"iteration {least} was never told")

    def wait_state(self, state: str) -> None:
        """Until the status tells of this state."""
        self.page.locator(f"{STATUS}[data-state={state}]").wait_for()

    def until(self, condition: str, patience: float = PATIENCE) -> bool:
        """Ask the page every 25 ms; False when it never came true."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if self.page.evaluate(condition):
                return True
            time.sleep(0.025)
        return False

    def read(self, name: str) -> Any:
        """A list that the hooks keep."""
        return self.page.evaluate(f"feel.{name}")

    def sockets(self) -> tuple[int, int]:
        """Messages and bytes that came from the server so far."""
        found = self.page.evaluate("feel_socket")
        return int(found["messages"]), int(found["bytes"])

    def busy(self) -> float:
        """Seconds of the page's main thread so far."""
        metrics = self._cdp.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    def place(self, share: float) -> tuple[float, float]:
        """Where to press on the slider for this share of its reach."""
        slider = self.page.locator(".MuiSlider-root", has=self.page.get_by_role(
            "slider", name=self.app.slider)).first  # fmt: skip
        box = slider.bounding_box()
        assert box is not None
        return box["x"] + box["width"] * share, box["y"] + box["height"] / 2

    def drag(self, places: list[tuple[float, float]]) -> tuple[float, float]:
        """Move the pressed mouse through these places in 20 ms each, and let go.

        Returns
        -------
        tuple of float
            When the first move was made and when it was let go.
        """
        begun, released = self.page.evaluate(_DRAG, [list(place) for place in places])
        self.page.mouse.move(*places[-1])
        self.page.mouse.up()
        return begun, released

    def close(self) -> None:
        """End the tab."""
        self.context.close()
