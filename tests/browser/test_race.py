"""One walk through the solver race: play, scrub, hide, branch, and the address."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.network]

LINK = (
    "data=two-moons&train_fraction=0.3&tol=0.0001&speed=1000"
    "&a=neighborhood~shifted-svm&b=neighborhood~accelerated&c=neighborhood~level"
)


def cell(row, label):
    return row.locator(f"td[data-label='{label}']")


def test_a_race_from_the_start_to_a_branch_that_a_link_restores(walk, other, tmp_path):
    page = walk.open(LINK, "race").page
    rows = [page.locator(f"tr[data-lane={letter}]") for letter in "abcd"]
    assert walk.wait_state("finished").startswith("Shifted SVM certified 0.01 % after ")
    for row in rows[:3]:
        expect(row).to_have_attribute("data-status", "certified")
    expect(rows[0].locator(".badge")).to_have_text("first")
    expect(cell(rows[0], "Test score")).to_have_text(re.compile(r"\d %"))
    upper = cell(rows[1], "Gap").inner_text()

    # Keys move the one cursor of all lanes.
    page.keyboard.press("ArrowLeft")
    walk.wait_state("paused")
    expect(walk.status).to_contain_text("Looking back at iteration ")
    expect(cell(rows[1], "Gap")).not_to_have_text(upper)
    page.keyboard.press("ArrowRight")
    walk.wait_state("finished")
    page.get_by_role("slider", name="iteration", exact=True).fill("3")
    expect(walk.status).to_contain_text("iteration 3")
    expect(cell(rows[1], "Iterations")).to_have_text("3")

    # Its name hides a lane in every picture, and comes out when it is pointed at.
    page.get_by_role("button", name="Hide lane C, Level method").click()
    expect(page).to_have_url(re.compile("hide=c"))
    curves = "name => [...Bokeh.index.all_views()].map(v => v.model).filter(m => m.name === name &&"
    drawn = f"({curves} m.tags.includes('lane') && m.visible).length)('c')"
    assert page.evaluate(drawn) == 0
    rows[0].hover()
    faint = f"({curves} m.glyph?.line_alpha?.value < .5).length)('b')"
    assert page.evaluate(faint) == 3

    # A branch from here, beside the old one, with another C.
    page.get_by_role("button", name="Branch lane B").click()
    expect(page.get_by_text("at iteration 3.")).to_be_visible()
    editor = page.get_by_label("C, typed exactly").last
    editor.fill("2")
    editor.press("Enter")
    page.get_by_role("button", name="Start this lane").click()
    expect(rows[3]).to_have_attribute("data-status", "certified")
    expect(rows[3]).to_contain_text("Accelerated gradient, C 2")
    expect(rows[3]).to_contain_text("warm start from B at 3")
    expect(page).to_have_url(re.compile("d=neighborhood~accelerated~C:2~from:b3"))
    remove = rows[1].get_by_role("button", name="Remove lane B")
    expect(remove).to_have_attribute("title", "Remove this lane and what branched off it: D")

    # What is saved says which race it was.
    sheet = walk.save("Save: Pictures (SVG)", tmp_path).read_text(encoding="utf-8")
    for words in ("D branched from B at iteration 3.", "two-moons, seed 0", "Gap by seconds"):
        assert words in sheet
    assert "Accelerated gradient, C 2" in sheet
    walk.press("Save the picture: Gap by inner solves")
    assert walk.save("PNG", tmp_path).name == "mkldash-race-two-moons-solves.png"
    script = walk.save("Save: Python script", tmp_path).read_text(encoding="utf-8")
    assert "start: warm, at the point of iteration 3 of run_2" in script

    # The address is the whole race, in step by seconds as well.
    page.get_by_role("button", name="Seconds", exact=True).click()
    expect(page).to_have_url(re.compile("axis=seconds"))
    walk.wait_state("finished")
    # The keys are the player's although the buttons of the axis were clicked.
    page.keyboard.press("ArrowLeft")
    walk.wait_state("paused")
    page.keyboard.press("ArrowRight")
    walk.wait_state("finished")
    expect(page).to_have_url(re.compile("axis=seconds"))
    other.page.goto(page.url)
    other.wait_state("finished")
    again = other.page.locator("tr[data-lane=d]")
    expect(again).to_have_attribute("data-status", "certified")
    expect(cell(again, "Gap")).to_have_text(cell(rows[3], "Gap").inner_text())
    expect(cell(again, "Iterations")).to_have_text(cell(rows[3], "Iterations").inner_text())
    expect(other.page.locator("tr[data-lane=c]")).to_have_class(re.compile("off"))
