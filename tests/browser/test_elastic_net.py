"""Walks through the elastic-net app: what a person does, and what they must see."""

import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Walk

pytestmark = [pytest.mark.browser, pytest.mark.network]

T8 = Path(__file__).parents[1] / "files" / "t8_plain.csv"
GOLDEN = "data=golden&bank=golden&train_fraction=1&tol=0.0000001&speed=1000"
SLOW = "data=two-moons&tol=0.0000000001&speed=5&max_iter=5000"


def test_stream_pause_step_back_scrub(walk):
    walk.open(SLOW)
    walk.wait_state("running")
    expect(walk.status).to_have_attribute("data-iteration", re.compile(r"[2-9]|\d\d"))
    walk.press("Pause")
    walk.wait_state("paused")
    n = int(walk.status.get_attribute("data-iteration"))
    walk.press("Step")
    expect(walk.status).to_have_attribute("data-iteration", str(n + 1))
    walk.press("Step back")
    expect(walk.status).to_have_attribute("data-iteration", str(n))
    expect(walk.status).to_contain_text(f"Looking back at iteration {n} of {n + 1}")
    walk.page.get_by_role("slider", name="iteration").fill("1")
    expect(walk.status).to_have_attribute("data-iteration", "1")
    expect(walk.tile("Iteration")).to_have_text("1")


def test_keys_space_arrows_r(walk):
    walk.open(SLOW)
    walk.wait_state("running")
    expect(walk.status).to_have_attribute("data-iteration", re.compile(r"[2-9]|\d\d"))
    walk.page.keyboard.press(" ")
    walk.wait_state("paused")
    n = int(walk.status.get_attribute("data-iteration"))
    walk.page.keyboard.press("ArrowRight")
    expect(walk.status).to_have_attribute("data-iteration", str(n + 1))
    walk.page.keyboard.press("ArrowLeft")
    expect(walk.status).to_have_attribute("data-iteration", str(n))
    walk.page.keyboard.press("r")
    expect(walk.status).to_have_attribute("data-run", "2")


def test_a_slider_starts_a_new_run_and_the_url_restores_it(walk, other):
    walk.open(GOLDEN)
    walk.wait_run(1)
    expect(walk.tile("Upper bound")).to_have_text("305.685")
    slider = walk.page.get_by_role("slider", name="smooth")
    slider.focus()
    walk.page.keyboard.press("Home")
    expect(walk.tile("Upper bound")).to_have_text("268.942")
    expect(walk.page).to_have_url(re.compile(r"eta=0&"))
    expect(walk.page.get_by_text("Grey: the run before")).to_be_visible()
    other.page.goto(walk.page.url)
    other.wait_run(1)
    expect(other.tile("Upper bound")).to_have_text("268.942")


def test_u01_a_flood_settles_on_the_last_value(walk):
    walk.open(GOLDEN)
    walk.wait_run(1)
    field = walk.page.get_by_label("C, typed exactly")
    for cost in range(1, 51):
        field.fill(str(cost))
        field.press("Enter")
    field.fill("100")
    field.press("Enter")
    expect(walk.page).to_have_url(re.compile("C=100&"))
    walk.wait_state("finished")
    expect(walk.tile("Upper bound")).to_have_text("305.685")


def test_u09_stop_within_a_second_and_another_page_opens(walk, other):
    walk.open(SLOW)
    walk.wait_state("running")
    other.open(GOLDEN)
    other.wait_run(1)
    walk.press("Stop")
    text = walk.wait_state("finished")
    assert text.startswith("Stopped by you: within ")
    expect(walk.status).to_have_attribute("data-status", "stopped")


def test_u05_two_people_do_not_meet(walk, other, tmp_path):
    walk.open("train_fraction=1&bank=linear&C=100&tol=0.0000001&speed=1000")
    other.open(GOLDEN + "&C=1")
    other.wait_run(1)
    walk.wait_state("finished")
    walk.upload(T8)
    expect(walk.tile("Upper bound")).to_have_text("117.229")
    for eta in ("0.25", "0.5"):
        for tab in (walk, other):
            slider = tab.page.get_by_role("slider", name="smooth")
            slider.fill(eta)
    expect(walk.tile("Upper bound")).to_have_text("117.229")
    expect(other.tile("Upper bound")).to_have_text("19.125")
    other.page.get_by_role("combobox").first.click()
    expect(other.page.get_by_role("menuitem", name="Two moons")).to_be_visible()
    assert other.page.get_by_role("menuitem", name="t8_plain.csv").count() == 0
    other.page.keyboard.press("Escape")


def test_two_uploads_of_the_same_name_give_different_results(walk, other, tmp_path):
    for tab in (walk, other):
        tab.open("train_fraction=1&bank=linear&C=100&tol=0.0000001&speed=1000")
        tab.wait_run(1)
    walk.upload(T8)
    second = tmp_path / T8.name
    lines = T8.read_text().splitlines()
    second.write_text("\n".join(lines[:-1]) + "\n")
    other.upload(second)
    expect(walk.tile("Upper bound")).to_have_text("117.229")
    other.wait_run(2)
    assert other.tile("Upper bound").inner_text() != "117.229"


def test_u07_too_large_then_png_then_a_good_table(walk, tmp_path):
    walk.open("train_fraction=1&bank=linear&C=100&tol=0.0000001&speed=1000")
    walk.wait_run(1)
    big = tmp_path / "big.csv"
    rng = np.random.default_rng(0)
    rows = [",".join(f"{v:.9f}" for v in row) for row in rng.standard_normal((40_000, 60))]
    big.write_text("\n".join(rows))
    assert big.stat().st_size > 20_000_000
    walk.upload(big)
    note = walk.page.locator(".upload .note")
    expect(note).to_contain_text("the limit is 10 MB")
    image = tmp_path / "image.csv"
    image.write_bytes(_png())
    walk.upload(image)
    expect(note).to_contain_text("not a text table")
    walk.upload(T8)
    expect(walk.tile("Upper bound")).to_have_text("117.229")


def _png():
    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    pixels = zlib.compress(np.random.default_rng(0).bytes(16 * (1 + 3 * 16)))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def test_a_table_with_one_class_is_said_and_the_page_lives_on(walk, tmp_path):
    walk.open("train_fraction=1&bank=linear&tol=0.0001&speed=1000")
    walk.wait_run(1)
    walk.upload(Path(__file__).parents[1] / "files" / "single_class.csv")
    expect(walk.page.locator("section.board .alert")).to_contain_text("'yes'")
    walk.upload(T8)
    walk.wait_state("finished")
    expect(walk.page.locator("section.board .alert")).to_be_hidden()


def test_a_bad_link_is_said_and_runs_on_defaults(walk):
    walk.open("eta=7&data=mine.csv&speed=1000")
    walk.wait_run(1)
    for place in (walk.page.get_by_role("note"), walk.page.get_by_role("list")):
        expect(place.get_by_text("must lie between 0 and 1")).to_be_visible()
        expect(place.get_by_text("only its owner has")).to_be_visible()


def test_every_picture_explains_itself(walk):
    walk.open("data=two-moons&speed=1000")
    walk.wait_run(1)
    buttons = walk.page.get_by_role("button", name=re.compile("^What am I looking at"))
    assert buttons.count() == 7
    first = buttons.first
    first.click()
    expect(first).to_have_attribute("aria-expanded", "true")
    expect(walk.page.locator(".katex").first).to_be_visible()
    words = walk.page.locator("p.words", has_text="are support vectors")
    expect(words.first).to_be_attached()


def test_dark_and_light(walk):
    walk.open("data=golden&theme=dark&speed=1000")
    walk.wait_run(1)
    board = walk.page.locator("section.board")
    pale = re.compile(r"rgba?\((2\d\d), (2\d\d), (2\d\d)")
    deep = re.compile(r"rgba?\((\d{1,2}), (\d{1,2}), (\d{1,2})[,)]")
    expect(board).to_have_css("color", pale)
    walk.page.get_by_role("button", name="Toggle theme").click()
    expect(walk.page.locator(".mui-light").first).to_be_attached()
    expect(board).to_have_css("color", deep)


def test_phone_width_shows_the_run_and_nothing_sticks_out(browser, server):
    walk = Walk(
        browser, server, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True,
        user_agent="Mozilla/5.0 (Linux; Android 14) Mobile",
    )  # fmt: skip
    walk.open("data=two-moons&speed=1000")
    walk.wait_run(1)
    expect(walk.status).to_be_in_viewport()
    width = walk.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    walk.close()


def test_after_a_restart_of_the_server_the_page_and_its_run_come_back(browser):
    server = Server()
    walk = Walk(browser, server)
    walk.open(SLOW + "&eta=0.25")
    walk.wait_state("running")
    # Bokeh asks for fonts as it draws, and one that no server answers for is an error of
    # the page: have all of them first (some that are declared are never served).
    walk.page.evaluate("() => Promise.allSettled([...document.fonts].map((font) => font.load()))")
    server.stop()
    expect(walk.page.get_by_text("Connection to the server lost; trying again")).to_be_visible()
    again = Server(server.port)
    expect(walk.page.get_by_text("Connection to the server lost")).to_have_count(0)
    walk.wait_state("running")
    expect(walk.page).to_have_url(re.compile("eta=0.25&"))
    walk.close()
    _, printed = again.stop()
    assert "Traceback" not in printed


def test_back_leaves_the_page_however_often_a_choice_changed(walk):
    walk.open(app="")
    walk.page.goto(f"{walk.server.url}/elastic_net?{GOLDEN}&theme=dark")
    walk.wait_run(1)
    field = walk.page.get_by_label("C, typed exactly")
    for run, cost in ((2, "10"), (3, "20")):
        field.fill(cost)
        field.press("Enter")
        walk.wait_run(run)
    expect(walk.page).to_have_url(re.compile("C=20&.*theme=dark"))
    walk.page.go_back()
    expect(
        walk.page.get_by_role("heading", name="Watch multiple kernel learning think")
    ).to_be_visible()


def test_a_narrow_window_opens_with_the_controls_folded_away(browser, server):
    walk = Walk(browser, server, viewport={"width": 560, "height": 800})
    walk.open(GOLDEN)
    walk.wait_run(1)
    walk.press("Replay")  # cannot be clicked while a drawer lies over it
    walk.wait_run(1)
    walk.close()


def test_a_link_to_this_page_needs_nothing_from_outside(walk):
    """The landing page, its lessons and the symbols; the walk fails on any request."""
    walk.open(app="")
    expect(
        walk.page.get_by_role("heading", name="Watch multiple kernel learning think")
    ).to_be_visible()
    lesson = walk.page.get_by_role("link", name="Three kernels by hand")
    lesson.click()
    walk.wait_state("finished")
    expect(walk.tile("Upper bound")).to_have_text("117.229")


def test_a_closed_tab_holds_its_run_and_a_reload_starts_clean(walk, browser, server):
    """Whether the worker rests is asked of the player in tests/apps; here: nothing breaks."""
    walk.open(SLOW)
    walk.wait_state("running")
    walk.page.reload()
    walk.wait_state("running")


def test_sigterm_ends_the_server_in_the_middle_of_a_run(browser):
    server = Server()
    walk = Walk(browser, server)
    walk.open(SLOW)
    walk.wait_state("running")
    seconds, printed = server.stop()
    assert seconds < 10
    assert server.process.returncode == 0
    assert "Traceback" not in printed, printed
    walk.context.close()


def test_a_formula_shows_its_root_sign(walk):
    walk.open("data=two-moons&train_fraction=0.3&speed=1000")
    walk.wait_run(1)
    walk.page.get_by_role(
        "button", name="What am I looking at? Inside the weight step (Algorithm 2)"
    ).click()
    root = walk.page.locator("math").get_by_text("√", exact=True)
    expect(root).to_be_visible()
    box = root.bounding_box()
    assert box is not None
    assert box["width"] > 3
    assert box["height"] > 3


def test_a_branch_and_all_that_is_saved_of_it(walk, tmp_path):
    walk.open(GOLDEN)
    walk.wait_run(1)
    walk.page.get_by_role("slider", name="iteration").fill("4")
    expect(walk.status).to_have_attribute("data-iteration", "4")
    walk.page.keyboard.press("b")
    assert walk.wait_run(2, "paused").startswith("Paused at iteration 4: ")
    more = walk.page.locator(".board .more")
    expect(more).to_contain_text("Branched at iteration 4 of the grey run (golden, ")
    slider = walk.page.get_by_role("slider", name="smooth")
    slider.focus()
    walk.page.keyboard.press("Home")
    walk.wait_run(3)
    expect(walk.tile("Upper bound")).to_have_text("268.942")
    expect(more).to_contain_text("a warm start from its weights and α there")
    script = walk.save("Save: Python script", tmp_path)
    said = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout
    assert said.count(": as on the page") == 2
    table = walk.save("Save: Numbers (CSV)", tmp_path).read_text(encoding="utf-8")
    assert {line.split(",")[0] for line in table.splitlines()} > {
        "run", "shown run", "run branched from",
    }  # fmt: skip
    sheet = walk.save("Save: Pictures (SVG)", tmp_path)
    words = [t.text for t in ElementTree.parse(sheet).iter("{http://www.w3.org/2000/svg}text")]
    assert "mkldash · Elastic-net MKL" in words
    assert {"Relative gap", "lower bound", "previous run"} <= set(words)
    assert any("η = 0, C = 100, seed 0" in (word or "") for word in words)
    walk.press("Save the picture: Upper and lower bound")
    picture = walk.save("SVG", tmp_path)
    assert "Upper and lower bound" in picture.read_text(encoding="utf-8")
    assert walk.save("Save: Pictures (PNG)", tmp_path).read_bytes().startswith(b"\x89PNG")
