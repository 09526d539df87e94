"""The notebook in JupyterLab: it runs, streams, and its sliders are live."""

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
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE, free_port

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = "01_elastic_net_mkl.ipynb"

#: Milliseconds for the whole notebook on a busy machine.
ALL_CELLS = 300_000

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """JupyterLab on a copy of the notebook; its address."""
    work = tmp_path / "notebooks"
    work.mkdir()
    shutil.copy(ROOT / "notebooks" / NOTEBOOK, work)
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
            yield f"http://127.0.0.1:{port}/lab/tree/{NOTEBOOK}"
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
    """Open the notebook, wait for its kernel, run every cell."""
    page.goto(address)
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=PATIENCE)
    page.locator("li.lm-MenuBar-item", has_text="Run").click()
    page.locator('li[data-command="runmenu:run-all"]').click()


def test_a_slider_of_the_streaming_view_starts_a_new_run(page: Page, lab: str) -> None:
    run_all(page, lab)
    # The last cell shows the table of symbols.
    expect(page.get_by_text("price of leaving the given kernel")).to_be_visible(timeout=ALL_CELLS)
    assert page.locator(".jp-OutputArea-output[data-mime-type*=error]").count() == 0

    start = page.get_by_role("button", name="▶ Start")
    outer = page.locator(".jp-WindowedPanel-outer")
    for _ in range(60):  # only what is near the window is in the page
        if start.count():
            break
        outer.evaluate("panel => { panel.scrollTop -= 600 }")
        page.wait_for_timeout(500)
    start.scroll_into_view_if_needed(timeout=PATIENCE)
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
