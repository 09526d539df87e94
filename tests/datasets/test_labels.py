"""Labels of any coding."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.datasets.labels import encode_labels
from mkldash.errors import InputError


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 1], ("0", "1")),
        ([1.0, 2.0, 2.0], ("1", "2")),
        ([False, True, True], ("False", "True")),
        (np.array([-1, 1, 1], dtype=np.int8), ("-1", "1")),
        (np.array(["bad", "good", "good"]), ("bad", "good")),
        (np.array([b"bad", b"good", b"good"]), ("bad", "good")),
        (["2", "10", "10.0"], ("2", "10")),
        (["2", "x", "x"], ("2", "x")),
        (["-inf", "nan", "nan"], ("-inf", "nan")),
    ],
)
def test_codings(labels: list[object], classes: tuple[str, str]) -> None:
    y, found = encode_labels(labels)
    assert found == classes
    assert y.tolist() == [-1.0, 1.0, 1.0]


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=3).filter(lambda x: len(set(x)) == 3))
def test_one_against_the_rest(labels: list[str]) -> None:
    for chosen in "abc":
        y, classes = encode_labels(labels, positive=chosen)
        assert classes == (f"not {chosen}", chosen)
        assert y.tolist() == [1.0 if label == chosen else -1.0 for label in labels]


def test_positive_may_be_spelled_as_another_number() -> None:
    y, classes = encode_labels([1.0, 2.0, 3.0], positive="2.0")
    assert (y.tolist(), classes) == ([-1.0, 1.0, -1.0], ("not 2", "2"))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["10", "1_0", "1_0"], ("10", "1_0")),
        (["9007199254740992", "9007199254740993", "9007199254740993"],) * 2,
        (["1e400", "2e400", "20e399"], ("1e400", "2e400")),
        (["0.10", "0.1000000000000000001", "0.1000000000000000001"],) * 2,
    ],
)
def test_classes_are_told_apart_exactly(labels: list[str], classes: Sequence[str]) -> None:
    y, found = encode_labels(labels)
    assert found == tuple(classes[:2])
    assert y.tolist() == [-1.0, 1.0, 1.0]


def test_refusals() -> None:
    with pytest.raises(InputError, match="only class 'yes' found, two needed"):
        encode_labels(["yes", "yes"])
    with pytest.raises(InputError, match=r"hold 3 classes \(1, 2, 3\), two needed.*--positive"):
        encode_labels([3, 1, 2])
    with pytest.raises(InputError, match=r"holds 30 classes \(0, 1, .*, 9, \.\.\.\)"):
        encode_labels(range(30), column="grade")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no class is called 'godo' \(did you mean good\?\)"):
        encode_labels(["bad", "good"], positive="godo")
