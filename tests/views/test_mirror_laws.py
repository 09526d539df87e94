"""The laws of the draw: what was likely, and what was drawn."""

import numpy as np
import pytest
from bokeh.models import Text

from mkldash.views._names import cut_apart, percent, product, word_name
from mkldash.views._sheet import MOST_FEATURES, round_up
from mkldash.views.base import Scene
from mkldash.views.degree_law import DegreeLawView
from mkldash.views.drawn_path import DrawnPathView
from mkldash.views.first_law import MOST, FirstLawView
from mkldash.views.pair_law import PairLawView
from tests.views._mirror import FEATURES, mirror

SCENE = Scene(features=FEATURES)
LAWS = (DegreeLawView, FirstLawView, PairLawView, DrawnPathView)


def drawn(view, snapshot, scene=SCENE):
    """The numbers, drawn, and the view that holds them."""
    held, info = view(), view.prepare([snapshot], 0, scene)
    held.update(info)
    return held, info


def test_products_are_named_as_the_family_names_them():
    assert product((), FEATURES) == "offset"
    assert product((0, 1), FEATURES) == "bmi · bp"
    assert product((2, 2, 3), FEATURES) == "age² · sex"
    assert product((2, 3, 2), FEATURES) == "age · sex · age"
    assert product((1, 5), FEATURES) == "bp · x6"
    assert product("gaussian 1", FEATURES) == "gaussian 1"


def test_names_of_features_that_look_alike_when_cut_are_told_apart():
    names = ("cement component 1", "cement component 2", "age")
    assert cut_apart(names, 12) == ["cement…ent 1", "cement…ent 2", "age"]
    assert len(word_name((0, 1, 0, 1, 0, 1), names)) <= 48


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.614, "61 %"), (0.0342, "3.4 %"), (0.0002, "<0.1 %"), (0.0, "0 %"), (np.nan, "?"),
     (0.0998, "10 %")],
)  # fmt: skip
def test_shares_are_written_short(share, text):
    assert percent(share) == text


def test_the_degree_that_was_drawn_stands_out():
    law = np.array([0.1, 0.2, 0.6, 0.1])
    view, info = drawn(DegreeLawView, mirror(3, (0, 1), degree_law=law, total=12.5))
    assert info.drawn == 2
    assert info.name == "bmi · bp"
    colours = list(view._bars.data["colour"])
    assert len(set(colours)) == 2
    assert colours.count(colours[2]) == 1
    assert ("", "", "C = 12.5") in view.marks(info)
    assert "2: 60 %" in view.describe(info)


def test_uniform_sampling_needs_no_total():
    _, info = drawn(DegreeLawView, mirror(3, (0, 1)))
    assert not any("C =" in meaning for *_, meaning in DegreeLawView.marks(info))


@pytest.mark.parametrize("view", LAWS)
def test_the_start_has_no_law_and_says_so(view):
    held, info = drawn(view, mirror(0))
    words = view.describe(info)
    assert "drawn" in words or "not known" in words
    assert len(view.marks(info)) == 1
    held.update(view.prepare([mirror(4, (2,))], 0, SCENE))
    held.update(view.prepare([], 0, SCENE))


@pytest.mark.parametrize("view", LAWS)
def test_a_full_gradient_draws_nothing(view):
    law = {"first_law": np.full(4, 0.25), "pair_law": np.full((4, 4), 1 / 16)}
    _, info = drawn(view, mirror(5, None, **law))
    assert "Drawn:" not in view.describe(info)


def test_all_features_keep_their_order_when_they_are_few():
    law = np.array([0.1, 0.5, 0.15, 0.25])
    view, info = drawn(FirstLawView, mirror(2, (1, 3, 1), first_law=law))
    assert info.names == FEATURES
    assert np.array_equal(info.shares, law)
    assert list(info.hit) == [False, True, False, True]
    assert info.others == 0
    assert "begins with bp (50 %), sex (25 %), age (15 %). Drawn: bp · sex · bp." in view.describe(
        info
    )


def test_of_two_hundred_features_the_likeliest_and_the_drawn_are_shown():
    law = np.arange(200.0, 0.0, -1.0)
    law /= law.sum()
    view, info = drawn(FirstLawView, mirror(2, (150, 3, 199), r=200, first_law=law), Scene())
    assert len(info.names) == MOST - 1
    assert {"x151", "x4", "x200"} <= set(info.names)
    assert np.all(np.diff(info.shares) <= 0)
    assert info.hit.sum() == 3
    assert info.others == 200 - len(info.names)
    assert info.shares.sum() + info.rest == pytest.approx(1.0)
    assert view.figure().yaxis[0].major_label_overrides[MOST - 1] == f"{info.others} others"
    assert list(view._rest.data["text"]) == [f"{percent(info.rest)} together"]


def test_a_word_longer_than_the_list_is_still_shown():
    word = tuple(range(100, 120))
    law = np.arange(200.0, 0.0, -1.0) / 20100.0
    _, info = drawn(FirstLawView, mirror(2, word, r=200, D=30, first_law=law))
    assert len(info.names) <= MOST
    assert info.hit.all()


def pairs(r):
    law = np.arange(float(r * r)).reshape(r, r)
    law += law.T
    return law / law.sum()


def test_a_pair_is_outlined_at_first_by_second():
    view, info = drawn(PairLawView, mirror(2, (3, 1), pair_law=pairs(4)))
    assert info.drawn == (3, 1)
    assert (list(view._whole.data["x"]), list(view._whole.data["y"])) == ([1.0], [3.0])
    assert not len(view._begun.data["x"])
    assert info.shown == pytest.approx(1.0)
    assert "sex · sex" in view.describe(info)


def test_of_a_longer_product_the_first_two_factors_are_outlined_in_dashes():
    view, info = drawn(PairLawView, mirror(2, (0, 2, 1), pair_law=pairs(4)))
    assert not len(view._whole.data["x"])
    assert (list(view._begun.data["x"]), list(view._begun.data["y"])) == ([2.0], [0.0])
    assert "its first two factors are outlined in dashes" in view.describe(info)
    assert any("first two of" in meaning for *_, meaning in view.marks(info))


@pytest.mark.parametrize("word", [(), (2,)])
def test_no_pair_no_outline(word):
    view, info = drawn(PairLawView, mirror(2, word, pair_law=pairs(4)))
    assert not len(view._whole.data["x"])
    assert not len(view._begun.data["x"])
    assert "no pair" in view.describe(info)


def test_of_two_hundred_features_fifty_are_on_the_map_the_drawn_among_them():
    view, info = drawn(PairLawView, mirror(2, (0, 1), r=200, pair_law=pairs(200)), Scene())
    assert info.law.shape == (MOST_FEATURES, MOST_FEATURES)
    assert [info.features[i] for i in info.drawn] == ["x1", "x2"]
    assert info.features[2:] == tuple(f"x{i}" for i in range(153, 201))
    assert 0 < info.shown < 1
    assert any(meaning.startswith("50 of 200 features") for *_, meaning in view.marks(info))


def test_the_colour_scale_moves_in_steps():
    found = [round_up(x) for x in (0.22, 0.25, 0.26, 70.0, 0.0, np.nan)]
    assert found == pytest.approx([0.25, 0.25, 0.3, 80.0, 1.0, 1.0])


def test_the_chances_of_the_path_multiply_to_the_chance_of_the_word():
    laws = np.array([[0.5, 0.2, 0.2, 0.1], [0.25, 0.25, 0.4, 0.1]])
    degrees = np.array([0.1, 0.2, 0.6, 0.1])
    snapshot = mirror(2, (1, 2), degree_law=degrees, position_laws=laws, orderings=2)
    view, info = drawn(DrawnPathView, snapshot)
    assert list(info.chances) == [0.6, 0.2, 0.4]
    assert info.choices == ("degree 2", "bp", "age")
    assert info.probability == pytest.approx(0.048)
    assert info.degree == 3
    assert len(view._bars.data["p"]) == 4 + 4 + 4
    assert list(view._texts.data["text"]) == ["2: 60 %", "bp: 20 %", "age: 40 %"]
    assert "the product is whole" in view._quiet.data["text"]
    assert ("", "", "0.6 × 0.2 × 0.4 = 0.048") in view.marks(info)
    assert "degree 2 (60 %), then bp (20 %), then age (40 %): bp · age." in view.describe(info)
    assert "2 orderings" not in view.describe(info)
    assert "2 orders mean the same kernel, bp · age" in view.describe(info)


def test_each_choice_fans_out_to_the_next_row():
    view, _ = drawn(DrawnPathView, mirror(2, (1, 2)))
    assert len(view._fans.data["x"]) == 2
    low, high, right, left = view._fans.data["x"][1]
    assert 0.25 < low < high < 0.5
    assert (left, right) == (0.0, 1.0)


def test_the_offset_is_one_decision():
    view, info = drawn(DrawnPathView, mirror(2, ()))
    assert list(info.chances) == [0.25]
    assert info.name == "offset"
    assert "the offset: nothing more to draw" in view._quiet.data["text"]
    assert ("", "", "with probability 0.25") in view.marks(info)


def test_one_feature_and_degree_zero():
    _, info = drawn(DrawnPathView, mirror(2, (0,), r=1, D=1))
    assert list(info.chances) == [0.5, 1.0]
    for view in LAWS:
        law = {"first_law": np.array([1.0]), "pair_law": np.array([[1.0]])}
        drawn(view, mirror(2, (), r=1, D=0, **law))
        drawn(view, mirror(2, (0, 0), r=1, D=2, **law))


def test_eight_decisions_of_two_hundred_features_get_lower_rows():
    view, info = drawn(DrawnPathView, mirror(2, tuple(range(0, 200, 25)), r=200, D=8))
    assert len(info.rows) == 9
    assert view.figure().height == 110 + 9 * 56
    assert any(meaning.startswith("9 chances multiplied = ") for *_, meaning in view.marks(info))
    view.update(DrawnPathView.prepare([mirror(2, (1,), r=200, D=1)], 0, SCENE))
    assert view.figure().height == 110 + 2 * 78


@pytest.mark.parametrize("view", [DegreeLawView, FirstLawView])
def test_no_words_have_a_column_of_colours(view):
    """Bokeh reads past the end of one while a source shrinks, as at the start of a run."""
    words = [r.glyph for r in view().figure().renderers if isinstance(r.glyph, Text)]
    assert words
    assert all(isinstance(word.text_color, str) for word in words)
    law = np.array([0.1, 0.2, 0.6, 0.1])
    shown, _ = drawn(view, mirror(3, (0, 1), degree_law=law, first_law=law))
    data = shown._bars.data
    assert sorted(set(zip(data["quiet"], data["loud"], strict=True))) == [(0.0, 1.0), (1.0, 0.0)]
