"""The pump: two frames under way at most, latest wins, leaving and returning, errors."""

import asyncio
import contextlib
import threading
import time
from types import SimpleNamespace

import pytest

from mkldash.apps import pump as pump_module
from mkldash.apps.pump import IN_FLIGHT, Pump


class Bench:
    """A pump in an event loop, without a browser."""

    def __init__(self, monkeypatch, draw=lambda: False):
        self.drawn, self.said = 0, []
        self.session = SimpleNamespace(connection_count=1, destroyed=False)
        self._draw = draw
        monkeypatch.setattr(pump_module, "CHECK_EVERY", 0.02)
        self.pump = Pump(
            self.draw,
            on_leave=lambda: self.said.append("left"),
            on_return=lambda: self.said.append("back"),
            on_error=lambda problem: self.said.append(str(problem)),
            fps=500.0,
        )
        self.pump.writing = contextlib.nullcontext

    def draw(self):
        self.drawn += 1
        return self._draw()

    def start(self):
        self.pump.start()
        self.pump._doc = SimpleNamespace(session_context=SimpleNamespace(session=self.session))

    def paint(self):
        """The browser has painted all that was sent."""
        self.pump._painted("end", 0, self.pump.frames)

    async def until(self, condition):
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0.002)


def run(coroutine):
    asyncio.run(coroutine)


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def test_no_more_than_two_frames_are_under_way(bench):
    async def walk():
        bench.start()
        for _ in range(50):
            bench.pump.knock()
            await asyncio.sleep(0.004)
        assert bench.drawn == IN_FLIGHT
        bench.paint()
        await bench.until(lambda: bench.drawn == IN_FLIGHT + 1)
        bench.pump.stop()

    run(walk())


def test_many_knocks_from_a_worker_are_one_frame(bench):
    async def walk():
        bench.start()
        await bench.until(lambda: bench.drawn == 1)
        bench.paint()
        worker = threading.Thread(target=lambda: [bench.pump.knock() for _ in range(1000)])
        worker.start()
        worker.join()
        await bench.until(lambda: bench.drawn == 2)
        bench.paint()
        await asyncio.sleep(0.05)
        assert bench.drawn == 2
        bench.pump.stop()

    run(walk())


def test_a_closed_tab_is_told_and_nothing_is_drawn_until_it_is_back(bench):
    async def walk():
        bench.start()
        await bench.until(lambda: bench.drawn == 1)
        bench.session.connection_count = 0
        await bench.until(lambda: bench.said == ["left"])
        bench.pump.knock()
        await asyncio.sleep(0.05)
        assert bench.drawn == 1
        bench.session.connection_count = 1
        await bench.until(lambda: bench.said == ["left", "back"])
        await bench.until(lambda: bench.drawn == 2)
        bench.pump.stop()

    run(walk())


def test_a_session_that_was_destroyed_is_never_drawn(bench):
    async def walk():
        bench.start()
        await bench.until(lambda: bench.drawn == 1)
        bench.session.destroyed = True
        await bench.until(lambda: bench.said == ["left"])
        bench.pump.knock()
        await asyncio.sleep(0.05)
        assert bench.drawn == 1
        bench.pump.stop()

    run(walk())


def test_a_tab_that_leaves_with_frames_under_way_is_noticed(bench):
    async def walk():
        bench.start()
        await bench.until(lambda: bench.drawn == 1)
        bench.pump.knock()
        await bench.until(lambda: bench.drawn == 2)
        bench.pump.knock()
        bench.session.connection_count = 0
        await bench.until(lambda: bench.said == ["left"])
        bench.pump.stop()

    run(walk())


def test_an_error_is_told_and_the_pump_goes_on(monkeypatch):
    answers = iter([ValueError("no such column"), None, None])

    def draw():
        answer = next(answers)
        if answer is not None:
            raise answer
        return False

    bench = Bench(monkeypatch, draw)

    async def walk():
        bench.start()
        await bench.until(lambda: bench.said == ["no such column"])
        bench.pump.knock()
        await bench.until(lambda: bench.drawn == 2)
        bench.pump.stop()

    run(walk())


def test_a_picture_that_moves_by_itself_is_drawn_again(monkeypatch):
    bench = Bench(monkeypatch, lambda: True)

    async def walk():
        bench.start()
        for n in range(1, 6):
            await bench.until(lambda n=n: bench.drawn >= n)
            bench.paint()
        bench.pump.stop()

    run(walk())


def test_many_pages_share_the_frames(monkeypatch):
    benches = [Bench(monkeypatch) for _ in range(3)]
    monkeypatch.setattr(pump_module, "IN_ALL", 20.0)

    async def walk():
        for bench in benches:
            bench.start()
        begun = time.monotonic()
        while time.monotonic() - begun < 1.0:
            for bench in benches:
                bench.paint()
                bench.pump.knock()
            await asyncio.sleep(0.002)
        spent = time.monotonic() - begun
        assert benches[0].pump.slowness == 3 * 500.0 / 20.0
        for bench in benches:
            bench.pump.stop()
        # The first second of a page is not shared yet: nobody has drawn before.
        assert 10 <= sum(bench.drawn for bench in benches) <= 20 * spent + 9

    run(walk())


def test_after_a_choice_nothing_is_drawn_until_there_is_news(bench, monkeypatch):
    monkeypatch.setattr(pump_module, "REST", 30.0)
    ready = []

    async def walk():
        bench.start()
        await bench.until(lambda: bench.drawn == 1)
        bench.paint()
        bench.pump.rest(lambda: bool(ready))
        bench.pump.knock()
        await asyncio.sleep(0.05)
        assert bench.drawn == 1
        ready.append(True)
        await bench.until(lambda: bench.drawn == 2)
        bench.pump.stop()

    run(walk())


def test_the_rest_after_a_choice_ends_by_itself(bench, monkeypatch):
    monkeypatch.setattr(pump_module, "REST", 0.03)

    async def walk():
        bench.start()
        await bench.until(lambda: bench.drawn == 1)
        bench.paint()
        bench.pump.rest(lambda: False)
        bench.pump.knock()
        await bench.until(lambda: bench.drawn == 2)
        bench.pump.stop()

    run(walk())
