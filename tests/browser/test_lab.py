"""The notebooks in JupyterLab: they run, stream, and their sliders are live."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import PATIENCE, free_port

ROOT = Path(__file__).resolve().parents[2]
ELASTIC_NET = "01_elastic_net_mkl.ipynb"
NEIGHBORHOOD = "03_optimal_neighborhood_kernel.ipynb"

#: Milliseconds for the whole notebook on a busy machine.
ALL_CELLS = 300_000

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def lab(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """JupyterLab on a copy of the notebook that the test asks for; its address."""
    notebook: str = request.param
    work = tmp_path / "notebooks"
    work.mkdir()
    shutil.copy(ROOT / "notebooks" / notebook, work)
    # No banner that asks about news over the network, no look for updates.
    settings = tmp_path / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False})
    )
    port = free_port()
    environment = {
        **os.environ,
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PYTHONPATH": str(ROOT),
    }
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
        f"--ServerApp.root_dir={work}",
    ]  # fmt: skip
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            end = time.monotonic() + PATIENCE / 1000
            while time.monotonic() < end and process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/lab/tree/{notebook}"
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab that fails on a request outside loopback and on an error of the page."""
    context = browser.new_context(viewport={"width": 1400, "height": 1100})
    found = context.new_page()
    outside: list[str] = []
    errors: list[str] = []

    def gate(route: object) -> None:
        url = route.request.url  # type: ignore[attr-defined]
        if re.match(r"https?://127\.0\.0\.1[:/]|data:|blob:", url):
            route.continue_()  # type: ignore[attr-defined]
        else:
            outside.append(url)
            route.abort()  # type: ignore[attr-defined]

    found.route("**/*", gate)
    found.on("pageerror", lambda error: errors.append(str(error)))
    yield found
    context.close()
    assert outside == []
    assert errors == []


def run_all(page: Page, address: str) -> None:
    """Open the notebook, wait for its kernel, run every cell; none ends in an error."""
    page.goto(address)
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=PATIENCE)
    page.locator("li.lm-MenuBar-item", has_text="Run").click()
    page.locator('li[data-command="runmenu:run-all"]').click()
    # The last cell shows the table of symbols.
    expect(page.get_by_text("price of leaving the given kernel")).to_be_visible(timeout=ALL_CELLS)


def scroll_up_to(page: Page, wanted: Locator) -> None:
    """Go up from the end until it is in the page, past cells without an error."""
    errors = page.locator(".jp-OutputArea-output[data-mime-type*=error]")
    outer = page.locator(".jp-WindowedPanel-outer")
    for _ in range(60):  # only what is near the window is in the page
        assert errors.count() == 0
        if wanted.count():
            break
        outer.evaluate("panel => { panel.scrollTop -= 600 }")
        page.wait_for_timeout(300)
    wanted.scroll_into_view_if_needed(timeout=PATIENCE)


@pytest.mark.parametrize("lab", [ELASTIC_NET], indirect=True)
def test_a_slider_of_the_streaming_view_starts_a_new_run(page: Page, lab: str) -> None:
    run_all(page, lab)
    start = page.get_by_role("button", name="▶ Start")
    scroll_up_to(page, start)
    status = page.locator("[role=status]", has_text="WDBC")
    expect(status).to_have_text(
        "Press Start to solve WDBC, 403 kernels at η = 0.5, C = 100.", timeout=PATIENCE
    )
    start.click()  # on a click, and not before
    said = page.locator("[role=status]", has_text="η = ")
    expect(said).to_have_text(re.compile(r"^Running: η = 0\.5, C = 100, iteration \d+, within"),
                              timeout=PATIENCE)  # fmt: skip
    expect(said).to_have_text(
        re.compile(r"^Converged: η = 0\.5, .* iteration 51"), timeout=PATIENCE
    )

    eta = page.locator(".noUi-handle").first
    eta.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text(re.compile(r"η = 0\.55"), timeout=PATIENCE)
    expect(said).to_have_text(re.compile(r"^Converged: η = 0\.55, C = 100"), timeout=PATIENCE)
    expect(page.get_by_role("button", name="▶ Run again")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("lab", [NEIGHBORHOOD], indirect=True)
def test_the_level_method_is_walked_through(page: Page, lab: str) -> None:
    run_all(page, lab)
    said = page.locator("[role=status]", has_text=re.compile("from the optimum"))
    scroll_up_to(page, said)  # drawn as soon as the cell has run, and before any click
    output = page.locator(".jp-OutputArea-child", has=said)
    pictures = output.locator(".bk-Canvas")
    expect(pictures).to_have_count(2)
    rho, iteration = output.locator(".noUi-handle").all()
    step, play = (output.get_by_role("button", name=name) for name in ("Step ▶", "▶ Play"))

    def at(k: int, value: str = "0.5") -> str:
        """Wait until iteration `k` is shown everywhere; what is said."""
        text = re.compile(rf"^ρ = {value}, {k} of \d+ iterations\. Iterate {k} lies .* level set ")
        expect(said).to_have_text(text, timeout=PATIENCE)
        expect(iteration).to_have_attribute("aria-valuenow", f"{k:.1f}")
        key = re.compile(rf"feasible.*\biterate {k}\b")
        expect(output.get_by_text(key)).to_be_visible(timeout=PATIENCE)
        return said.inner_text()

    def picture(other_than: list[bytes]) -> list[bytes]:
        """Both pictures, once each differs from another time's."""
        for _ in range(100):
            found = [pictures.nth(i).screenshot() for i in range(2)]
            if all(new != old for new, old in zip(found, other_than, strict=True)):
                break
            page.wait_for_timeout(100)
        else:
            raise AssertionError("the pictures have not changed")
        return found

    said_0 = at(0)
    first = picture([b"", b""])
    step.click()
    at(1)
    second = picture(first)
    play.click()
    last = int(re.search(r"of (\d+)", said_0)[1])  # type: ignore[index]
    expect(output.get_by_role("button", name="Pause")).to_be_visible()
    expect(said).to_have_text(re.compile(r"^ρ = 0\.5, [4-9] of"), timeout=PATIENCE)
    output.get_by_role("button", name="Pause").click()
    expect(play).to_be_visible()
    iteration.focus()
    page.keyboard.press("End")
    at(last)
    end = picture(second)
    page.keyboard.press("Home")
    assert at(0) == said_0
    picture(end)

    # A person's mouse: half-way along the slider.
    bar = output.locator(".noUi-base").nth(1).bounding_box()
    assert bar is not None
    iteration.hover()
    page.mouse.down()
    page.mouse.move(bar["x"] + 0.5 * bar["width"], bar["y"] + 0.5 * bar["height"], steps=5)
    page.mouse.up()
    expect(said).to_have_text(re.compile(rf"^ρ = 0\.5, (?:{last // 2}|{last // 2 + 1}) of"))

    page.keyboard.press("Home")
    at(0)
    before = picture([b"", b""])
    rho.focus()
    page.keyboard.press("ArrowRight")
    at(0, "0.889")
    picture(before)
    step.click()
    at(1, "0.889")
