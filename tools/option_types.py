"""Writes src/penstock/options/typed.py: the options as typed dictionaries, which type checkers can read.

    python tools/option_types.py          writes the file

A test compares the file with what the table says now.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ForwardRef, Literal, Union, get_args, get_origin

from penstock.options.option import Option, without
from penstock.options.passes import EMBED_PYTHON, EMBED_RUN, ENRICH, EXTRACT
from penstock.options.photos import MESH, PHOTO_READING, SAID, SAME_ROOM
from penstock.options.reading import READING
from penstock.options.running import EXECUTOR, KEEPING, LISTING, PAGES, PLANNING, PRICE, RECIPE

FILE = Path(__file__).parent.parent / "src" / "penstock" / "options" / "typed.py"
HEAD = '''"""The options as editors complete them in Python. Written by tools/option_types.py; do not edit.

What each means: `penstock parse --help` and its like. A recipe takes the options that it has a parameter for
and refuses the others by name.
"""

from __future__ import annotations
'''


@dataclass(frozen=True, slots=True)
class Kind:
    """One typed dictionary."""

    name: str
    about: str
    options: Sequence[Option]
    base: str = "TypedDict"


def kinds() -> list[Kind]:
    """Returns the typed dictionaries, each after its base."""
    photos = (*PHOTO_READING, MESH)
    volumes = (*SAID, SAME_ROOM, EXECUTOR, *without(KEEPING, "keep_downloads"))
    return [
        Kind("ParseSettings", "Options of the recipes for pages.", READING),
        Kind("ReaderSettings", "Options of a `Reader`.", (EXECUTOR,), "ParseSettings"),
        Kind("ConvertSettings", "Options of `convert`.", (RECIPE, PAGES), "ReaderSettings"),
        Kind("RunSettings", "Options of `parse`.", (*LISTING, *KEEPING, PRICE), "ConvertSettings"),
        Kind("PlanningSettings", "Options of `plan_run`.", (*LISTING, PRICE, *PLANNING), "ConvertSettings"),
        Kind("EnrichSettings", "The fields of `EnrichOptions`.", ENRICH),
        Kind("ExtractSettings", "The fields of `ExtractOptions`.", EXTRACT),
        Kind("EmbedSettings", "The fields of `EmbedOptions`.", (*EMBED_RUN, *EMBED_PYTHON)),
        Kind("PhotoSettings", "Options of the recipe for photos.", photos),
        Kind("VolumesSettings", "Options of `volumes`.", volumes, "PhotoSettings"),
    ]


def typed_text() -> str:
    """Returns the text of the file."""
    found = kinds()
    used: dict[str, set[str]] = {"typing": {"TypedDict"}}
    blocks = [_class(kind, used) for kind in found]
    return "\n".join([HEAD, *_imports(used), "", *blocks])


def type_text(kind: Any) -> str:
    """Returns a type as a module writes it."""
    return _source(kind, {"typing": set()})


def _class(kind: Kind, used: dict[str, set[str]]) -> str:
    lines = [f"    {option.name}: {_source(option.type, used)}" for option in kind.options]
    return "\n".join(
        ["", f"class {kind.name}({kind.base}, total=False):", f'    """{kind.about}"""', "", *lines, ""]
    )


def _source(kind: Any, used: dict[str, set[str]]) -> str:
    """Returns a type as a module writes it, and notes what it has to import."""
    origin, parts = get_origin(kind), get_args(kind)
    if isinstance(kind, ForwardRef):
        module, _, name = kind.__forward_arg__.rpartition(".")
        used.setdefault(module, set()).add(name)
        return name
    if kind is NoneType or kind is None:
        return "None"
    if origin in (Union, UnionType):
        return " | ".join(_source(part, used) for part in parts)
    if origin is Literal:
        used["typing"].add("Literal")
        return f"Literal[{', '.join(_quoted(part) for part in parts)}]"
    name = _name(origin or kind, used)
    inside = ", ".join("..." if part is Ellipsis else _source(part, used) for part in parts)
    return f"{name}[{inside}]" if inside else name


def _name(kind: Any, used: dict[str, set[str]]) -> str:
    name = str(getattr(kind, "__name__", None) or kind._name)
    if kind.__module__ != "builtins":
        used.setdefault(kind.__module__.removesuffix("._local"), set()).add(name)
    return name


def _quoted(word: object) -> str:
    return f'"{word}"' if isinstance(word, str) else repr(word)


def _imports(used: dict[str, set[str]]) -> Iterable[str]:
    """Yields the imports: those of ours only for type checkers, which costs a run nothing."""
    ours = sorted(module for module in used if module.startswith("penstock"))
    for module in sorted(set(used) - set(ours)):
        names = used[module] | ({"TYPE_CHECKING"} if module == "typing" and ours else set())
        yield f"from {module} import {', '.join(sorted(names, key=_in_order))}"
    if ours:
        yield "\nif TYPE_CHECKING:"
        yield from (f"    from {module} import {', '.join(sorted(used[module]))}" for module in ours)


def _in_order(name: str) -> tuple[bool, str]:
    return not name.isupper(), name  # constants first, as ruff sorts them


if __name__ == "__main__":
    FILE.write_text(typed_text(), "utf-8")
    sys.stdout.write(f"{FILE}\n")
