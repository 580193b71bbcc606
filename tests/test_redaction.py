"""No secret of an address is shown: not by errors, log lines, nor by the `repr` of any dataclass."""

from __future__ import annotations

import importlib
import json
import logging
import pkgutil
import random
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.cli.running.log_file import log_file
from penstock.errors import EngineError, Failure, PenstockError
from penstock.passes.pipeline_options import PipelineOptions
from penstock.redaction import SafeRepr, bare_address, redacted
from penstock.stages.recognise_remote import RecogniseRemote

SECRET = "s3cret"
ADDRESS = f"http://me:{SECRET}@host:8000/v1?key={SECRET}&x=1"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
ALLOWED = LETTERS + "-._~!$&'()*+,;="  # in the login of an address, beside %40 and its like
HOLDS_ADDRESS = re.compile(r"(^|_)(servers?|urls?|address(es)?|inputs|callback|furniture)$")
HOLDS_SECRET = re.compile(r"(^|_)(api_key|token|password|secret)$")
HOLDS_OPTIONS = re.compile(r"^(settings|options)$")


NO_ADDRESS = {"Node", "SearchWord", "FakeServer"}  # names of tensors, a word of a question, a stand-in


def addresses(number: int) -> Iterator[tuple[str, str]]:
    """Random addresses and the secret in each, in every place where addresses carry one."""
    chance = random.Random(number)
    for _ in range(300):
        head = "".join(chance.choices(LETTERS, k=8))
        tail = "".join(chance.choices(ALLOWED, k=chance.randrange(12)))
        host = chance.choice(("host", "10.0.0.1:8000", "[::1]:9", "db.example.com"))
        for address in (
            f"http://user:{head}{tail}@{host}/v1",
            f"https://{head}{tail}@{host}",
            f"postgres://u%40x:{head}%2F{tail}@{host}/table",
            f"user:{head}{tail}@{host}",
            f"https://{host}/a.pdf?X-Signature={head}{tail}",
            f"https://{host}/a.pdf?page=2&key={head}{tail}#part",
            f"https://{host}/#access_token={head}{tail}",
        ):
            yield address, head


@pytest.mark.parametrize("number", range(5))
def test_a_secret_is_in_no_text_that_an_address_stands_in(number: int) -> None:
    for address, secret in addresses(number):
        for text in (
            address,
            f"Cannot reach {address}: refused.",
            f"--server={address}",
            repr((address, "b")),
            json.dumps({"server": [address], "next": "x@y"}),
            f"({address})",
        ):
            assert secret not in redacted(text), (address, redacted(text))


@pytest.mark.parametrize(
    "text",
    [
        "see https://host/path@2x.png",
        "Is there a server at http://host:8000?",
        "a@b.pdf, 12:30, report?.pdf",
        "https://host:8000/v1 and http://[::1]:9/x#part",
        "가나다 é 表",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text


def test_what_is_hidden_leaves_the_place_that_is_meant() -> None:
    assert redacted(ADDRESS) == "http://***@host:8000/v1?***"
    assert bare_address(ADDRESS) == "http://host:8000/v1"
    assert redacted("host=db password=s3cret dbname=x") == "host=db password=*** dbname=x"


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if found.name.rpartition(".")[2] in ("__main__", "child_main"):
            continue
        try:
            yield importlib.import_module(found.name)
        except (ImportError, PenstockError):  # of an extra that is not here
            continue


def dataclasses_of_the_package() -> list[type]:
    own = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    }
    return sorted(own, key=lambda kind: (kind.__module__, kind.__qualname__))


def filled(kind: type) -> object | None:
    """An instance whose fields for addresses, keys and options hold a secret; None without such fields."""
    made, holds = kind.__new__(kind), False
    for field in fields(kind):
        value: object = None
        if "str" in str(field.type) or "Any" in str(field.type):
            if HOLDS_ADDRESS.search(field.name):
                is_many = re.match(r"(tuple|list|Sequence)", str(field.type))
                value = (ADDRESS, f"me:{SECRET}@host:1") if is_many else ADDRESS
            elif HOLDS_SECRET.search(field.name):
                value = SECRET
            elif HOLDS_OPTIONS.search(field.name):
                value = {"server": (ADDRESS,), "api_key": SECRET, "password": SECRET}
        holds = holds or value is not None
        object.__setattr__(made, field.name, value)
    return made if holds else None


def test_no_dataclass_shows_the_secret_of_an_address() -> None:
    known = [kind for kind in dataclasses_of_the_package() if kind.__name__ not in NO_ADDRESS]
    made = [one for one in map(filled, known) if one is not None]
    assert {
        "RecogniseRemote",
        "Ground",
        "DescribePictures",
        "Summarise",
        "Embed",
        "Detect",
        "PipelineOptions",
        "EnrichOptions",
    } <= {type(one).__name__ for one in made}
    assert [type(one).__qualname__ for one in made if SECRET in repr(one)] == []


def test_a_stage_shows_its_server_and_its_options() -> None:
    shown = repr(RecogniseRemote(servers=(f"http://me:{SECRET}@gpu:8000",), api_key=SECRET))
    assert (
        shown.startswith("RecogniseRemote(")
        and "servers=('http://***@gpu:8000',)" in shown
        and SECRET not in shown
    )
    options = PipelineOptions(out=Path("o"), data=Path("d"), settings={"password": SECRET, "dpi": 300})
    assert "'dpi': 300" in repr(options) and SECRET not in repr(options)
    assert issubclass(RecogniseRemote, SafeRepr)


def test_errors_failures_and_log_lines_hold_no_secret(tmp_path: Path) -> None:
    assert SECRET not in str(EngineError(f"{ADDRESS} is away", f"Look at {ADDRESS}."))
    assert SECRET not in Failure.of(OSError(f"no answer from {ADDRESS}"), "recognise_remote").message
    with log_file(tmp_path / "run.log", {}):
        logging.getLogger("penstock.test").warning(
            "asked %s of %r", ADDRESS, RecogniseRemote(servers=(ADDRESS,))
        )
    assert "asked http://***@host" in (tmp_path / "run.log").read_text()
    assert SECRET not in (tmp_path / "run.log").read_text()
