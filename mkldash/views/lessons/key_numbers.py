"""Numbers that a notebook stands for: shown to the reader, read by the tests."""

from __future__ import annotations

__all__ = ["KEY_TYPE", "key_number"]

#: Entry of an output's metadata that holds the name of a key number.
KEY_TYPE = "mkldash-key"


def key_number(name: str, value: float, form: str = ".6f") -> None:
    """Show a number under a name that tests can find.

    Parameters
    ----------
    name : str
        Unique within the notebook.
    value : float
    form : str
        Format of the digits that count.
    """
    from IPython.display import display

    digits = format(value, form)
    bundle = {"text/plain": f"{name} = {digits}"}
    display(bundle, raw=True, metadata={KEY_TYPE: {"name": name, "digits": digits}})
