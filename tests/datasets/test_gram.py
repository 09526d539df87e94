"""A user's own Gram matrices."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mkldash.datasets.tables import read_gram
from mkldash.errors import InputError

A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
B = np.eye(3)


def npz(**arrays: object) -> bytes:
    """An .npz file with these arrays."""
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def test_named_matrices_in_their_order() -> None:
    data = read_gram(npz(wide=A, narrow=B.astype(np.float32), y=np.array(["u", "v", "v"])))
    assert data.names == ("wide", "narrow")
    np.testing.assert_array_equal(data.kernels, [A, B])
    # Single precision stays: its symmetry is judged by its own rounding.
    assert [kernel.dtype for kernel in data.kernels] == [np.float64, np.float32]
    assert data.y is not None
    assert data.y.tolist() == ["u", "v", "v"]
    y, classes = data.binary_labels()
    assert (y.tolist(), classes) == ([-1.0, 1.0, 1.0], ("u", "v"))


def test_stack_with_and_without_names() -> None:
    data = read_gram(npz(kernels=np.stack((A, B))))
    assert data.names == ("kernel 0", "kernel 1")
    np.testing.assert_array_equal(data.kernels, [A, B])
    assert data.y is None
    named = read_gram(npz(kernels=np.stack((A, B)), names=np.array(["p", "q"])))
    assert named.names == ("p", "q")


def test_one_matrix_called_kernels_is_one_kernel() -> None:
    assert read_gram(npz(kernels=A)).names == ("kernels",)


def test_labels_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bank.npz"
    path.write_bytes(npz(k=A, y=np.array([1, 1, 1])))
    labels = tmp_path / "labels.txt"
    labels.write_bytes(b"\xef\xbb\xbfno\r\nyes\r\n yes \r\n\r\n")
    data = read_gram(path, labels)
    assert data.name == "bank"
    assert data.y is not None
    assert data.y.tolist() == ["no", "yes", "yes"]
    labels.write_bytes(b"no\nyes\n")
    with pytest.raises(InputError, match="2 labels for kernels of 3 rows"):
        read_gram(path, labels)
    labels.write_bytes(b"no\n\nyes\n")
    with pytest.raises(InputError, match="'labels', line 2: a label is missing"):
        read_gram(path, labels)


def test_label_classes() -> None:
    with pytest.raises(InputError, match="only class '1' found, two needed"):
        read_gram(npz(k=A, y=np.ones(3))).binary_labels()
    three = read_gram(npz(k=A, y=np.arange(3)))
    with pytest.raises(InputError, match=r"hold 3 classes \(0, 1, 2\).*--positive"):
        three.binary_labels()
    assert three.binary_labels("1")[0].tolist() == [-1.0, 1.0, -1.0]
    with pytest.raises(InputError, match=r"holds no labels: put an array y into it.*--labels"):
        read_gram(npz(k=A)).binary_labels()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"size,weight\n1,2\n", "is not an .npz file"),
        (b"PK\x03\x04 but broken", "is damaged or not a plain .npz"),
        (npz(), "holds no Gram matrix"),
        (npz(y=np.ones(3)), "holds no Gram matrix"),
        (npz(k=np.ones(3)), r"kernel 'k' has shape \(3,\): a square matrix"),
        (npz(k=np.float64(3)), r"kernel 'k' has shape \(\): a square matrix"),
        (npz(k=np.ones((2, 3))), r"kernel 'k' has shape \(2, 3\): a square matrix"),
        (npz(k=np.ones((0, 0))), r"kernel 'k' has shape \(0, 0\)"),
        (npz(a=A, b=np.eye(2)), "kernel 'b' has 2 rows, the first one 3"),
        (npz(k=np.ones((2, 3, 3))), r"array 'k' has shape \(2, 3, 3\): a stack .* 'kernels'"),
        (npz(kernels=np.ones((2, 3, 4))), r"kernel 'kernel 0' has shape \(3, 4\)"),
        (npz(kernels=np.ones((0, 3, 3))), "holds no Gram matrix"),
        (npz(kernels=np.ones((2, 3, 3)), extra=A), "the stack 'kernels' and also 'extra'"),
        (npz(kernels=np.ones((2, 3, 3)), names=np.array(["a"])), "2 kernels need as many"),
        (npz(kernels=np.ones((2, 3, 3)), names=np.array(["a", "a"])), "'names' repeats"),
        (npz(k=A.astype(object)), "array 'k' of 'table' holds Python objects"),
        (npz(k=A, y=np.array([None, 1, 2])), "array 'y' of 'table' holds Python objects"),
        (npz(k=A.astype(complex)), "kernel 'k' has type complex128: real numbers"),
        (npz(k=np.array([["a", "b"], ["c", "d"]])), "kernel 'k' has type <U1"),
        (npz(k=A, y=np.ones(2)), "2 labels for kernels of 3 rows"),
        (npz(k=A, y=np.ones((3, 1))), r"the labels are an array of shape \(3, 1\)"),
        (npz(k=A, y=np.array([1.0, np.nan, 2.0])), "label 2 is not finite"),
    ],
)
def test_refusals(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_gram(content)


def test_labels_that_stand_for_missing_values(tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    for sign in ("nan", "?", "NA"):
        labels.write_text(f"no\n{sign}\nyes\n")
        with pytest.raises(InputError, match=r"'labels', line 2: a label is missing"):
            read_gram(npz(k=A), labels)
        with pytest.raises(InputError, match="label 3 is missing"):
            read_gram(npz(k=A, y=np.array(["no", "yes", sign])))
        with pytest.raises(InputError, match="label 3 is missing"):
            read_gram(npz(k=A, y=np.array([b"no", b"yes", sign.encode()])))


def test_names_are_shown_in_one_line() -> None:
    named = read_gram(npz(kernels=np.stack((A, B)), names=np.array(["a\x1b[31m\nb", "\u00e9 c"])))
    assert named.names == ("a [31m b", "\u00e9 c")
    with pytest.raises(InputError, match="'names' repeats a name: 'a b'"):
        read_gram(npz(kernels=np.stack((A, B)), names=np.array(["a\nb", "a\tb"])))


def repacked(method: int) -> bytearray:
    """An .npz file of the matrix A, packed in this way."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(npz(k=A))) as plain, zipfile.ZipFile(out, "w", method) as z:
        z.writestr("k.npy", plain.read("k.npy"))
    return bytearray(out.getvalue())


def directory(content: bytearray) -> int:
    """Where the list of an archive's members begins."""
    return content.index(b"PK\x01\x02")


def spoilt(method: int) -> bytes:
    """The packed data overwritten."""
    content = repacked(method)
    begin = 30 + len("k.npy") + (9 if method == zipfile.ZIP_LZMA else 0)
    content[begin : directory(content)] = b"\xff" * (directory(content) - begin)
    return bytes(content)


def with_method_99() -> bytes:
    """Packed in a way that nobody knows."""
    content = repacked(zipfile.ZIP_STORED)
    content[8:10] = content[directory(content) + 10 : directory(content) + 12] = b"\x63\x00"
    return bytes(content)


def encrypted() -> bytes:
    """Marked as locked by a password."""
    content = repacked(zipfile.ZIP_STORED)
    content[6] |= 1
    content[directory(content) + 8] |= 1
    return bytes(content)


DAMAGED = {
    "deflate": spoilt(zipfile.ZIP_DEFLATED),
    "lzma": spoilt(zipfile.ZIP_LZMA),
    "bzip2": spoilt(zipfile.ZIP_BZIP2),
    "stored": spoilt(zipfile.ZIP_STORED),
    "method 99": with_method_99(),
    "encrypted": encrypted(),
    "cut off": npz(k=A)[:-30],
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_and_unusual_archives(content: bytes) -> None:
    with pytest.raises(
        InputError, match=r"damaged or not a plain \.npz|is no NumPy array"
    ) as caught:
        read_gram(content)
    assert "allow_pickle" not in str(caught.value)


class Bomb:
    """Would create a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with pytest.raises(InputError, match="holds Python objects"):
        read_gram(npz(k=np.array([[Bomb(target)]], dtype=object)))
    assert not target.exists()
    with pytest.raises(InputError, match=r"is not an \.npz file"):
        read_gram(pickle.dumps(Bomb(target)))
    assert not target.exists()
