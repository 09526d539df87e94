"""Table, figures and report say what the records say."""

from __future__ import annotations

import html
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.comparison_figures import figure_svg, gap_curve
from mkldash.experiments.comparison_report import report_html, write_report
from mkldash.experiments.comparison_table import Middle, group_results, table_rows
from mkldash.experiments.measuring import asked
from mkldash.experiments.running import run_sweep
from mkldash.experiments.svg_axes import line_style
from mkldash.experiments.sweep import Run, Sweep

#: Tags that a page needs not close.
VOID = {"meta", "br", "line", "path", "circle", "rect"}


def ran(
    seconds: float, *, eta: float = 0.5, repeat: int = 0, status: str = "converged", **more: Any
) -> dict[str, Any]:
    """A record as a run leaves it."""
    solver = more.pop("solver", "block-coordinate")
    chosen = Choices(data=more.pop("data", "golden"), solver=solver, eta=eta, seed=repeat)
    trace = {
        "iteration": [0, 1, 2], "inner_solves": [1, 2, 4],
        "seconds": [seconds / 4, seconds / 2, seconds],
        "upper": [4.0, 2.0, 1.001], "lower": [None, 1.0, 1.0],
    }  # fmt: skip
    return asked(Run(choices=chosen, repeat=repeat)) | {
        "status": status, "n_train": 12, "n_test": 8, "n_kernels": 4, "upper": 1.001,
        "lower": 1.0, "gap": 1e-3, "iterations": 2, "inner_solves": 4, "seconds": seconds,
        "bank_seconds": 0.01, "active_kernels": 3, "test_score": 0.75, "trace": trace, "jobs": 1,
        **more,
    }  # fmt: skip


def unsupported() -> dict[str, Any]:
    choices = Choices(data="golden", solver="mirror-descent")
    return asked(Run(choices=choices)) | {"status": "unsupported", "reason": "is for <numbers>"}


class Balanced(HTMLParser):
    """Fails on a tag that is closed wrongly; keeps what would be fetched."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def test_median_and_range_are_over_the_repeats_that_ran() -> None:
    results = [ran(s, repeat=k) for k, s in enumerate((0.3, 0.1, 0.2))]
    results.append(ran(9.0, repeat=3, status="failed", reason="broke"))
    (group,) = group_results(results)
    assert group.middles["seconds"] == Middle(0.2, 0.1, 0.3)
    assert (group.converged, len(group.results), len(group.ran)) == (3, 4, 3)
    assert group.middles["test_mse"] is None


def test_settings_name_what_varies_in_the_order_of_its_values() -> None:
    results = [ran(0.1, eta=eta, repeat=k) for eta in (1.0, 0.0) for k in (1, 0)]
    groups = group_results(results)
    assert [group.setting for group in groups] == ["eta 0", "eta 1"]
    assert [r["repeat"] for r in groups[0].results] == [0, 1]
    assert group_results(results[:1])[0].setting == ""


def test_the_table_has_one_row_a_run_and_scalars_only() -> None:
    columns, rows = table_rows([ran(0.1), unsupported()])
    assert columns[:8] == ["id", "label", "data", "problem", "solver", "title", "eta", "C"]
    assert {"status", "reason", "gap", "seconds", "version_numba"} <= set(columns)
    assert len(columns) == len(set(columns))
    assert {type(value) for row in rows for value in row} <= {str, int, float, type(None)}
    assert dict(zip(columns, rows[1], strict=True))["gap"] is None


def test_a_curve_is_the_median_of_what_the_repeats_have_reached() -> None:
    fast, slow = ran(1.0)["trace"], ran(4.0)["trace"]
    curve = gap_curve([fast, fast, slow], "seconds", name="it", style=0)
    assert curve is not None
    np.testing.assert_allclose(curve.x, [0.25, 0.5, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(curve.median, [math.inf, 1.0, 1e-3, 1e-3, 1e-3], rtol=1e-9)
    np.testing.assert_allclose(curve.most, [math.inf, math.inf, math.inf, 1.0, 1e-3], rtol=1e-9)
    assert curve.end == 1.0
    assert curve.words == "it: 3 runs, median of 1 seconds to a gap of 0.001"
    assert gap_curve([unsupported()["trace"]], "seconds", name="it", style=0) is None


def test_long_traces_are_drawn_with_few_points() -> None:
    n = 400
    trace = {"iteration": list(range(n)), "upper": [1 + 1 / (k + 1) for k in range(n)],
             "lower": [1.0] * n}  # fmt: skip
    curve = gap_curve([trace], "iteration", name="it", style=0, points=40)
    assert curve is not None
    assert 20 < len(curve.x) <= 41
    assert (curve.x[0], curve.x[-1]) == (0, n - 1)
    np.testing.assert_allclose(curve.median, 1 / (curve.x + 1))


@pytest.mark.parametrize("counts", [True, False])
def test_zeros_infinities_and_nothing_can_be_drawn(counts: bool) -> None:
    along = "iteration" if counts else "seconds"
    place = {"iteration": [0, 1, 2], "seconds": [0.0, 0.1, 0.2]}
    zero = {**place, "upper": [3.0, 2.0, 1.0], "lower": [None, 1.0, 1.0]}
    never = {**place, "upper": [3.0, 2.0, 1.0], "lower": [None, None, -1.0]}
    far = {"iteration": [0, 900], "seconds": [0.1, 90.0], "upper": [3.0, 2.0], "lower": [1.0, 1.0]}
    for traces in ([], [zero], [never], [zero, never, far]):
        curves = [gap_curve([t], along, name="a<b", style=k) for k, t in enumerate(traces)]
        picture = figure_svg([c for c in curves if c is not None], along, counts=counts, tol=1e-3)
        Balanced(picture)
        assert not re.search(r"nan|inf[^i]", re.sub(r"<title>.*?</title>|aria-label=\"[^\"]*\"",
                                                    "", picture))  # fmt: skip
        assert ("a gap of zero" in picture) == (zero in traces)
        places = [float(n) for path in re.findall(r' d="([^"]+)"', picture)
                  for n in re.findall(r"-?[\d.]+", path)]  # fmt: skip
        assert all(-5 <= value <= 400 for value in places)


def test_no_two_of_many_lines_look_alike() -> None:
    assert len({line_style(k) for k in range(24)}) == 24


def test_the_report_tells_everything_and_asks_for_nothing() -> None:
    results = [ran(s, eta=eta, repeat=k) for eta in (0.0, 1.0) for k, s in enumerate((3.0, 1.0))]
    results += [unsupported(), ran(0.2, repeat=2, status="failed", reason="the lights went out")]
    sweep = {"runs": 9, "command": "mkldash compare <golden>", "settings": {"data": ["golden"]}}
    page = report_html(sweep, results)
    assert Balanced(page).fetched == []
    assert not re.search(r"https?:|url\(|@import|fetch\(", page)
    text = " ".join(html.unescape(re.sub("<[^>]+>", " ", page)).split())
    for words in (
        "6 of 9 runs: 4 converged, 1 not supported by the solver, 1 failed",
        "This comparison is not finished",
        "mkldash compare <golden>",
        "12 training rows, 8 test rows, 4 kernels",
        "2 s 1 s – 3 s",
        "75.0 %",
        "is for <numbers>",
        "the lights went out",
        "Seeds of the splits: 0, 1, 2.",
        "The runs came one after the other.",
    ):
        assert words in text, words
    assert page.count("<figure>") == 6


def test_runs_side_by_side_and_other_versions_are_said() -> None:
    results = [ran(1.0, jobs=4), ran(1.0, repeat=1) | {"versions": {"mkldash": "0"}}]
    page = report_html({"runs": 2}, results)
    assert "Up to 4 runs went side by side" in page
    assert "other work" not in page
    assert "under different versions" in page
    assert "not finished" not in page


def test_a_crowded_machine_is_said() -> None:
    page = report_html({"runs": 1}, [ran(1.0, load=7.5, cores=2)])
    assert "other work too (1 of 1 runs, a load of up to 7.5 on 2 cores)" in page


def test_a_folder_without_a_run_has_a_report_too() -> None:
    page = report_html({"runs": 3, "settings": {}}, [])
    Balanced(page)
    assert "0 of 3 runs: none yet" in page


def test_a_large_report_stays_small() -> None:
    n = 300
    trace = {
        name: [k * 0.01 for k in range(n)] for name in ("iteration", "inner_solves", "seconds")
    } | {"upper": [1 + 1 / (k + 1) for k in range(n)], "lower": [1.0] * n}
    results = [ran(1.0, eta=k / 250, trace=trace) for k in range(251)]
    page = report_html({"runs": len(results)}, results)
    assert len(page) < 5_000_000
    assert "Only the first 240 settings are drawn" in page
    assert "eta 1" in page


def test_a_report_is_written_from_a_folder(tmp_path: Path) -> None:
    sweep = Sweep.of_grid(["golden"], ["block-coordinate", "mirror-descent"])
    run_sweep(sweep, tmp_path, jobs=1)
    path = write_report(tmp_path)
    assert path.name == "report.html"
    assert "Block-coordinate descent" in path.read_text(encoding="utf-8")
    assert not list(tmp_path.glob("*.new"))
