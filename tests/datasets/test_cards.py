"""Contract of every shipped data set, and the checks of cards and tables."""

import functools
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from mkldash.datasets import cards, listing
from mkldash.datasets.cards import available, find_card, load
from mkldash.errors import InputError
from mkldash.kernels.banks import make_terms

NAMES = tuple(available())
shipped = functools.cache(load)
PROMISED = """
abalone adult adult-a1a adult-a2a-like adult-a4a-like airfoil auto-mpg breast ccpp circles concrete
cpu-act cpu-performance cpu-small diabetes energy-cooling energy-heating german golden heart
heart-cleveland hill-valley hill-valley-645 ionosphere known-products liver liver-selector
parkinsons pima sonar spambase splice t8 three-points toy-few-features toy-many-features
two-moons wdbc wine-red wine-white wpbc xor yacht
""".split()
# Rows, features, negatives, positives as UCI and the source packages state them.
CLASS_COUNTS = {
    "adult": (32561, 123, 24720, 7841),
    "adult-a1a": (1605, 123, 1210, 395),
    "adult-a2a-like": (2265, 123, 1693, 572),
    "adult-a4a-like": (4781, 123, 3593, 1188),
    "breast": (683, 9, 444, 239),
    "german": (1000, 24, 700, 300),
    "heart": (270, 13, 150, 120),
    "heart-cleveland": (297, 13, 160, 137),
    "hill-valley": (1212, 100, 606, 606),
    "hill-valley-645": (645, 100, 315, 330),
    "ionosphere": (351, 34, 126, 225),
    "liver": (345, 5, 169, 176),
    "liver-selector": (345, 6, 145, 200),
    "pima": (768, 8, 500, 268),
    "sonar": (208, 60, 97, 111),
    "spambase": (4601, 57, 2788, 1813),
    "splice": (1532, 180, 765, 767),
    "wdbc": (569, 30, 357, 212),
    "wpbc": (194, 33, 148, 46),
}


def test_every_promised_name_is_there() -> None:
    assert sorted(NAMES) == sorted(PROMISED)
    assert list(NAMES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_card_is_complete(name: str) -> None:
    card = find_card(name)
    for field in ("title", "row", "meaning", "target", "source", "source_licence", "licence"):
        assert getattr(card, field).strip(), field
    assert len(card.citation) > 15
    if "CC BY" in card.licence:
        assert "UCI Machine Learning Repository. doi:10.24432/C5" in card.citation
    assert set(card.defaults) <= {"bank", "standardize", "storage", "train_fraction"}
    if card.table is not None:
        assert re.fullmatch("[0-9a-f]{64}", card.sha256 or "")
        assert re.search(r" \S*\d+\.\d+.*: |^mkldash: ", card.source), "package and version"
    else:
        assert card.source.startswith("mkldash: ")
        assert any("Synthetic" in warning for warning in card.warnings)
    if card.task == "binary":
        assert "+1" in card.meaning


@pytest.mark.parametrize("name", NAMES)
def test_loads_offline_as_its_card_says(name: str) -> None:
    data = shipped(name)
    card = data.card
    assert card is not None
    assert data.name == card.name == name
    assert data.X.shape == (card.rows, card.columns) == (data.n_rows, data.n_features)
    assert data.y.shape == (card.rows,)
    assert data.X.dtype == data.y.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.y).all()
    assert len(data.feature_names) == len(set(data.feature_names)) == card.columns
    assert data.target_name not in data.feature_names
    assert not set(card.drop) & set(data.feature_names)
    if data.task == "binary":
        assert set(np.unique(data.y)) == {-1.0, 1.0}
        assert data.classes == card.classes
        assert len(set(card.classes or ())) == 2
    else:
        assert data.classes is None
        assert len(np.unique(data.y)) > 5


@pytest.mark.parametrize("name", CLASS_COUNTS)
def test_class_counts(name: str) -> None:
    data = shipped(name)
    assert (*data.X.shape, (data.y < 0).sum(), (data.y > 0).sum()) == CLASS_COUNTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_stated_duplicates_and_constant_columns(name: str) -> None:
    data = shipped(name)
    said = " ".join(data.card.warnings if data.card else ())
    constant = int((data.X.max(axis=0) == data.X.min(axis=0)).sum())
    if name.startswith("adult-"):
        assert f"{constant} of the 123 bits are constant" in said
    else:
        assert constant == (name == "ionosphere")
    if found := re.search(r"([\d,]+) rows? (is|are) (an )?exact duplicate", said):
        rows = np.column_stack((data.X, data.y))
        assert len(rows) - len(np.unique(rows, axis=0)) == int(found[1].replace(",", ""))


def test_arrays_cannot_be_written() -> None:
    data = shipped("sonar")
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1.0


def test_key_follows_content_not_name() -> None:
    assert load("liver").key == shipped("liver").key
    assert shipped("liver").key != shipped("liver-selector").key


def test_d14_liver_takes_drinks_and_keeps_selector_apart() -> None:
    liver, selector = shipped("liver"), shipped("liver-selector")
    tests = ("mcv", "alkphos", "sgpt", "sgot", "gammagt")
    assert liver.feature_names == tests
    assert selector.feature_names == (*tests, "drinks")
    assert ((liver.y > 0).sum(), (liver.y < 0).sum()) == (176, 169)
    np.testing.assert_array_equal(liver.y > 0, selector.X[:, 5] >= 3)
    for data in (liver, selector):
        assert data.card is not None
        assert "selector" in " ".join((*data.card.warnings, data.card.meaning))
    assert len(make_terms("paper", liver.feature_names)) == 78
    assert len(make_terms("paper", selector.feature_names)) == 91
    assert liver.card is not None
    assert liver.card.rule == "drinks >= 3"


def test_wdbc_is_scikit_learns_with_malignant_positive() -> None:
    from sklearn.datasets import load_breast_cancer

    other = load_breast_cancer()
    data = shipped("wdbc")
    np.testing.assert_array_equal(data.X, other.data)
    np.testing.assert_array_equal(data.y, 1.0 - 2.0 * other.target)
    assert data.feature_names == tuple(other.feature_names)


def test_ionosphere_v2_is_constant() -> None:
    data = shipped("ionosphere")
    assert not data.X[:, data.feature_names.index("V2")].any()


def test_adult_subsets_are_nested_rows_of_adult() -> None:
    full = {row.tobytes() for row in np.column_stack((shipped("adult").X, shipped("adult").y))}
    a1a, a2a, a4a = (shipped(f"adult-{k}") for k in ("a1a", "a2a-like", "a4a-like"))
    for data in (a1a, a2a, a4a):
        assert {row.tobytes() for row in np.column_stack((data.X, data.y))} <= full
    # The first row of adult.data is in a1a; every subset keeps the order of adult.
    np.testing.assert_array_equal(a1a.X[0], shipped("adult").X[0])
    for name in ("adult-a2a-like", "adult-a4a-like"):
        assert "stand-in" in " ".join((find_card(name).title, *find_card(name).warnings))


def test_t8_and_golden_recommend_their_banks() -> None:
    assert dict(find_card("golden").defaults) == {"bank": "golden", "standardize": False}
    assert dict(find_card("t8").defaults) == {"bank": "linear"}
    t8 = shipped("t8")
    np.testing.assert_array_equal(t8.X.sum(axis=0), [30.5, 14930.0])
    assert t8.feature_names == ("size", "weight")
    assert t8.classes == ("no", "yes")
    assert t8.y.tolist() == [-1, -1, -1, 1, -1, 1, 1, 1]


def test_readme_lists_exactly_the_cards() -> None:
    readme = (cards.data_folder() / "README.md").read_text(encoding="utf-8")
    lines = [line for line in readme.splitlines() if line.startswith("|")]
    assert lines == listing.readme_table(available()).splitlines()


def test_no_table_without_a_card() -> None:
    folder = cards.data_folder()
    used = {card.table for card in available().values() if card.table}
    used |= {card.mask.table for card in available().values() if card.mask}
    files = {path.name for path in folder.iterdir() if path.suffix not in (".toml", ".md")}
    assert files == used


@pytest.mark.parametrize(
    ("typed", "close"), [("ionosfere", "ionosphere"), ("WDBC", "wdbc"), ("hill", "hill-valley")]
)
def test_unknown_name_suggests_close_ones(typed: str, close: str) -> None:
    with pytest.raises(InputError, match=f"no data set is called '{typed}'.*did you mean.*{close}"):
        load(typed)


def test_unknown_name_without_close_ones() -> None:
    with pytest.raises(InputError, match=r"no data set is called 'qqqq'; 'mkldash list datasets'"):
        load("qqqq")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with the one set t8."""
    for name in ("t8.toml", "t8.csv"):
        shutil.copy(cards.data_folder() / name, tmp_path / name)
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    """Replace text in the card of t8."""
    card = folder / "t8.toml"
    text = card.read_text(encoding="utf-8")
    assert old in text
    card.write_text(text.replace(old, new), encoding="utf-8")


def test_a_set_is_added_without_code(folder: Path) -> None:
    (folder / "t8.toml").rename(folder / "mine.toml")
    assert list(available(folder)) == ["mine"]
    assert load("mine", folder).X.shape == (8, 2)


def test_altered_table_is_refused(folder: Path) -> None:
    table = folder / "t8.csv"
    table.write_bytes(table.read_bytes().replace(b"980", b"981"))
    with pytest.raises(InputError, match=r"t8\.csv has been altered: its sha256"):
        load("t8", folder)


def test_true_products_are_the_features_that_made_the_target() -> None:
    assert available()["known-products"].true_products == (("x2", "x5"), ("x3",))
    assert available()["diabetes"].true_products == ()


def test_missing_table_is_refused(folder: Path) -> None:
    (folder / "t8.csv").unlink()
    with pytest.raises(InputError, match=r"the table t8\.csv is missing"):
        load("t8", folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows = 8", "rows = 9", "the card says 9 rows and 2 features, its table gives 8 and 2"),
        ('rule = "label == yes"', 'rule = "label is yes"', "the rule 'label is yes' is not"),
        ('rule = "label == yes"', 'rule = "size > 2"', "the rule speaks of 'size'"),
        ('target = "label"', 'target = "lable"', "no column 'lable' in t8.csv"),
        ('task = "binary"', 'task = "ranking"', "card t8.toml: task is 'ranking'"),
        ('task = "binary"', 'task = "regression"', "card t8.toml: a binary set has two classes"),
        ('title = "', 'titel = "', "card t8.toml: unknown fields titel"),
        ('title = "', "title = ", "card t8.toml"),
        ('table = "t8.csv"', 'generator = "t8"', "card t8.toml: no generator is called 't8'"),
        (
            'target = "label"',
            'target = "label"\ntrue_products = [["size", "width"]]',
            "true_products names 'width', no feature",
        ),
        ('table = "t8.csv"', "", "card t8.toml: give either a table or a generator"),
    ],
)
def test_broken_card_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    edit(folder, old, new)
    with pytest.raises(InputError, match=re.escape(message)):
        load("t8", folder)


@pytest.mark.parametrize(
    ("rule", "positives"),
    [
        ("size >= 4", 4),
        ("size > 4", 3),
        ("size < 2", 1),
        ("size <= 2", 2),
        ("size == 2", 1),
        ("size != 2", 7),
    ],
)
def test_numeric_rules(folder: Path, rule: str, positives: int) -> None:
    edit(folder, 'target = "label"', 'target = "size"')
    edit(folder, "label == yes", rule)
    edit(folder, "drop = []", 'drop = ["label"]')
    edit(folder, "columns = 2", "columns = 1")
    assert (load("t8", folder).y > 0).sum() == positives
