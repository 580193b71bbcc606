"""Rules that no linter knows: names used once, small functions, imports that show the architecture."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import pytest

import penstock
import penstock.passes
import penstock.stages
import penstock_eval
from penstock.stage import Stage

SOURCE = Path(penstock.__file__).parent
EVALUATION = Path(penstock_eval.__file__).parent
TESTS = Path(__file__).parent

MAX_MODULES = 22  # in a folder
MAX_FILE_LINES = 400
MAX_MEDIAN, MAX_P90, MAX_P99 = 7, 17, 32  # lines of functions
# where one kind of input needs a heavy package, its own module is imported inside a function
IMPORT_INSIDE = {
    "sources/file_answers.py", "sources/probe_questions.py", "workers/layout.py", "workers/load.py",
}  # fmt: skip
MAX_IMPORTS_INSIDE = 30  # most of them one in each verb's file
OTHER_WORDS_FOR_BOUNDS = ("MOST_", "LONGEST_", "LEAST_", "FEWEST_", "SMALLEST_", "LARGEST_")
OWN = ("penstock", "penstock_eval")
# tests: waits until something is true; things that are slow, or work on; kills at random moments
MAY_SLEEP = {
    "support/waiting.py", "support/scripted.py", "support/together.py", "evaluation/test_scoring.py",
    "engines/chat/test_hostile_servers.py", "fuzz/uploads.py", "slow/test_kill.py",
}  # fmt: skip
HANGS_S = 600  # who sleeps so long is there to be ended
SECRETS = ("api_key", "password", "token")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[Path, ast.Module]:
    """Every module by its path below penstock; those of the evaluation by that below its source folder."""
    return {path: ast.parse(text) for path, text in texts().items()}


@cache
def texts() -> dict[Path, str]:
    return {
        path.relative_to(below): path.read_text("utf-8")
        for folder, below in ((SOURCE, SOURCE), (EVALUATION, EVALUATION.parent))
        for path in sorted(folder.rglob("*.py"))
    }


@cache
def nodes_by_path() -> dict[Path, list[ast.AST]]:
    """Every node of every module: walking them is most of the work."""
    return {path: list(ast.walk(tree)) for path, tree in trees().items()}


@cache
def nodes() -> list[tuple[Path, ast.AST]]:
    return [(path, node) for path, found in nodes_by_path().items() for node in found]


def nodes_of_tests(word: str) -> list[tuple[str, ast.AST]]:
    """Every node of the tests in which the word stands: few, and parsing all of them takes seconds."""
    return [
        (path.relative_to(TESTS).as_posix(), node)
        for path in sorted(TESTS.rglob("*.py"))
        if re.search(word, text := path.read_text("utf-8"), re.MULTILINE)
        for node in ast.walk(ast.parse(text))
    ]


@cache
def functions() -> list[tuple[Path, Function]]:
    return [(path, node) for path, node in nodes() if isinstance(node, Function)]


def test_a_class_name_is_used_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes[node.name.lstrip("_")].append(str(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_bounds_are_called_max_and_min() -> None:
    names = [f"{path}: {name}" for path, node in nodes() for name in _assigned(node)]
    wrong = [name for name in names if name.split(": ")[1].lstrip("_").startswith(OTHER_WORDS_FOR_BOUNDS)]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """At the top, for types or not: a circle hides which of two modules is below the other."""
    modules = {_module(path): path for path in trees()}
    arrows = {name: _own_imports(name, trees()[path], set(modules)) for name, path in modules.items()}
    assert _circles(arrows) == []


def _module(path: Path) -> str:
    parts = ("penstock", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _own_imports(module: str, tree: ast.Module, known: set[str]) -> set[str]:
    """Returns the modules that a module imports at its top, those under TYPE_CHECKING too."""
    blocks = [node.body for node in tree.body if isinstance(node, ast.If)]
    found: set[str] = set()
    for node in [*tree.body, *(line for block in blocks for line in block)]:
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{name.name}" for name in node.names} & known
            is_only_modules = len(inner) == len(node.names)
            found |= inner if is_only_modules else {node.module, *inner}
    # the package itself only names what it loads when it is used
    return (found & known) - {module, "penstock"}


def _circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Returns what is left when modules that import nothing of the rest are taken away, again and again."""
    left = dict(arrows)
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    while free := [name for name in left if not any(name in targets for targets in left.values())]:
        for name in free:
            del left[name]
    return [sorted(left)] if left else []


def test_own_modules_are_imported_at_the_top_but_for_verbs_and_named_places() -> None:
    inside = [
        f"{path}:{line} in {function}"
        for path, function, line in _own_imports_inside_functions()
        if "cli" not in (path.parts[0], path.stem) and path.as_posix() not in IMPORT_INSIDE
    ]
    assert inside == []


def test_a_verb_imports_what_does_its_work_once() -> None:
    """Where a verb starts is then one line; what it needs stands at the top of that module."""
    inside = [path for path, _, _ in _own_imports_inside_functions() if path.parts[0] != EVALUATION.name]
    assert len(inside) <= MAX_IMPORTS_INSIDE


def test_no_module_of_somebody_else_is_changed() -> None:
    """Other threads and other packages of the program use them, too."""
    allowed = {"engines/image/decode.py"}  # Pillow's documented bound, in the process that only decodes
    changed: list[str] = []
    for path, found in nodes_by_path().items():
        foreign = set() if str(path) in allowed else _foreign_names(found)
        changed += [f"{path}: {name}" for node in found for name in _changed(node) if name in foreign]
    assert changed == []


def _foreign_names(found: list[ast.AST]) -> set[str]:
    """Returns the names by which a module knows what it imports of others."""
    imports = [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]
    return {
        (name.asname or name.name).partition(".")[0]
        for node in imports
        if not _is_own_import(node)
        for name in node.names
    }


def _changed(node: ast.AST) -> Iterator[str]:
    """Yields the names of which a line sets or removes an attribute."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        yield from (node.value.id,) if isinstance(node.value, ast.Name) else ()


def test_tests_use_what_is_public() -> None:
    private = [
        f"{path}:{node.lineno} {name.name}"
        for path, node in nodes_of_tests(r"\bimport .*\b_|^    _\w+,$")
        if isinstance(node, ast.ImportFrom) and _is_own_import(node)
        for name in node.names
        if name.name.startswith("_") and not name.name.startswith("__")
    ]
    assert private == []


def test_no_verdict_of_a_test_rests_on_a_sleep() -> None:
    """A busy machine sleeps longer, and does less meanwhile: tests wait until something is true."""
    sleeping = {
        path for path, node in nodes_of_tests(r"sleep\(") if isinstance(node, ast.Call) and _sleeps(node)
    }
    assert sleeping == MAY_SLEEP


def _sleeps(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    seconds = call.args[0] if call.args else None
    given = seconds.value if isinstance(seconds, ast.Constant) else None
    is_bounded = not isinstance(given, int | float) or 0 < given < HANGS_S
    return bool(name == "sleep" and is_bounded)


def test_folders_stay_narrow() -> None:
    modules = Counter(str(path.parent) for path in trees())
    assert {folder: count for folder, count in modules.items() if count > MAX_MODULES} == {}


def test_files_are_read_in_one_sitting() -> None:
    lines = {str(path): len(text.splitlines()) for path, text in texts().items()}
    lines |= {str(path): len(path.read_text("utf-8").splitlines()) for path in TESTS.rglob("*.py")}
    assert {path: count for path, count in lines.items() if count > MAX_FILE_LINES} == {}


def test_functions_are_paragraphs() -> None:
    lengths = statistics.quantiles([_lines(node) for _, node in functions()], n=100)
    assert lengths[49] <= MAX_MEDIAN
    assert lengths[89] <= MAX_P90
    assert lengths[98] <= MAX_P99


def test_a_stages_name_is_used_once_and_is_its_files_name() -> None:
    names = {stage: stage.name for stage in stages()}
    assert len(set(names.values())) == len(names)
    assert {stage.__module__.rpartition(".")[2] for stage in names} == set(names.values())
    assert all(stage.__module__ == f"penstock.stages.{name}" for stage, name in names.items())


@pytest.mark.parametrize("secret", SECRETS)
def test_no_options_show_a_secret(secret: str) -> None:
    assert [kind for kind in _dataclasses() if secret in _shown(kind)] == []


def test_repr_of_no_stage_shows_a_key() -> None:
    with_secrets = 0
    for stage in stages():
        secrets = {field.name for field in fields(stage) if field.name in SECRETS}
        given = {field.name: "" for field in fields(stage) if field.init and _is_required(field)}
        shown = repr(stage(**given, **dict.fromkeys(secrets, "s3cret")))
        assert "s3cret" not in shown
        with_secrets += bool(secrets)
    assert with_secrets >= 6  # load, recognise_remote, ground, embed, describe_pictures, summarise


def test_no_dataclass_shows_bytes() -> None:
    """A notebook or a log would be full of them."""
    shown = [
        f"{path}: {node.name}.{ast.unparse(field.target)}"
        for path, node in nodes()
        if isinstance(node, ast.ClassDef) and _is_dataclass_node(node)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and _holds_bytes(field) and "repr=False" not in ast.unparse(field)
    ]
    assert shown == []


def _is_dataclass_node(node: ast.ClassDef) -> bool:
    words = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(word.startswith("dataclass") and "repr=False" not in word for word in words)


def _holds_bytes(field: ast.AnnAssign) -> bool:
    return re.search(r"(?<!IO\[)(?<!Popen\[)\bbytes\b", ast.unparse(field.annotation)) is not None


def test_the_stub_has_the_public_names_and_where_they_live() -> None:
    stub = ast.parse((SOURCE / "__init__.pyi").read_bytes())
    homes = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert homes == {name: f"penstock.{module}.{name}" for name, module in penstock._HOMES.items()}  # type: ignore[attr-defined]
    assert sorted([*homes, "__version__"]) == penstock.__all__
    assert all(getattr(penstock, name) is not None for name in penstock.__all__)


def stages() -> list[type[Stage]]:
    """Every stage that ships."""
    return [kind for kind in _dataclasses() if issubclass(kind, Stage)]


@cache
def _dataclasses() -> list[type[Any]]:
    """Every dataclass of `stages` and `passes`, where it is defined."""
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for package in (penstock.stages, penstock.passes)
        for info in pkgutil.iter_modules(package.__path__)
    ]
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__
    ]


def _shown(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind) if field.repr}


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _assigned(node: ast.AST) -> Iterator[str]:
    """The names that a line gives a value to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _own_imports_inside_functions() -> list[tuple[Path, str, int]]:
    """Module, innermost function and line of each, in that order."""
    imports = [(path, node.lineno) for path, node in nodes() if _is_own_import(node)]
    around: dict[Path, list[Function]] = defaultdict(list)
    for path, function in functions():
        around[path].append(function)
    found = []
    for path, line in imports:
        holders = [one for one in around[path] if one.lineno <= line <= (one.end_lineno or one.lineno)]
        if holders:
            found.append((path, max(holders, key=lambda one: one.lineno).name, line))
    return found


def _is_own_import(node: ast.AST) -> TypeGuard[ast.stmt]:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in OWN
    return isinstance(node, ast.Import) and any(name.name.partition(".")[0] in OWN for name in node.names)
