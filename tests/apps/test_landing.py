"""The landing page sets formulas as formulas."""

import pytest

from mkldash.apps.landing import _formula, _symbols


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("K_k", "K<sub>k</sub>"),
        ("κ_θ, with ρ_i^-2", "κ<sub>θ</sub>, with ρ<sub>i</sub><sup>−2</sup>"),
        ("θ_k² u_k", "θ<sub>k</sub>² u<sub>k</sub>"),
        ("ε_MKL", "ε<sub>MKL</sub>"),
        ("sum of β_k/x_k", "sum of β<sub>k</sub>/x<sub>k</sub>"),
        ("0 <= α <= C", "0 &lt;= α &lt;= C"),
        ("a'K_k a", "a'K<sub>k</sub> a"),
    ],
)
def test_indices_and_powers_leave_the_line(text, found):
    assert _formula(text) == found


def test_no_symbol_is_left_raw():
    page = _symbols()
    assert "_" not in page
    assert "^" not in page
