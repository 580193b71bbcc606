"""One option, and how given values become a recipe's own terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from penstock.errors import UsageError

Group = Literal["Input", "Reading", "Output", "Servers", "Running"]
GROUPS: tuple[Group, ...] = get_args(Group)

AUTO = ("auto",)
DOCUMENTS = ("documents", *AUTO)
REGIONS = ("glm-ocr", "paddleocr-vl", "openai")
GROUNDED = ("grounded", "grounded-2")
MODEL_RECIPES = (*REGIONS, *GROUNDED)
SERVED = (*AUTO, *MODEL_RECIPES)  # that ask a server whose address is given
RECIPE_NAMES = (*DOCUMENTS, *MODEL_RECIPES)
_SHORT = {
    DOCUMENTS: f"{', '.join(DOCUMENTS)}: ",
    DOCUMENTS[:1]: "documents: ",
    AUTO: "auto: ",
    REGIONS: f"{', '.join(REGIONS)}: ",
    REGIONS[:1]: f"{REGIONS[0]}: ",
    GROUNDED: "grounded: ",
}


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table. `type` is what a Python program gives; a shell and a form give text.

    `recipes` are those that it has an effect with, none where it is no option of single recipes. `remote`:
    the client of a service may set it. `min` and `max` bound numbers, `max_length` what a client sends.
    `offers` are values that shells complete; a Literal type has its own. `read` makes a shell's text a value.
    """

    name: str
    type: Any
    help: str
    _: KW_ONLY
    group: Group = "Reading"
    default: Any = None
    recipes: tuple[str, ...] = ()
    remote: bool = False
    min: float | None = None
    max: float | None = None
    max_length: int = 1000
    offers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # spellings other than --name
    metavar: str | None = None
    shell_name: str = ""  # where the shell gives one value at a time: --box for `boxes`
    # "ko,en"; "dining table,sofa"; or the option several times
    several: Literal["", "words", "names", "repeated"] = ""
    read: Callable[[str], Any] | None = None

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that a value may have, without None."""
        is_union = get_origin(self.type) in (Union, UnionType)
        kinds = get_args(self.type) if is_union else (self.type,)
        return tuple(kind for kind in kinds if kind is not NoneType)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that a value is one of; none where it is something else."""
        return get_args(self.kinds[0]) if get_origin(self.kinds[0]) is Literal else ()

    @property
    def description(self) -> str:
        """The help, after the recipes that it is for."""
        return f"{_SHORT.get(self.recipes, '')}{self.help}"

    @property
    def flag(self) -> str:
        """How the shell writes it: --layout-threshold."""
        return f"--{(self.shell_name or self.name).replace('_', '-')}"

    def value(self, given: Any) -> Any:
        """Returns a given value in the recipe's own terms. Raises UsageError for text that cannot be read."""
        if self.read is not None and isinstance(given, str):
            return self.read(given)
        if self.several == "words":
            return tuple(words(given))
        if self.several == "names":
            return tuple(names(given))
        if self.several == "repeated":
            return (given,) if isinstance(given, str) else tuple(given)
        return given


def values_of(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that were given, in the recipe's own terms."""
    found = {option.name: given.get(option.shell_name or option.name) for option in options}
    rows = {option.name: option for option in options}
    return {name: rows[name].value(value) for name, value in found.items() if value is not None}


def defaults(options: Iterable[Option]) -> dict[str, Any]:
    """Returns the defaults of the table by name."""
    return {option.name: option.default for option in options}


def without(options: Sequence[Option], *names: str) -> tuple[Option, ...]:
    """Returns the options that have other names."""
    return tuple(option for option in options if option.name not in names)


def only(options: Sequence[Option], *names: str) -> tuple[Option, ...]:
    """Returns the options of these names."""
    return tuple(option for option in options if option.name in names)


def words(given: str | Iterable[str]) -> list[str]:
    """Returns the words of a text, or of several.

    >>> words("md, jsonl")
    ['md', 'jsonl']
    """
    texts = [given] if isinstance(given, str) else given
    return [word for text in texts for word in text.replace(",", " ").split()]


def names(given: str | Iterable[str]) -> list[str]:
    """Returns the names of a text, or of several; a name may have spaces.

    >>> names("dining table, sofa")
    ['dining table', 'sofa']
    """
    texts = [given] if isinstance(given, str) else given
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def token_ids(text: str) -> tuple[int, ...]:
    """Returns token ids. Raises UsageError for other words."""
    if not all(word.isdecimal() for word in words(text)):
        raise UsageError(f"--ngram-keep {text} are not token ids.", "Write 128821,128822.")
    return tuple(int(word) for word in words(text))
