"""Walks through the neighborhood app: one kernel, rho, other solvers, three points."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Walk

pytestmark = [pytest.mark.browser, pytest.mark.network]

APP = "neighborhood_kernel"
FAST = "data=two-moons&train_fraction=0.3&speed=1000"


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


def test_a_run_is_certified_and_rho_changes_it(walk, told):
    walk.open("data=two-moons&tol=0.000001&speed=1000", APP)
    assert walk.wait_run(1).startswith("Certified: within ")
    expect(walk.status).to_contain_text("of 120 training rows are support vectors")
    expect(walk.page.get_by_text("Kernels with weight")).to_have_count(0)
    expect(walk.page.get_by_text("kernels carry weight")).to_have_count(0)
    first = walk.tile("Upper bound").inner_text()
    shift = walk.tile("Shift c").inner_text()
    slider = walk.page.get_by_role("slider", name="price of leaving the kernel")
    slider.focus()
    walk.page.keyboard.press("Home")
    expect(walk.page.get_by_text("ρ, price of leaving the kernel: 0.01")).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", "0.01")
    expect(walk.page).to_have_url(re.compile("rho=0.01&"))
    expect(walk.tile("Upper bound")).not_to_have_text(first)
    expect(walk.tile("Shift c")).not_to_have_text(shift)
    assert walk.wait_state("finished").startswith("Certified: within ")
    field = walk.page.get_by_label("ρ, typed exactly")
    field.fill("inf")
    field.press("Enter")
    expect(walk.page).to_have_url(re.compile("rho=inf&"))
    expect(walk.tile("Shift c")).to_have_text("0")
    expect(walk.page.get_by_text("ρ = ∞: the plain support vector machine")).to_be_visible()
    inf = walk.page.get_by_role("slider", name="plain support vector machine")
    expect(inf).to_have_attribute("aria-valuetext", "infinite")
    expect(walk.page.get_by_text("Grey: the run before").first).to_be_visible()


def test_what_rho_does_appears_and_its_marker_moves(walk, told):
    walk.open(FAST + "&rho=100&compare=none", APP)
    walk.wait_run(1)
    words = card(walk, "Accuracy by ρ")
    expect(words).to_contain_text("13 of 13 values of ρ are solved")
    field = walk.page.get_by_label("ρ, typed exactly")
    field.fill("0.5")
    field.press("Enter")
    walk.wait_run(2)
    expect(words).to_contain_text("14 of 14 values of ρ are solved")


def test_other_solvers_run_beside_it_and_can_be_left_out(walk, told):
    walk.open(FAST, APP)
    walk.wait_run(1)
    said = walk.page.get_by_text("Beside it, Block-coordinate descent: certified, gap")
    expect(said.first).to_be_visible()
    race = walk.page.get_by_role("heading", name="Solvers by time")
    expect(race).to_be_visible()
    boxes = walk.page.get_by_role("checkbox", checked=True)
    for _ in range(boxes.count()):
        boxes.first.uncheck()
    expect(race).to_have_count(0)
    expect(walk.page).to_have_url(re.compile("compare="))
    expect(walk.status).to_have_attribute("data-run", "1")


def test_several_kernels_move_the_solver_and_the_log_says_so(walk, told):
    walk.open(FAST + "&tol=0.001", APP)
    walk.wait_run(1)
    expect(walk.page.get_by_role("slider", name="smooth")).to_have_count(0)
    walk.page.get_by_role("combobox").nth(1).click()
    walk.page.get_by_role("menuitem", name="golden: four on all features").click()
    walk.wait_run(2)
    expect(walk.status).to_contain_text("of 4 kernels carry weight")
    expect(
        walk.page.get_by_text("Shifted SVM does not take several kernels: Block-coordinate")
    ).to_be_visible()
    expect(walk.page.get_by_role("slider", name="smooth")).to_be_visible()
    expect(walk.page.get_by_role("slider", name="mean squared distance")).to_have_count(0)
    expect(walk.page).to_have_url(re.compile("bank=golden&.*solver=block-coordinate"))


@pytest.mark.parametrize("solver", ["shifted-svm", "level", "gradient"])
def test_three_points_lie_in_a_triangle(walk, told, solver):
    walk.open(
        f"data=three-points&train_fraction=1&rho=1&C=2&sigma_factor=1&solver={solver}"
        "&compare=none&speed=1000",
        APP,
    )
    assert walk.wait_run(1).endswith("3 of 3 training rows are support vectors.")
    expect(walk.tile("Upper bound")).to_have_text(re.compile(r"1\.3806[67]"))
    expect(walk.page.get_by_role("heading", name="The dual in the plane")).to_be_visible()
    expect(walk.page.get_by_text("Level gap", exact=True)).to_have_count(int(solver == "level"))


def test_the_level_of_the_level_method_is_a_slider_of_the_problem(walk, told):
    walk.open("data=three-points&train_fraction=1&solver=level&compare=none&speed=1000", APP)
    walk.wait_run(1)
    tau = walk.page.get_by_role("slider", name="tau")
    tau.focus()
    walk.page.keyboard.press("ArrowRight")
    walk.wait_run(2)
    expect(walk.page).to_have_url(re.compile(r"o\.tau=0\.5\d"))


def test_a_link_restores_every_choice(walk, other, told):
    walk.open(FAST + "&rho=7&sigma_factor=2&C=3&solver=block-coordinate&compare=shifted-svm", APP)
    walk.wait_run(1)
    value = walk.tile("Upper bound").inner_text()
    expect(walk.page).to_have_url(re.compile("rho=7&sigma_factor=2&compare=shifted-svm"))
    other.page.goto(walk.page.url)
    other.wait_run(1)
    expect(other.tile("Upper bound")).to_have_text(value)
    expect(other.page.get_by_text("σ = 2 × mean squared distance")).to_be_visible()
    expect(other.page.get_by_role("checkbox", name="Shifted SVM")).to_be_checked()


def test_the_numbers_are_named_by_their_parameters(walk, told, tmp_path):
    walk.open(FAST + "&rho=7", APP)
    walk.wait_run(1)
    lines = walk.save("Save: Numbers (CSV)", tmp_path).read_text(encoding="utf-8").splitlines()
    assert lines[1] == (
        "# shown run: two-moons, one Gaussian, ρ = 7, σ factor 4, C = 1, Shifted SVM, seed 0, "
        "share that trains 0.3, tolerance 1e-06, iteration limit 500"
    )


def test_what_is_wrong_with_a_link_is_said_on_the_board_and_can_be_dismissed(walk, told):
    walk.open(FAST + "&compare=foo", APP)
    walk.wait_run(1)
    note = walk.page.get_by_role("note")
    expect(note).to_contain_text("Compare with: there is no 'foo'; using all solvers")
    walk.press("Dismiss this note")
    expect(note).to_have_count(0)


def test_what_is_refused_leaves_no_empty_cards_and_nothing_to_replay(walk, told):
    walk.open("data=adult", APP)
    expect(walk.status).to_have_attribute("data-state", "failed")
    expect(walk.page.get_by_text("Too much: take fewer rows.")).to_be_visible()
    expect(walk.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(walk.page.get_by_role("heading", name="Gap", exact=False)).to_have_count(0)


def test_phone_width_nothing_sticks_out(browser, server):
    walk = Walk(
        browser, server, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True,
        user_agent="Mozilla/5.0 (Linux; Android 14) Mobile",
    )  # fmt: skip
    walk.open(FAST, APP)
    walk.wait_run(1)
    expect(walk.status).to_be_in_viewport()
    assert walk.page.evaluate("document.documentElement.scrollWidth") <= 390
    # The heatmaps lie one below the other.
    walk.page.wait_for_function(
        """() => Bokeh.documents.some((d) => {
            const plots = [...d._all_models.values()]
            return plots.some((m) => m.type === "Figure" && m.name === "kernel-heatmaps"
                && m.outer_width > 0 && m.height === 800)
        })"""
    )
    walk.close()
