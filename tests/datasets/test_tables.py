"""Edges of a user's own table: every one a right reading or a clear refusal."""

import re
from pathlib import Path

import numpy as np
import pytest

from mkldash.datasets.tables import from_dataframe, preview, read_csv
from mkldash.errors import InputError


def refused(content: bytes, message: str, **options: object) -> None:
    """The table is refused with a message on one line that holds these words."""
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_csv(content, name="mine", **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'mine' is empty"),
        (b" \n\n", "'mine' is empty"),
        (b"\xef\xbb\xbf", "'mine' is empty"),
        (bytes(range(256)), "'mine' is not a text table"),
        (b"PK\x03\x04abc", "it is a zip archive, such as an Excel workbook"),
        (b"\x1f\x8babc", "it is gzip-compressed"),
        (b"%PDF-1.7 abc", "it is a PDF"),
        (b"a,b\n1,\x00\n2,3\n", "control character"),
        (b"label\nx\ny\n", "'mine' has one column only ('label')"),
        (b"a,label\n", "'mine' has 0 rows below its header"),
        (b"a,label\n1,x\n", "'mine' has 1 row below its header"),
        (b"1,x\n", "'mine' has only one row"),
        (b"a,b,label\n1,2,x\n1,2\n3,4,y\n", "row 2 has 2 (separator ','"),
        (b"a,b,label\n1,2,x\n1,2,3,y\n3,4,y\n", "most have 3 cells, row 2 has 4"),
        (b"a,b,c,label\n1,2,x\n1,2,y\n3,4,y\n", "most have 3 cells, the header has 4"),
        (b"a,label\n1,2,x\n1,2,y\n3,4,y\n", "most have 3 cells, the header has 2"),
        (b"a,a,label\n1,2,x\n3,4,y\n", "the column name 'a' occurs 2 times (columns 1, 2)"),
        (b"a, a ,label\n1,2,x\n3,4,y\n", "the column name 'a' occurs 2 times"),
        (b'a,label\n1,"x\n2,y\n', "a quotation mark is never closed"),
        (b"a,label\ninf,x\n1e999,y\n", "column 'a' has 2 infinite values (rows 1, 2)"),
        (b"a,label\n1_000,x\n2_000,y\n", "column 'a' holds text ('1_000', '2_000')"),
        (b"a,b,label\n1,u,x\n2,v,y\n", "column 'b' holds text ('u', 'v')"),
        (b"a,b,label\nt,u,x\ns,v,y\n", "column 'a' holds text ('s', 't')"),
        (b"a,b,label\nt,u,x\ns,v,y\n", "also text: 'b'"),
        (b"a,y\n1,u\n2,v\n3,\n", "1 missing in y (row 3)"),
        (b"a,y\n1,p\n2,q\n3,r\n", "holds 3 classes (p, q, r), two needed: choose"),
        (b"a,y\n1,p\n2,q\n3,r\n", "--positive LABEL"),
    ],
)
def test_refusals(content: bytes, message: str) -> None:
    refused(content, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "lable"}, "--label: no column is called 'lable' (did you mean label?)"),
        ({"exclude": ["c"]}, "--exclude: no column is called 'c'; 'mine' has: a, b, label"),
        ({"one_hot": ["c"]}, "--one-hot: no column is called 'c'"),
        ({"exclude": ["a", "b"]}, "--exclude leaves no feature beside the label column"),
        ({"exclude": ["a", "b", "label"]}, "every column is excluded"),
        ({"exclude": ["label"], "label": "label"}, "--exclude: 'label' is the label column"),
        ({"one_hot": ["label"]}, "--one-hot: 'label' is the label column"),
        ({"one_hot": ["a"], "exclude": ["a"]}, "'a' is in --exclude and in --one-hot"),
        ({"missing": "zero"}, "missing is 'zero', not one of error, drop, mean"),
        ({"task": "ranking"}, "task is 'ranking'"),
        ({"separator": "ab"}, "the separator 'ab' is not one character"),
        ({"decimal": "'"}, "the decimal mark ''' is neither . nor ,"),
        ({"positive": "z"}, "no class is called 'z'; the label column 'label' holds: x, y"),
    ],
)
def test_refused_options(options: dict[str, object], message: str) -> None:
    refused(b"a,b,label\n1,2,x\n3,4,y\n5,6,y\n", message, **options)


def test_refused_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv' cannot be read: No such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read: is a folder"):
        read_csv(tmp_path)


def test_path_gives_the_name(tmp_path: Path) -> None:
    path = tmp_path / "cars.csv"
    path.write_bytes(b"a,label\n1,x\n2,y\n")
    assert read_csv(path).name == read_csv(str(path)).name == "cars"


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"a;label\n1.234,5;x\n2;y\n", [1234.5, 2]),
        (b'a,label\n"1,234.5",x\n2,y\n', [1234.5, 2]),
        (b'a,label\n"1,234,567",x\n2,y\n', [1234567, 2]),
        (b"a;label\n1.234.567;x\n1.234;y\n", [1234567, 1234]),
        (b"a;label\n1 234,5;x\n2,5;y\n", [1234.5, 2.5]),
        (b"a;label\n1'234.5;x\n2.5;y\n", [1234.5, 2.5]),
        ("a;label\n1\u202f234,5;x\n2,5;y\n".encode(), [1234.5, 2.5]),
        (b"a;label\n0,125;x\n-,5;y\n", [0.125, -0.5]),
        (b"a,label\n1.234,x\n2.345,y\n", [1.234, 2.345]),
        (b"a,label\n1e-3,x\n-2.5E+2,y\n", [0.001, -250]),
        (b"a;label\n1e-3;x\n-2,5E+2;y\n", [0.001, -250]),
        (b"a,label\n+1.,x\n.5,y\n", [1, 0.5]),
        (b"a , label\n 1 , x\n 2 , y\n", [1, 2]),
        (b"\n\na,label\n\n1,x\n\n2,y\n\n", [1, 2]),
        (b"sep=;\na;label\n1,5;x\n2;y\n", [1.5, 2]),
        (b"a,label\r1,x\r2,y\r", [1, 2]),
        (b'"a","label"\n"1","x"\n"2","y"\n', [1, 2]),
        (b"a,label,\n1,x,\n2,y,\n", [1, 2]),
        (b"a,label\n1,x,\n2,y,\n", [1, 2]),
        (b"a,label,\n1,x\n2,y\n", [1, 2]),
        (b"1,x,\n2,y,\n", [1, 2]),
        (b"0.5\tx\n2.5\ty\n", [0.5, 2.5]),
        (b"1,5;x\n2,5;y\n3,5;y\n", [1.5, 2.5, 3.5]),
        (b"1,5\tx\n2,5\ty\n3,5\ty\n", [1.5, 2.5, 3.5]),
        (b"a label\n1  x\n2    y\n", [1, 2]),
        (b"1,5 100,5 x\n2,5 200,5 y\n", [1.5, 100.5, 2.5, 200.5]),
        (b"007,x\n008,y\n", [7, 8]),
    ],
)
def test_right_readings(content: bytes, values: list[float]) -> None:
    data = read_csv(content)
    assert data.X.ravel().tolist() == values
    assert data.y[:2].tolist() == [-1, 1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings(encoding: str) -> None:
    data = read_csv("größe,label\n1,ä\n2,ö\n".encode(encoding))
    assert data.feature_names == ("größe",)
    assert data.classes == ("ä", "ö")
    expected = ("the file is not UTF-8: read as Windows-1252",) if encoding == "latin-1" else ()
    assert data.notes == expected


def test_line_ends_inside_quotes() -> None:
    data = read_csv(b'a,"b\nc",label\n1,2,"x\nz"\n3,4,y\n')
    assert data.feature_names == ("a", "b c")
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert set(data.classes or ()) == {"x\nz", "y"}


def test_two_decimal_marks_are_refused_with_both_places() -> None:
    refused(
        b"a;b;label\n1,5;2.5;x\n2;3;y\n",
        "'1,5' (column 'a', row 1) has a decimal comma, '2.5' (column 'b', row 1)",
    )
    refused(b"a;b;label\n1;1.5;x\n2,5;3;y\n", "two decimal marks in one table")


def test_doubtful_comma_is_asked_about() -> None:
    content = b"a;label\n1,500;x\n2,250;y\n"
    refused(content, "'1,500' (column 'a', row 1) may have a decimal comma or a thousands")
    assert read_csv(content, decimal=",").X.ravel().tolist() == [1.5, 2.25]
    grouped = read_csv(content, decimal=".")
    assert grouped.X.ravel().tolist() == [1500, 2250]
    assert grouped.notes == ("thousands separators read in a",)


def test_commas_in_text_say_nothing_about_decimals() -> None:
    data = read_csv(b"a;b;label\n1.5;u,v;x\n2.5;w,1;y\n", exclude=["b"])
    assert data.X.ravel().tolist() == [1.5, 2.5]


def test_one_bad_cell_among_numbers_is_shown_with_its_row() -> None:
    refused(b"a,label\n1,x\n2,y\nabc,y\n4,x\n", "column 'a' holds 'abc' among its numbers (row 3)")


def test_saved_row_index_is_left_out_with_a_note() -> None:
    data = read_csv(b",a,label\n0,2,x\n1,4,y\n2,7,y\n")
    assert data.feature_names == ("a",)
    assert "counts the rows: left out" in data.notes[0]
    # A named or headerless first column is never dropped silently.
    assert read_csv(b"n,a,label\n0,2,x\n1,4,y\n").feature_names == ("n", "a")
    assert read_csv(b"0,2,x\n1,4,y\n").feature_names == ("col1", "col2")


def test_identifiers_get_a_hint() -> None:
    data = read_csv(b"id,a,label\n17,2,x\n11,2,y\n")
    assert data.feature_names == ("id", "a")
    assert "column 'id' looks like a row identifier" in data.notes[0]
    refused(b"id,a,label\nA1,2,x\nA2,2,y\n", "column 'id' holds text ('A1', 'A2')")


@pytest.mark.parametrize(
    ("names", "guess"),
    [
        ("label,a,b", "label"),
        ("a,Target,b", "Target"),
        ("a,CLASS,b", "CLASS"),
        ("y,a,b", "y"),
        ("y,label,b", "label"),
        ("a,b,c", "c"),
    ],
)
def test_label_guess(names: str, guess: str) -> None:
    content = f"{names}\n1,1,1\n2,2,2\n2,2,2\n".encode()
    assert preview(content).label_guess == guess
    assert read_csv(content).target_name == guess


def test_label_can_be_chosen() -> None:
    data = read_csv(b"a,b,label\n1,u,x\n2,v,x\n3,v,z\n", label="b", exclude=["label"])
    assert data.classes == ("u", "v")
    assert data.feature_names == ("a",)


def test_positive_makes_one_against_the_rest() -> None:
    data = read_csv(b"a,y\n1,p\n2,q\n3,r\n", positive="q")
    assert data.y.tolist() == [-1, 1, -1]
    assert data.classes == ("not q", "q")


def test_missing_in_labels_and_text() -> None:
    content = b"a,b,y\n1,,u\n2,s,\n6,s,u\n,s,u\n5,t,v\n"
    refused(
        content,
        "1 missing in a (row 4), 1 missing in b (row 1), 1 missing in y (row 2)",
        one_hot=["b"],
    )
    refused(
        content,
        "the label column 'y' (row 2): a label cannot be filled in",
        exclude=["b"],
        missing="mean",
    )
    refused(
        b"a,b,y\n1,,u\n2,s,v\n",
        "text column 'b' (row 1): it has no mean",
        one_hot=["b"],
        missing="mean",
    )
    dropped = read_csv(content, one_hot=["b"], missing="drop")
    assert dropped.X.tolist() == [[6, 1, 0], [5, 0, 1]]
    assert dropped.feature_names == ("a", "b=s", "b=t")
    assert dropped.y.tolist() == [-1, 1]
    refused(b"a,b,y\n1,?,u\n2,NA,v\n", "column 'b' holds no value at all", missing="mean")
    refused(b"a,b,y\n1,?,u\n2,NA,v\n", "--missing drop leaves 0 rows", missing="drop")


@pytest.mark.parametrize("cell", ["", "?", "NA", "na", "N/A", "#N/A", "NaN", "nan", "null"])
def test_every_spelling_of_missing(cell: str) -> None:
    refused(f"a,b,y\n1,1,u\n{cell},2,v\n".encode(), "1 missing in a (row 2)")


@pytest.mark.parametrize(
    ("content", "names", "columns"),
    [
        (b"a;k;y\n1;1,5;u\n2;0,5;v\n3;1,50;v\n", ["k=0,5", "k=1,5"], [[0, 1, 0], [1, 0, 1]]),
        (b"a;k;y\n1;1,000.5;u\n2;900;v\n3;900.0;v\n", ["k=900", "k=1,000.5"],
         [[0, 1, 1], [1, 0, 0]]),
    ],
)  # fmt: skip
def test_one_hot_of_numbers_in_any_spelling(
    content: bytes, names: list[str], columns: list[list[float]]
) -> None:
    data = read_csv(content, one_hot=["k"])
    assert list(data.feature_names) == ["a", *names]
    assert data.X[:, 1:].T.tolist() == columns


def test_one_hot_of_numbers_with_missing_cells() -> None:
    content = b"a,k,y\n1,1,u\n2,?,v\n3,2,v\n"
    with pytest.raises(InputError, match=r"1 missing in the --one-hot column 'k' \(row 2\)"):
        read_csv(content, one_hot=["k"], missing="mean")
    with pytest.raises(InputError, match=r"--missing drop$"):
        read_csv(content, one_hot=["k"])
    data = read_csv(content, one_hot=["k"], missing="drop")
    assert data.X.tolist() == [[1, 1, 0], [3, 0, 1]]


def test_a_missing_label_cannot_be_filled_in() -> None:
    with pytest.raises(InputError, match=r"1 missing in y \(row 2\); .*--missing drop$"):
        read_csv(b"a,y\n1,u\n2,?\n3,v\n")
    with pytest.raises(InputError, match=r"--missing mean$"):
        read_csv(b"a,y\n1,u\n?,u\n3,v\n")


def test_names_of_columns_are_shown_in_one_line() -> None:
    data = read_csv('"a\nb",c\u009bd,y\n1,2,u\n2,3,v\n'.encode())
    assert data.feature_names == ("a b", "c d")


def test_one_hot_of_numbers_and_too_many_values() -> None:
    data = read_csv(b"a,k,y\n1,10,u\n2,2,v\n3,10,v\n", one_hot=["k"])
    assert data.feature_names == ("a", "k=2", "k=10")
    assert data.X[:, 1:].tolist() == [[0, 1], [1, 0], [0, 1]]
    many = "".join(f"n{i},1,{'uv'[i % 2]}\n" for i in range(150))
    refused(f"k,a,y\n{many}".encode(), "--one-hot k: it has 150 different values", one_hot=["k"])
    with pytest.raises(InputError, match=r"column 'k' holds text") as caught:
        read_csv(f"k,a,y\n{many}".encode())
    assert "--one-hot" not in str(caught.value)


def test_regression_keeps_the_numbers() -> None:
    data = read_csv(b"a,y\n1,1.5\n2,2.5\n3,9\n", task="regression")
    assert data.y.tolist() == [1.5, 2.5, 9]
    assert data.classes is None
    assert (data.task, data.target_name) == ("regression", "y")
    chosen = read_csv(
        b"a;price;y\n1;1.234,5;0\n2;-0,5;1\n3;2;1\n", task="regression", label="price"
    )
    assert chosen.y.tolist() == [1234.5, -0.5, 2]
    assert chosen.feature_names == ("a", "y")
    # As numbers, whatever they look like as classes.
    assert read_csv(b"a,y\n1,0\n2,1\n3,1\n", task="regression").y.tolist() == [0, 1, 1]
    dropped = read_csv(b"a,y\n1,1.5\n2,?\n3,9\n", task="regression", missing="drop")
    assert dropped.y.tolist() == [1.5, 9]


@pytest.mark.parametrize(
    ("content", "message", "options"),
    [
        (b"a,y\n1,u\n2,v\n", "the target column 'y' holds text ('u', rows 1, 2)", {}),
        (b"a,y\n1,u\n2,v\n", "regression needs numbers, choose another with --label", {}),
        (b"a,y\n1,inf\n2,3\n", "'y' is infinite in row 1: remove the rows, or choose", {}),
        (b"a,y\n1,2\n2,2.0\n", "the target column 'y' is 2 in every row: there is nothing", {}),
        (b"a,y\n1,2\n2,?\n3,2\n", "'y' is 2 in every row", {"missing": "drop"}),
        (b"a,y\n1,2\n2,?\n", "1 missing in y (row 2); leave these rows out with", {}),
        (b"a,y\n1,2\n2,?\n", "a label cannot be filled in", {"missing": "mean"}),
        (b"a,y\n1,2\n2,3\n", "--positive 3: a regression keeps the target's", {"positive": "3"}),
    ],
)
def test_refused_targets(content: bytes, message: str, options: dict[str, object]) -> None:
    refused(content, message, task="regression", **options)


def test_frames_take_numbers_and_refuse_the_rest() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "a": np.array([1, 2, 3], dtype=np.int8),
            "b": pd.array([1, None, 3], dtype="Int64"),
            "c": np.array([0.5, 1.5, 2.5], dtype=np.float32),
            "d": pd.Series(["1", "2", "3"]),
            "y": [0.0, 1.0, 1.0],
        }
    )
    with pytest.raises(InputError, match=r"1 missing in b \(row 2\)"):
        from_dataframe(frame)
    data = from_dataframe(frame, missing="mean", name="frame")
    assert data.X.tolist() == [[1, 1, 0.5, 1], [2, 2, 1.5, 2], [3, 3, 2.5, 3]]
    assert data.classes == ("0", "1")
    assert data.name == "frame"
    with pytest.raises(InputError, match="column name 'a' occurs more than once"):
        from_dataframe(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))
    with pytest.raises(InputError, match="has 1 rows"):
        from_dataframe(frame[:1])
    with pytest.raises(InputError, match="column 'z' holds complex numbers"):
        from_dataframe(pd.DataFrame({"z": [1j, 2j], "y": [0, 1]}))
    with pytest.raises(InputError, match="column 't' holds text"):
        from_dataframe(pd.DataFrame({"t": pd.to_datetime(["2020-01-01"] * 2), "y": [0, 1]}))


def test_frame_is_not_changed_by_writing_protection() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [0.5, 1.5]})
    data = from_dataframe(frame, task="regression")
    frame.loc[0, ["a", "y"]] = 9.0
    assert data.X[0, 0] == 1.0
    assert data.y[0] == 0.5
