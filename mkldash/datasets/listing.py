"""The list of shipped data sets as a table for people (data/README.md)."""

from __future__ import annotations

from collections.abc import Mapping

from mkldash.datasets.base import DataCard

__all__ = ["readme_table"]


def readme_table(cards: Mapping[str, DataCard]) -> str:
    """The cards as one Markdown table.

    Parameters
    ----------
    cards : Mapping
        From name to card, as `mkldash.datasets.cards.available` gives them.

    Returns
    -------
    str
        Lines of the table, header first; data/README.md holds exactly these.
    """
    head = (
        "name",
        "rows",
        "columns",
        "target",
        "source",
        "source licence",
        "citation",
        "licence",
        "sha256",
    )
    rows = [head, ("---",) * len(head)]
    for card in cards.values():
        table = f"`{card.sha256}` {card.table}" if card.table else "generated"
        if card.mask is not None:
            table += f"; rows marked in {card.mask.table}: `{card.mask.sha256}`"
        rows.append(
            (
                card.name,
                f"{card.rows:,}",
                str(card.columns),
                card.meaning,
                card.source,
                card.source_licence,
                card.citation,
                card.licence,
                table,
            )
        )
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows
    )
