"""What the library says in command-line words, said in the page's."""

import pytest

from mkldash.apps.phrases import for_page


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("choose one class with --positive LABEL, or --label COLUMN",
         "choose one class with “Class that counts as +1”, or “Label column”"),
        ("drop it with --exclude city, or stop",
         "drop it with “Text columns: leave out”, or stop"),
        ("take --solver level or cgd, or --bank single",
         "take “Solver: level” or cgd, or “Kernels: single”"),
        ("say `--no-header`", "say “First line holds names: no”"),
        ("leave these out with --missing drop",
         "leave these out with “Missing values: drop the rows”"),
        ("use --one-hot a b, or leave it", "use “Text columns: one column per value”, or leave it"),
        ("use --bank linear or --train-fraction 0.1",
         "use “Kernels: linear” or a smaller “Share of rows that train”"),
        ("the bank needs 65 GB (65,000,000,000 bytes) now", "the bank needs 65 GB now"),
        ("nothing of that kind", "nothing of that kind"),
    ],
)  # fmt: skip
def test_options_become_controls(said, shown):
    assert for_page(said) == shown


def test_no_option_of_the_command_line_is_left_in_the_messages_of_the_readers():
    """Every option that a message of datasets/ or kernels/ names has words of the page."""
    import re
    from pathlib import Path

    import mkldash

    root = Path(mkldash.__file__).parent
    named = set()
    for folder in ("datasets", "kernels", "experiments"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            named |= set(re.findall(r"--[a-z][a-z-]+(?: [A-Z]+| drop| mean| linear)?", text))
    takes = ("--one-hot", "--label", "--exclude")  # followed by the name of a column there
    sentences = {f"{n} COLUMN" if n in takes else n for n in named}
    unsaid = {sentence for sentence in sentences if "--" in for_page(sentence)}
    assert unsaid <= {"--gram FILE", "--labels FILE", "--rows FILE", "--normalize", "--rows",
                      "--gram", "--labels", "--seed", "--no-standardize",
                      "--out FOLDER"}, unsaid  # fmt: skip
