"""Every colour is seen on white and on the dark page."""

import pytest

from mkldash.views import _palette

COLOURS = {
    name: value
    for name, value in vars(_palette).items()
    if name.isupper() and isinstance(value, str)
}


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("ground", ["#ffffff", "#1a2028", "#11151b"])
@pytest.mark.parametrize("name", COLOURS)
def test_contrast_is_three_to_one_on_both_grounds(name, ground):
    dark, light = sorted((luminance(COLOURS[name]), luminance(ground)))
    assert (light + 0.05) / (dark + 0.05) >= 3.0
