"""Named lists of kernels."""

import pytest

from mkldash.errors import InputError
from mkldash.kernels.banks import BANKS, make_terms


def test_paper_has_thirteen_kernels_per_feature_and_on_all():
    terms = make_terms("paper", [f"V{j}" for j in range(34)])
    assert len(terms) == 13 * 35 == 455
    assert [term.kernel.label for term in terms[:13]] == [
        *(f"gaussian {2.0**power:g}" for power in range(-3, 7)),
        "polynomial 1",
        "polynomial 2",
        "polynomial 3",
    ]
    assert {term.columns for term in terms[:13]} == {(0,)}
    assert terms[0].name == "gaussian 0.125 · V0"
    assert terms[-1].columns == tuple(range(34))
    assert terms[-1].name == "polynomial 3 · all"


@pytest.mark.parametrize(("bank", "count"), [("linear", 3), ("gaussian", 30), ("golden", 4)])
def test_sizes_on_two_features(bank, count):
    assert len(make_terms(bank, ["size", "weight"])) == count


def test_every_described_bank_can_be_made():
    for bank in BANKS:
        assert len({term.name for term in make_terms(bank, ["a", "b"])}) == len(
            make_terms(bank, ["a", "b"])
        )


def test_a_feature_called_all_does_not_collide():
    names = [term.name for term in make_terms("linear", ["all", "b"])]
    assert names == ["linear · all", "linear · b", "linear · all features"]


@pytest.mark.parametrize(
    ("bank", "names", "message"),
    [
        ("papers", ["a"], "no bank named 'papers'; there are gaussian, golden, linear, paper"),
        ("paper", [], "at least one feature"),
        ("paper", ["a", "b", "a"], "two feature columns are named 'a'"),
    ],
)
def test_refusals(bank, names, message):
    with pytest.raises(InputError, match=message):
        make_terms(bank, names)
