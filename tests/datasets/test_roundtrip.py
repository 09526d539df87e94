"""Property: a table written in any dialect is read back equal."""

import csv
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.datasets.tables import read_csv

NAMES = st.text("abcdefgh xyz_-", min_size=1, max_size=8).map(str.strip).filter(bool)
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.integers(0, 9999).map(lambda tenths: tenths / 10),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[float]], list[str]]:
    """Names, numbers and labels; one column has decimals for certain."""
    columns = draw(st.integers(1, 5))
    rows = draw(st.integers(3, 12))
    names = draw(
        st.lists(NAMES, min_size=columns, max_size=columns, unique_by=str.lower).filter(
            lambda found: not {"y", "label", "class", "target", "half"} & set(found)
        )
    )
    values = [[draw(NUMBERS) for _ in range(columns)] + [i + 0.5] for i in range(rows)]
    labels = [
        "no",
        "yes",
        *draw(st.lists(st.sampled_from(["no", "yes"]), min_size=rows - 2, max_size=rows - 2)),
    ]
    return [*names, "half"], values, labels


@settings(deadline=None)
@given(
    table=tables(),
    separator=st.sampled_from(",;\t| "),
    comma=st.booleans(),
    header=st.booleans(),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_written_in_any_dialect_is_read_back_equal(
    table: tuple[list[str], list[list[float]], list[str]],
    separator: str,
    comma: bool,
    header: bool,
    quoting: int,
    line_end: str,
    encoding: str,
) -> None:
    names, values, labels = table
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=line_end)  # type: ignore[arg-type]
    if header:
        writer.writerow([*names, "label"])
    for row, label in zip(values, labels, strict=True):
        cells = [repr(value) for value in row]
        writer.writerow([*(c.replace(".", ",") if comma else c for c in cells), label])
    data = read_csv(out.getvalue().encode(encoding))
    np.testing.assert_array_equal(data.X, values)
    assert data.y.tolist() == [1.0 if label == "yes" else -1.0 for label in labels]
    expected = names if header else [f"col{i}" for i in range(1, len(names) + 1)]
    assert list(data.feature_names) == expected
