"""A server and a headless Chromium for all walks; nothing may leave this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect, sync_playwright

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()

#: Milliseconds: pages may be slow on a busy machine, but never that slow.
PATIENCE = 180_000

# Waits for what must come to be; how fast it comes is the benchmark's business.
expect.set_options(timeout=PATIENCE)

STATUS = "[role=status]"


def chromium() -> str | None:
    """A Chromium on the PATH; None: Playwright's own."""
    found = (shutil.which(n) for n in ("chromium", "chromium-browser", "google-chrome"))
    return os.environ.get("CHROMIUM") or next((path for path in found if path), None)


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """``mkldash serve`` in a process of its own."""

    def __init__(self, port: int | None = None) -> None:
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mkldash", "serve", "--port", str(self.port)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        # Never GET the page to see whether it is there: each GET builds a session.
        end = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise RuntimeError("the server did not start")

    def stop(self) -> tuple[float, str]:
        """End it by SIGTERM; how long that took (s), and what it printed."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            printed, _ = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return time.monotonic() - begun, printed


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all walks."""
    found = Server()
    yield found
    _, printed = found.stop()
    assert "Traceback" not in printed, printed


@pytest.fixture(scope="session")
def _playwright() -> Iterator[Playwright]:
    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def browser(_playwright: Playwright) -> Iterator[Browser]:
    """Chromium."""
    found = _playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
    yield found
    found.close()


class Walk:
    """One tab, watched: it fails on a request outside loopback and on page errors."""

    def __init__(self, browser: Browser, server: Server, **options: object) -> None:
        self.context = browser.new_context(**options)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.server = server
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route("**/*", self._gate)

    def _gate(self, route: object) -> None:
        url = route.request.url  # type: ignore[attr-defined]
        if re.match(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|data:|blob:", url):
            route.continue_()  # type: ignore[attr-defined]
        else:
            self.outside.append(url)
            route.abort()  # type: ignore[attr-defined]

    def open(self, query: str = "", app: str = "elastic_net") -> Walk:
        """Go to an app."""
        self.page.goto(f"{self.server.url}/{app}?{query}")
        return self

    @property
    def status(self) -> Locator:
        """The sentence that always says what is going on."""
        return self.page.locator(STATUS).first

    def wait_state(self, state: str) -> str:
        """Wait until the run is in this state; the sentence."""
        expect(self.status).to_have_attribute("data-state", state, timeout=PATIENCE)
        return self.status.inner_text()

    def wait_run(self, number: int, state: str = "finished") -> str:
        """Wait until run `number` is in this state."""
        expect(self.status).to_have_attribute("data-run", str(number), timeout=PATIENCE)
        return self.wait_state(state)

    def tile(self, label: str) -> Locator:
        """The number with this name."""
        return self.page.locator(
            "dl.tiles div", has=self.page.get_by_text(label, exact=True)
        ).locator("dd")

    def press(self, name: str) -> None:
        """Press a button of the player."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def save(self, name: str, folder: Path) -> Path:
        """Press a button that saves; the file, under the name that the page gave it."""
        with self.page.expect_download() as found:
            self.press(name)
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path

    def upload(self, path: Path) -> None:
        """Hand over a table."""
        self.page.get_by_label("Upload a table").set_input_files(path)

    def close(self) -> None:
        """End the tab and look at what it did."""
        self.context.close()
        assert self.outside == []
        assert self.errors == []


@pytest.fixture
def walk(browser: Browser, server: Server) -> Iterator[Walk]:
    """A tab of 1280 x 800."""
    found = Walk(browser, server, viewport={"width": 1280, "height": 800})
    yield found
    found.close()


@pytest.fixture
def other(browser: Browser, server: Server) -> Iterator[Walk]:
    """Another person."""
    found = Walk(browser, server, viewport={"width": 1280, "height": 800})
    yield found
    found.close()
