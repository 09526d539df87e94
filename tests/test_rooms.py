"""House rules: what every file of the project keeps."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import mkldash

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mkldash"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def public_modules() -> list[str]:
    names = [info.name for info in pkgutil.walk_packages(mkldash.__path__, "mkldash.")]
    return [name for name in names if not any(part.startswith("_") for part in name.split(".")[1:])]


def tracked_files() -> list[Path]:
    """Files of the project; those of the folder where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    rooms = ("mkldash", "tests", "benchmarks", "notebooks", "data", "docs")
    return [path for room in rooms for path in (ROOT / room).rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ruff", "check", "."), id="ruff check"),
        pytest.param(("ruff", "format", "--check", "."), id="ruff format"),
        pytest.param(("mypy",), id="mypy"),
    ],
)
def test_the_linters_find_nothing(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr


def test_imports_point_one_way_and_graphics_stay_in_their_rooms() -> None:
    script = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stray_graphics_import_would_be_found(tmp_path: Path) -> None:
    stray = tmp_path / "mkldash" / "solvers" / "stray.py"
    stray.parent.mkdir(parents=True)
    stray.write_text("import panel\n\nprint(panel)\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    done = run("ruff", "check", "--output-format", "concise", str(tmp_path))
    assert "TID251 `panel` is banned" in done.stdout
    assert "T201" in done.stdout


def test_algorithms_do_not_import_each_other() -> None:
    from mkldash.solvers import available_solvers

    graph = grimp.build_graph("mkldash")
    homes = {kind.__module__ for kind in available_solvers().values()}
    assert homes
    for home in homes:
        assert not graph.find_modules_directly_imported_by(home) & homes, home


def test_importing_mkldash_loads_no_graphics_and_compiles_nothing() -> None:
    heavy = ("bokeh", "holoviews", "numba", "panel", "panel_material_ui", "param", "sklearn")
    code = f"import mkldash, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_room_but_views_and_apps_loads_graphics() -> None:
    rooms = [n for n in public_modules() if n.split(".")[1] not in ("apps", "views", "cli")]
    code = (
        "import importlib, sys\n"
        f"for name in {rooms!r}: importlib.import_module(name)\n"
        "print([m for m in ('bokeh', 'holoviews', 'panel', 'param') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_MODULE
    long = {
        node.name: lines_of_code(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and lines_of_code(node) > LONGEST_FUNCTION
    }
    assert long == {}


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end; the docstring, which may be long, does not count."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        said = function.body[0]
        assert said.end_lineno is not None
        lines -= said.end_lineno - said.lineno + 1
    return lines


def public_things() -> Iterator[tuple[str, object]]:
    """Every public module, class, function and method defined in the package."""
    for name in public_modules():
        module = importlib.import_module(name)
        yield name, module
        for attribute in getattr(module, "__all__", ()):
            thing = getattr(module, attribute)
            if getattr(thing, "__module__", "").startswith("mkldash"):
                yield f"{name}.{attribute}", thing
                if inspect.isclass(thing):
                    yield from public_members(f"{name}.{attribute}", thing)


def public_members(prefix: str, kind: type) -> Iterator[tuple[str, object]]:
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if inspect.isfunction(member) or isinstance(member, property):
            yield f"{prefix}.{name}", member


def test_everything_public_says_what_it_is() -> None:
    silent = [name for name, thing in public_things() if not inspect.getdoc(thing)]
    assert silent == []


def test_every_public_module_lists_what_is_public() -> None:
    without = [
        name
        for name in public_modules()
        if not hasattr(importlib.import_module(name), "__all__")
        and not hasattr(importlib.import_module(name), "__path__")
    ]
    assert without == []


def test_public_functions_are_annotated() -> None:
    bare = []
    for name, thing in public_things():
        function = thing.fget if isinstance(thing, property) else thing
        if inspect.isfunction(function):
            signature = inspect.signature(function)
            given = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
            if any(p.annotation is p.empty for p in given):
                bare.append(name)
            elif signature.return_annotation is signature.empty:
                bare.append(name)
    assert bare == []


def pieces(*halves: tuple[str, str]) -> re.Pattern[str]:
    """Any of the words, spelt in halves so that this file does not find itself."""
    return re.compile("|".join(first + second for first, second in halves))


UNFINISHED = pieces(("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("NotImplemented", "Error"))
GIVEN_UP = pieces((r"mark\.sk", "ip"), (r"mark\.xf", "ail"), ("--re", "runs"))
MACHINE = pieces(
    ("/ro", "ot/"), ("/wo", "rk/"), ("/ho", "me/"), ("pyp", r"i\.org"), ("deb", r"ian\.org")
)
TEXT = {".py", ".md", ".toml", ".ipynb", ".txt", ".cfg", ".yml", ".yaml", "", ".css", ".js"}


@pytest.mark.parametrize(
    "pattern", [UNFINISHED, GIVEN_UP, MACHINE], ids=["unfinished", "given up", "one machine"]
)
def test_no_file_holds_unfinished_marks_or_places_of_one_machine(pattern: re.Pattern[str]) -> None:
    found = []
    for path in tracked_files():
        if path.suffix in TEXT and path.is_file():
            text = path.read_text(encoding="utf-8")
            found += [f"{named(path)}: {match.group()}" for match in pattern.finditer(text)]
    assert found == []
