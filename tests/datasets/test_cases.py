"""Cases from public reports, as far as the data go (D01-D04, D09, L01, L03, U07)."""

import numpy as np
import pytest

from mkldash.datasets.tables import (
    UPLOAD_LIMIT_BYTES,
    check_upload,
    from_dataframe,
    preview,
    read_csv,
)
from mkldash.errors import InputError
from tests.datasets import case_files as files

SIGNS = [-1, -1, -1, 1, -1, 1, 1, 1]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (files.T8_PLAIN, ("size", "weight")),
        (files.T8_SEMICOLON, ("size", "weight")),
        (files.T8_BOM, ("size", "weight")),
        (files.T8_NO_HEADER, ("col1", "col2")),
        (files.T8_PLAIN.replace(b",", b"\t"), ("size", "weight")),
        (files.T8_PLAIN.replace(b",", b"|"), ("size", "weight")),
        (files.T8_PLAIN.replace(b",", b" "), ("size", "weight")),
        (files.T8_PLAIN.replace(b"\n", b"\r\n"), ("size", "weight")),
    ],
)
def test_t8_reads_alike_in_every_dialect(content: bytes, names: tuple[str, ...]) -> None:
    data = read_csv(content)
    assert data.X.shape == (8, 2)
    assert data.X.sum(axis=0).tolist() == [30.5, 14930.0]
    assert data.y.tolist() == SIGNS
    assert data.feature_names == names
    assert data.classes == ("no", "yes")
    assert data.notes == ()


def test_d01_preview_shows_the_dialect_and_can_be_overridden() -> None:
    seen = preview(files.T8_SEMICOLON)
    assert (seen.separator, seen.decimal, seen.header, seen.n_rows) == (";", ",", True, 8)
    assert seen.columns == ("size", "weight", "label")
    assert seen.types == ("number", "number", "text")
    assert seen.rows[0] == ("1,5", "1200", "no")
    assert len(seen.rows) == 5
    assert seen.label_guess == "label"
    assert seen.label_values == ("no", "yes")
    # By hand, even if it makes no sense: the point is then no decimal mark.
    assert preview(files.T8_PLAIN, decimal=",").types == ("text", "number", "text")
    assert preview(files.T8_PLAIN, separator=";", header=True).columns == ("size,weight,label",)


def test_d02_bom_does_not_stick_to_the_first_name() -> None:
    seen = preview(files.T8_BOM)
    assert seen.columns == ("label", "size", "weight")
    assert len(seen.columns[0]) == 5
    assert seen.label_guess == "label"


def test_d03_question_mark_is_missing() -> None:
    with pytest.raises(InputError, match=r"1 missing in size \(row 7\).*drop.*mean"):
        read_csv(files.T8_QUESTION_MARK)
    dropped = read_csv(files.T8_QUESTION_MARK, missing="drop")
    assert dropped.X.shape == (7, 2)
    assert dropped.y.tolist() == [*SIGNS[:6], 1]
    assert dropped.notes == ("1 row with missing values left out: 1 missing in size (row 7)",)
    filled = read_csv(files.T8_QUESTION_MARK, missing="mean")
    assert filled.X.shape == (8, 2)
    assert filled.X[6, 0] == pytest.approx(3.642857, abs=5e-7)
    assert filled.notes == ("1 missing in size: the column's mean 3.642857 filled in",)
    assert preview(files.T8_QUESTION_MARK).missing == (1, 0, 0)
    assert preview(files.T8_QUESTION_MARK).types[0] == "number"


def test_d04_missing_header_is_detected_and_can_be_overridden() -> None:
    assert preview(files.T8_NO_HEADER).header is False
    assert read_csv(files.T8_NO_HEADER).X.shape == (8, 2)
    assert read_csv(files.T8_NO_HEADER, header=True).X.shape == (7, 2)
    with pytest.raises(InputError, match="column 'col1' holds 'size' among its numbers"):
        read_csv(files.T8_PLAIN, header=False)


def test_d09_text_column_is_named_with_its_values_and_two_ways_out() -> None:
    pattern = "column 'colour' holds text \\('blue', 'red'\\): .*--one-hot colour.*--exclude colour"
    with pytest.raises(InputError, match=pattern):
        read_csv(files.T8_TEXT)
    plain = read_csv(files.T8_PLAIN)
    without = read_csv(files.T8_TEXT, exclude=["colour"])
    assert without.key == plain.key
    assert without.notes == ("left out on request: colour",)
    coded = read_csv(files.T8_TEXT, one_hot=["colour"])
    assert coded.feature_names == ("size", "colour=blue", "colour=red", "weight")
    assert coded.X[:, 1].tolist() == [0, 1] * 4
    assert coded.X[:, 2].tolist() == [1, 0] * 4


def test_k09_a_constant_column_is_read_like_any_other() -> None:
    data = read_csv(files.T8_CONSTANT)
    assert data.feature_names == ("size", "zero", "weight")
    assert data.X[:, 1].tolist() == [0.0] * 8
    np.testing.assert_array_equal(data.X[:, ::2], read_csv(files.T8_PLAIN).X)


@pytest.mark.parametrize("dtype", ["object", "string", "category", "bool"])
def test_d09_every_text_dtype_gives_the_same_answer(dtype: str) -> None:
    import pandas as pd

    plain = read_csv(files.T8_PLAIN)
    colour = ["red", "blue"] * 4 if dtype != "bool" else [True, False] * 4
    frame = pd.DataFrame(
        {
            "size": plain.X[:, 0],
            "colour": pd.Series(colour).astype(dtype),
            "weight": plain.X[:, 1].astype(int),
            "label": np.where(plain.y > 0, "yes", "no"),
        }
    )
    words = "'blue', 'red'" if dtype != "bool" else "'False', 'True'"
    with pytest.raises(
        InputError,
        match=rf"column 'colour' holds text \({words}\): .*--one-hot colour.*--exclude colour",
    ):
        from_dataframe(frame)
    assert from_dataframe(frame, exclude=["colour"]).key == plain.key
    coded = from_dataframe(frame, one_hot=["colour"])
    assert coded.X[:, 1].tolist() == [0, 1] * 4


@pytest.mark.parametrize(
    ("low", "high"),
    [("0", "1"), ("1", "2"), ("bad", "good"), ("False", "True"), ("2", "10"), ("-1", "1")],
)
def test_l01_every_coding_gives_the_same_signs(low: str, high: str) -> None:
    content = files.T8_PLAIN.replace(b",no", f",{low}".encode())
    content = content.replace(b",yes", f",{high}".encode())
    data = read_csv(content)
    assert data.y.tolist() == SIGNS
    assert data.classes == (low, high)
    swapped = read_csv(content, positive=low)
    assert swapped.y.tolist() == [-s for s in SIGNS]
    assert swapped.classes == (high, low)


def test_l03_single_class() -> None:
    with pytest.raises(InputError, match="only class 'yes' found, two needed"):
        read_csv(files.T8_SINGLE_CLASS)


def test_u07_upload_limit_and_png() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 60))
    line = ",".join(f"{v:.9f}" for v in rows[0])
    size = len(line) * 40_000
    assert size > 25_000_000
    with pytest.raises(InputError, match=r"'big' has \d\d\.\d MB, the limit .* 10\.0 MB"):
        check_upload("big", size)
    check_upload("fits", UPLOAD_LIMIT_BYTES)
    with pytest.raises(InputError, match="'photo' is not a text table: it is a PNG image"):
        read_csv(PNG, name="photo")
    assert read_csv(files.T8_PLAIN).X.shape == (8, 2)
