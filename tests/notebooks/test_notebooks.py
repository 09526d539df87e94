"""Cases N01 and N03: every notebook runs from a clean kernel, alone, and stays small."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from tests.notebooks._execute import ROOT, execute

Run = Callable[[Path], nbformat.NotebookNode]

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
COMMITTED, EXECUTED, ONE_OUTPUT = 200_000, 2_000_000, 500_000


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def source(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def executed(source: Path, run_once: Run) -> nbformat.NotebookNode:
    return run_once(source)


@pytest.fixture(scope="module")
def repeated(source: Path, tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    return execute(source, tmp_path_factory.mktemp("twice"), times=2)


def code(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def watched(notebook: nbformat.NotebookNode) -> dict[str, list[str]]:
    return json.loads(code(notebook)[-1].outputs[0].text)


def shown(cell: nbformat.NotebookNode) -> list[object]:
    """What a reader sees of a cell's outputs: everything but counters, and digits of times."""
    seen = [(o.get("text"), o.get("data"), o.get("metadata")) for o in cell.outputs]
    if "clock" in cell.metadata.get("tags", []):
        assert not [data for _, data, _ in seen if data and "image/png" in data]
        return [re.sub(r"\d+", "#", json.dumps(part)) for part in seen]
    return list(seen)


class TestCommitted:
    def test_is_small_and_has_no_outputs(self, source: Path) -> None:
        assert source.stat().st_size < COMMITTED
        for cell in code(nbformat.read(source, as_version=4)):
            assert cell.outputs == []
            assert cell.execution_count is None

    def test_is_a_valid_notebook_for_any_python_kernel(self, source: Path) -> None:
        notebook = nbformat.read(source, as_version=4)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3"
        assert len({cell["id"] for cell in notebook.cells}) == len(notebook.cells)


@pytest.mark.notebook
@pytest.mark.slow
class TestExecuted:
    def test_runs_in_order_without_an_error_or_a_warning(
        self, executed: nbformat.NotebookNode
    ) -> None:
        cells = code(executed)
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        for cell in cells:
            assert not [o for o in cell.outputs if o.output_type == "error"]
            assert not [o.text for o in cell.outputs if o.get("name") == "stderr"]

    def test_asks_the_network_for_nothing(self, executed: nbformat.NotebookNode) -> None:
        assert watched(executed)["asked"] == []

    def test_changes_no_kernel_in_place(self, executed: nbformat.NotebookNode) -> None:
        found = watched(executed)
        assert found["watched"]
        assert found["changed"] == []

    def test_stays_small_and_loads_no_script(self, executed: nbformat.NotebookNode) -> None:
        assert len(nbformat.writes(executed)) < EXECUTED
        for cell in code(executed):
            for output in cell.outputs:
                assert len(json.dumps(output)) < ONE_OUTPUT
                data = output.get("data", {})
                assert not [kind for kind in data if "javascript" in kind or "html" in kind]

    def test_pictures_have_words(self, executed: nbformat.NotebookNode) -> None:
        pictures = [
            output
            for cell in code(executed)
            for output in cell.outputs
            if "image/png" in output.get("data", {})
        ]
        assert pictures
        for picture in pictures:
            said = picture.data["text/plain"]
            assert len(said) > 40
            assert picture.metadata["image/png"]["alt"] == said

    def test_a_cell_run_twice_shows_the_same(self, repeated: nbformat.NotebookNode) -> None:
        cells = code(repeated)[1:-1]
        assert len(cells) % 2 == 0
        for first, second in zip(cells[::2], cells[1::2], strict=True):
            assert first.source == second.source
            assert shown(first) == shown(second), first.source
        assert watched(repeated)["changed"] == []
        assert watched(repeated)["asked"] == []
