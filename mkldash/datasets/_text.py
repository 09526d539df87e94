"""Bytes of a file to text, or a clear refusal."""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path

from mkldash.errors import InputError

__all__ = ["Source", "decode", "plain_name", "read_bytes", "size_text"]

Source = str | Path | bytes | bytearray | memoryview

_SIGNATURES = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive, such as an Excel workbook or an .npz; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the table as CSV",
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"PAR1": "a Parquet file; save the table as CSV",
    b"\x93NUMPY": "a NumPy array; save the table as CSV",
}
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def plain_name(text: str) -> str:
    """A name that can be shown in one line of any terminal.

    Parameters
    ----------
    text : str
        As it is in a file.

    Returns
    -------
    str
        With a blank for each run of control characters, line ends and
        characters that only steer the display; unchanged when it has none.
    """
    if text.isprintable():
        return text
    steering = ("Cc", "Cf", "Zl", "Zp")
    shown = (" " if unicodedata.category(sign) in steering else sign for sign in text)
    spoilt = any(unicodedata.category(sign) in steering for sign in text)
    return " ".join("".join(shown).split()) if spoilt else text


def size_text(size: int) -> str:
    """A number of bytes for people.

    Parameters
    ----------
    size : int
        Bytes.

    Returns
    -------
    str
        Such as ``"30.0 MB"`` (1 MB is 10^6 bytes).
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def read_bytes(source: Source, name: str | None = None) -> tuple[bytes, str]:
    """Content and name of a file that is given as a path or as its bytes.

    Parameters
    ----------
    source : path or bytes
        Where the content is, or the content.
    name : str, optional
        Name to be shown; by default the path's, without its ending.

    Returns
    -------
    content : bytes
        All of it.
    name : str
        For messages and results.

    Raises
    ------
    InputError
        When the path cannot be read.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), name or "table"
    path = Path(source)
    try:
        return path.read_bytes(), name or path.stem
    except OSError as error:
        reason = "is a folder" if path.is_dir() else (error.strerror or "cannot be read")
        raise InputError(f"the file '{source}' cannot be read: {reason}") from error


def decode(content: bytes, name: str) -> tuple[str, str]:
    """Text of a table, by byte order mark, else UTF-8, else Windows-1252.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        For the message.

    Returns
    -------
    text : str
        Without byte order mark.
    encoding : str
        As Python calls it.

    Raises
    ------
    InputError
        When the content is empty or no text.
    """
    if not content.strip():
        raise InputError(f"'{name}' is empty")
    for signature, kind in _SIGNATURES.items():
        if content.startswith(signature):
            raise InputError(f"'{name}' is not a text table: it is {kind}")
    marked = next((e for bom, e in _BOMS.items() if content.startswith(bom)), None)
    for encoding in (marked,) if marked else ("utf-8", "cp1252", "latin-1"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if found := _CONTROL.search(text):
            raise InputError(
                f"'{name}' is not a text table: it holds the control character "
                f"{found.group()!r} at position {found.start()}"
            )
        if not text.strip():
            raise InputError(f"'{name}' is empty")
        return text, encoding
    raise InputError(f"'{name}' is not a text table: its {marked} text is broken")
