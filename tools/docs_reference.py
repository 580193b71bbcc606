"""Writes docs/reference/*.md from the command line's `--help` and from docstrings.

    python tools/docs_reference.py docs/reference

The pages are made when the site is built and are not kept in git.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

import http_reference
import option_types
import penstock
import penstock.stages
from penstock.cli.app import VERBS, app
from penstock.options.option import Option
from penstock.recipes import RECIPES

WIDTH = "100"  # columns of the help texts
NOT_FOR_USERS = frozenset({"fake"})
ABOUT_HTTP = """Answers are JSON unless a path says otherwise; errors are JSON with `error` and `advice`.
Where the service has keys, send one: `Authorization: Bearer KEY`.
A service describes itself to programs at `/openapi.json`."""
COMMON = frozenset(field.name for field in dataclasses.fields(penstock.Stage))


def write(folder: Path) -> None:
    """Makes every page; a file whose text is the same is left alone, so that `mkdocs serve` rests."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"commands": commands(), "python": python(), "recipes": recipes(), "http": http()}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def commands() -> str:
    parts = ["# Commands", "What `penstock VERB --help` prints.", _help()]
    for verb in VERBS:
        parts += [f"## penstock {verb}", _help(verb)]
        parts += [
            part for name in _below(verb) for part in (f"### penstock {verb} {name}", _help(verb, name))
        ]
    return _page(parts)


def python() -> str:
    """The names of `penstock.__all__`, functions first."""
    things = {name: getattr(penstock, name) for name in penstock.__all__ if not name.startswith("__")}
    functions = {name: thing for name, thing in things.items() if inspect.isroutine(thing)}
    classes = {name: thing for name, thing in things.items() if name not in functions}
    parts = ["# Python", _doc(penstock), "## Functions"]
    parts += [part for name, thing in functions.items() for part in _entry(f"penstock.{name}", thing)]
    parts.append("## Classes")
    parts += [part for name, thing in classes.items() for part in _entry(f"penstock.{name}", thing)]
    parts += ["## Options", "What `**options` stands for, by its name in a signature. All may be left out."]
    parts += [part for kind in option_types.kinds() for part in _options(kind)]
    errors = importlib.import_module("penstock.errors")
    return _page([*parts, "## Errors", f"```text\n{inspect.getdoc(errors)}\n```"])


def _options(kind: option_types.Kind) -> list[str]:
    """The rows of one typed dictionary: name, type, what it does, and for which recipes."""
    base = "" if kind.base == "TypedDict" else f" It has those of `{kind.base}`, too."
    rows = [
        f"| `{one.name}` | `{_in_cell(option_types.type_text(one.type))}` | {_in_cell(_about(one))} |"
        for one in kind.options
    ]
    return [
        f"### {kind.name}",
        f"{kind.about}{base}",
        "\n".join(["| option | type | what it does |", "|---|---|---|", *rows]),
    ]


def _about(option: Option) -> str:
    default = "" if option.default in (None, (), "") else f" Default: {option.default}."
    recipes = f" For {', '.join(option.recipes)}." if option.recipes else ""
    return f"{option.help}{default}{recipes}"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def http() -> str:
    return _page(["# HTTP API", ABOUT_HTTP, http_reference.http_reference()])


def recipes() -> str:
    parts = [
        "# Recipes and stages",
        "A recipe is a function that returns a plan; its parameters are the options.",
    ]
    for name, home in RECIPES.items():
        if name not in NOT_FOR_USERS:
            module, function = home.split(":")
            parts += _entry(name, getattr(importlib.import_module(module), function))
    parts += [
        "## Stages",
        f"A stage also has the fields of `penstock.Stage`: {', '.join(sorted(COMMON))}.",
    ]
    for stage in _stages():
        parts += _entry(f"{stage.__module__}.{stage.__name__}", stage)
    return _page(parts)


def _help(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--help"], prog_name="penstock", env=_plain())
    if done.exit_code:
        raise RuntimeError(f"penstock {' '.join(words)} --help: {done.output}")
    return f"```text\n{done.stdout.strip()}\n```"


def _plain() -> dict[str, str]:
    return {**os.environ, "COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}


def _below(verb: str) -> list[str]:
    """The verbs of a verb: start, status and stop of engine."""
    thing = VERBS[verb].load()
    return list(typer.main.get_command(thing).commands) if isinstance(thing, typer.Typer) else []  # type: ignore[attr-defined]


def _stages() -> list[type[penstock.Stage]]:
    found: dict[str, type[penstock.Stage]] = {}
    for place in pkgutil.iter_modules(penstock.stages.__path__, "penstock.stages."):
        for _, thing in inspect.getmembers(importlib.import_module(place.name), inspect.isclass):
            if (
                issubclass(thing, penstock.Stage)
                and thing.__module__ == place.name
                and hasattr(thing, "name")
            ):
                found[f"{thing.__module__}.{thing.__name__}"] = thing
    return [found[name] for name in sorted(found)]


def _entry(name: str, thing: Any) -> list[str]:
    short = name.rsplit(".", 1)[-1]
    parts = [f"### {name}", f"```python\n{_signature(short, thing)}\n```", _doc(thing)]
    return [*parts, _members(thing)] if inspect.isclass(thing) else parts


def _members(thing: type) -> str:
    """A line for each method and property that says what it does, and that no base class has said."""
    own = {name: member for name, member in vars(thing).items() if not name.startswith("_")}
    told = {name: inspect.getdoc(_unwrapped(member)) for name, member in own.items() if _is_told(member)}
    return "\n".join(
        f"- `{name}{_arguments(own[name])}`: {' '.join(text.split())}" for name, text in told.items() if text
    )


def _is_told(member: Any) -> bool:
    return isinstance(member, (property, functools.cached_property)) or inspect.isfunction(member)


def _unwrapped(member: Any) -> Any:
    return getattr(member, "func", getattr(member, "fget", member))


def _arguments(member: Any) -> str:
    if not inspect.isfunction(member):
        return ""
    parameters = list(inspect.signature(member).parameters.values())[1:]
    return f"({', '.join(_parameter(parameter) for parameter in parameters)})"


def _signature(name: str, thing: Any) -> str:
    """A function as it is called, a dataclass with its fields, another class by its name."""
    if dataclasses.is_dataclass(thing):
        fields = [_field(field) for field in dataclasses.fields(thing) if _is_shown(field.name, thing)]
        return (
            "\n".join([f"class {name}:", *(f"    {field}" for field in fields)])
            if fields
            else f"class {name}"
        )
    if inspect.isclass(thing):
        return f"class {name}"
    return _broken(name.replace("-", "_"), inspect.signature(thing))


def _is_shown(name: str, thing: Any) -> bool:
    return not name.startswith("_") and not _is_common(name, thing)


def _is_common(name: str, thing: Any) -> bool:
    """Whether every stage has it: `penstock.Stage` lists it once for all."""
    return thing is not penstock.Stage and issubclass(thing, penstock.Stage) and name in COMMON


def _field(field: dataclasses.Field[Any]) -> str:
    kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    return f"{field.name}: {kind}" + ("" if field.default is dataclasses.MISSING else f" = {field.default!r}")


def _broken(name: str, signature: inspect.Signature) -> str:
    """A line a parameter."""
    parameters = list(signature.parameters.values())
    lines = [f"    {_parameter(parameter)}," for parameter in parameters]
    keyword = next((i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
    if keyword is not None:
        lines.insert(keyword, "    *,")
    back = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    return "\n".join([f"def {name}(", *lines, f"){back}"])


def _parameter(parameter: inspect.Parameter) -> str:
    """As it stands in the source: an annotation is a string there, for modules postpone them."""
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}{kind}{default}"


def _doc(thing: Any) -> str:
    """The docstring, which is Markdown: an indented example is a code block."""
    return inspect.getdoc(getattr(thing, "func", thing)) or ""  # a recipe may be a partial of a function


def _page(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
