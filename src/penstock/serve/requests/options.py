"""The options that a client may give: the rows of the table that name no server, key or file of ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from penstock.options.option import Option
from penstock.options.photos import PHOTO_READING, SAID, SAME_ROOM, SHAPES
from penstock.options.reading import READING
from penstock.options.running import LISTING, PAGES
from penstock.serve.errors import HttpRefusal

CALLBACK = "callback"
CallbackAddress = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="Address that gets a POST when the job is over. The operator allows its host.",
    ),
]
NUMBERS = (bool, int, float)


def request_model(name: str, about: str, options: Iterable[Option]) -> type[BaseModel]:
    """Returns the model of a request: a field for each option that a client may set."""
    fields: dict[str, Any] = {one.name: (_field_type(one), None) for one in options if one.remote}
    model: type[BaseModel] = create_model(
        name,
        __doc__=about,
        __config__=ConfigDict(extra="forbid", protected_namespaces=()),
        **fields,
        callback=(CallbackAddress, None),
    )
    return model


def _field_type(option: Option) -> Any:
    kind, limits = _kind(option)
    return Annotated[kind | None, Field(description=option.description, **limits)]


def _kind(option: Option) -> tuple[Any, dict[str, Any]]:
    """Returns what a form or JSON has for an option, and its bounds: text stands for what is neither."""
    kind = option.kinds[0]
    if option.several:
        return Annotated[list[str], BeforeValidator(_listed(option))], {"max_length": option.max_length}
    if option.choices and len(option.kinds) == 1:
        return kind, {}
    if kind in NUMBERS and len(option.kinds) == 1:
        bounds = {"ge": option.min, "le": option.max}
        return kind, {name: bound for name, bound in bounds.items() if bound is not None}
    return (float | str if kind is float else str), {} if kind is float else {"max_length": option.max_length}


def _listed(option: Option) -> Any:
    """Reads "ko,en" as a list, as the command line does; so does a field that is sent twice."""

    def listed(given: Any) -> Any:
        is_text = isinstance(given, str) or (
            isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)
        )
        return list(option.value(given)) if is_text else given

    return listed


ParseRequest = request_model(
    "ParseRequest",
    "How documents are read. What is left out is as the service was started.",
    (PAGES, *LISTING, *READING),
)
VolumesRequest = request_model(
    "VolumesRequest", "How photos are measured.", (*SAID, SAME_ROOM, *PHOTO_READING, *SHAPES.values())
)

RequestT = TypeVar("RequestT", bound=BaseModel)


def checked(kind: type[RequestT], given: dict[str, Any]) -> RequestT:
    """Returns typed options. Raises HttpRefusal that names every wrong one."""
    try:
        return kind.model_validate(given)
    except ValidationError as exc:
        wrong = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())
        raise HttpRefusal(422, wrong, "The options are in /openapi.json.") from exc


def chosen(request: BaseModel) -> dict[str, Any]:
    """Returns the options that were given."""
    return request.model_dump(exclude_none=True)
