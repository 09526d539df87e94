"""Formulas are typeset as MathML; not every machine has a mathematical font."""

import pytest

from mkldash.views import available_views

#: Drawn by a mathematical font only: without one the root sign is lost, marks are misplaced.
NEEDS_A_FONT = (r"\sqrt", r"\hat", r"\bar{", r"\tilde", r"\overline", r"\widehat", r"\underline")


@pytest.mark.parametrize("view", available_views().values(), ids=lambda view: view.name)
def test_no_formula_depends_on_a_mathematical_font(view):
    assert not [command for command in NEEDS_A_FONT if command in view.formula]
