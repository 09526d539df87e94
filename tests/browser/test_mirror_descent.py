"""Walks through the mirror-descent app: products are found, sliders, baselines, own tables."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Walk

pytestmark = [pytest.mark.browser, pytest.mark.network]

APP = "mirror_descent"
FAST = "data=known-products&degree=2&penalty=0.1&tol=0.05&speed=1000"


@pytest.fixture
def told(walk):
    """What the browser's console says; nothing may."""
    found: list[str] = []
    walk.page.on(
        "console", lambda m: found.append(m.text) if m.type in ("error", "warning") else None
    )
    yield found
    assert found == []


def card(walk: Walk, title: str):
    """The picture with this title, in words."""
    head = walk.page.get_by_role("heading", name=title, exact=True)
    return walk.page.locator("header", has=head).locator("p.words")


def test_the_true_products_are_found_and_growth_is_a_slider(walk, told):
    walk.open("penalty=0.1&tol=0.02&speed=1000", APP)
    assert walk.wait_run(1).startswith("Certified: within ")
    expect(walk.status).to_contain_text("(bound exact)")
    expect(walk.status).to_contain_text("most of all x2 · x5.")
    expect(walk.tile("True products on top")).to_have_text("2 of 2")
    expect(walk.tile("Words |I|")).to_have_text("585")
    expect(walk.page.get_by_text("Train accuracy")).to_have_count(0)
    expect(card(walk, "Learnt products")).to_contain_text("2 of 2 true products")
    expect(card(walk, "Pairs of features")).to_contain_text("x2")
    first = walk.tile("Upper bound").inner_text()
    slider = walk.page.get_by_role("slider", name="Growth")
    slider.focus()
    walk.page.keyboard.press("Home")
    expect(walk.page.get_by_text("Growth 1: long products cost no more")).to_be_visible()
    expect(walk.page).to_have_url(re.compile("growth=1&"))
    expect(walk.tile("Upper bound")).not_to_have_text(first)
    expect(walk.page.get_by_text("Grey: the run before").first).to_be_visible(timeout=60_000)


def test_the_draw_of_any_iteration_can_be_looked_at_again(walk, told):
    walk.open(FAST, APP)
    walk.wait_run(1)
    walk.press("Step back")
    expect(walk.status).to_contain_text("Looking back at iteration")
    words = card(walk, "How the product was drawn")
    expect(words).to_contain_text("the draw fell on degree")
    at = walk.status.get_attribute("data-iteration")
    expect(words).to_contain_text(f"At iteration {at} ")
    expect(card(walk, "First feature of the next product")).to_contain_text(f"At iteration {at}")


def test_other_methods_appear_and_go_with_the_choices(walk, told):
    walk.open(FAST, APP)
    walk.wait_run(1)
    words = card(walk, "Test error by method")
    expect(words).to_contain_text("Kernel ridge, degree 2: ")
    expect(words).to_contain_text("Uniform sampling: ")
    expect(words).not_to_contain_text("Still being computed")
    walk.page.get_by_role("slider", name="D, most factors in a product").focus()
    walk.page.keyboard.press("ArrowLeft")
    walk.wait_run(2)
    expect(words).to_contain_text("Kernel ridge, degree 1: ")
    expect(words).not_to_contain_text("degree 2")
    expect(walk.page.get_by_role("heading", name="Pairs of features")).to_have_count(0)


def test_above_four_thirds_the_page_promises_no_convergence(walk, told):
    walk.open("degree=4&p=2&max_iter=20&speed=1000", APP)
    walk.wait_run(1)
    said = walk.page.get_by_text("convergence is not to be expected")
    expect(said.first).to_be_visible()
    # In the controls, on the board and in the log.
    expect(said).to_have_count(3)
    slider = walk.page.get_by_role("slider", name="p, from few products")
    slider.focus()
    walk.page.keyboard.press("Home")
    walk.wait_run(2)
    expect(walk.page).to_have_url(re.compile("p=1&"))
    expect(said).to_have_count(1)  # the log remembers


def test_a_link_restores_every_choice_and_the_run(walk, other, told):
    walk.open(FAST + "&p=1&growth=2&seed=3&o.step=2&o.sampling=uniform&max_iter=40", APP)
    walk.wait_run(1)
    value = walk.tile("Upper bound").inner_text()
    expect(walk.page).to_have_url(re.compile("growth=2&.*seed=3&.*o.step=2&"))
    other.page.goto(walk.page.url)
    other.wait_run(1)
    expect(other.tile("Upper bound")).to_have_text(value)
    expect(other.page.get_by_text("Step: 2 × the rule's")).to_be_visible()


def test_a_run_can_be_had_again_and_its_pictures_kept(walk, told, tmp_path):
    walk.open(FAST, APP)
    walk.wait_run(1)
    walk.page.get_by_text("Reproduce this run").click()
    line = walk.page.get_by_label("Command", exact=True)
    expect(line).to_have_text(re.compile(r"^mkldash solve known-products --problem products"))
    expect(walk.page.get_by_label("Python", exact=True)).to_contain_text("degree=2,")
    expect(walk.page.get_by_label("Python", exact=True)).to_contain_text("# Made with mkldash ")
    walk.press("Save the picture: Relative gap")
    picture = walk.save("PNG", tmp_path)
    assert re.fullmatch(r"mkldash-known-products-mirror-descent-\d+-gap.png", picture.name)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_table_of_ones_own_with_a_number_to_predict(walk, told, tmp_path):
    rows = np.random.default_rng(0).standard_normal((90, 3))
    lines = [f"{a:.5f},{b:.5f},{c:.5f},{a * b + 0.1 * c:.5f}" for a, b, c in rows]
    table = tmp_path / "homes.csv"
    table.write_text("size,age,noise,price\n" + "\n".join(lines), encoding="utf-8")
    walk.open(FAST, APP)
    walk.wait_run(1)
    walk.upload(table)
    walk.wait_run(2)
    expect(walk.status).to_contain_text("most of all size · age")
    expect(walk.page.get_by_text("Class that counts as +1")).to_have_count(0)
    expect(walk.page.get_by_text("True products on top")).to_have_count(0)
    words = tmp_path / "words.csv"
    words.write_text("a,kind\n" + "\n".join(f"{i},{'xy'[i % 2]}" for i in range(30)))
    walk.upload(words)
    expect(walk.status).to_have_attribute("data-state", "failed")
    expect(walk.page.get_by_role("alert").first).to_contain_text("number")


def test_phone_width_nothing_sticks_out(browser, server):
    walk = Walk(
        browser, server, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True,
        user_agent="Mozilla/5.0 (Linux; Android 14) Mobile",
    )  # fmt: skip
    walk.open(FAST, APP)
    walk.wait_run(1)
    expect(walk.status).to_be_in_viewport()
    expect(card(walk, "Noise of the gradient estimate")).to_contain_text("second moment")
    assert walk.page.evaluate("document.documentElement.scrollWidth") <= 390
    walk.close()
