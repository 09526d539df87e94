"""The eight-row table T8 in the dialects of the public reports."""

T8_PLAIN = b"""size,weight,label
1.5,1200,no
2.5,1350,no
2,980,no
3.5,2100,yes
4,1750,no
5.5,2600,yes
5,1900,yes
6.5,3050,yes
"""
T8_NO_HEADER = T8_PLAIN.partition(b"\n")[2]
T8_SEMICOLON = T8_PLAIN.replace(b",", b";").replace(b".", b",")
T8_QUESTION_MARK = T8_PLAIN.replace(b"\n5,1900", b"\n?,1900")
T8_SINGLE_CLASS = T8_PLAIN.replace(b",no", b",yes")


def _bom() -> bytes:
    rows = [line.split(b",") for line in T8_PLAIN.split()]
    return b"\xef\xbb\xbf" + b"\n".join(b",".join((c, a, b)) for a, b, c in rows) + b"\n"


T8_BOM = _bom()


def with_column(name: str, values: list[str]) -> bytes:
    """T8 with one more column after the first."""
    rows = [line.split(b",") for line in T8_PLAIN.split()]
    cells = [item.encode() for item in (name, *values)]
    return b"\n".join(b",".join((a, x, b, c)) for (a, b, c), x in zip(rows, cells, strict=True))


T8_CONSTANT = with_column("zero", ["0"] * 8)
T8_TEXT = with_column("colour", ["red", "blue"] * 4)
