"""What editors complete is what recipes and commands take."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import get_args, get_type_hints

from penstock import recipes
from penstock.cli import parse as parse_command
from penstock.engines.vllm.choice import DTYPES
from penstock.options.typed import (
    EmbedSettings,
    EnrichSettings,
    ParseSettings,
    PhotoSettings,
    recipe_options,
)
from penstock.passes.embed import EmbedOptions
from penstock.passes.enrich import EnrichOptions
from penstock.vllm_plugin import MODES


def test_options_of_parse_are_those_of_all_recipes_for_pages() -> None:
    taken = {name for recipe in recipes.RECIPES if recipe != "photos" for name in recipes.takes_of(recipe)}
    assert set(ParseSettings.__annotations__) == taken - {"recogniser"}  # a recipe's name says which


def test_options_of_parse_are_called_as_on_the_command_line() -> None:
    assert set(ParseSettings.__annotations__) <= set(inspect.signature(parse_command.parse).parameters)


def test_typed_options_of_servers_take_the_words_that_the_command_line_takes() -> None:
    typed = get_type_hints(ParseSettings)
    assert set(get_args(typed["vision"])) == set(MODES)
    assert set(get_args(typed["ocr_dtype"])) == set(DTYPES)


def test_options_of_volumes_are_those_of_its_recipe() -> None:
    given_otherwise = {"boxes", "depths", "known"}
    assert set(PhotoSettings.__annotations__) == recipes.takes_of("photos") - given_otherwise


def test_options_of_the_other_passes_are_their_fields() -> None:
    assert set(EnrichSettings.__annotations__) == {field.name for field in fields(EnrichOptions)}
    assert set(EmbedSettings.__annotations__) == {field.name for field in fields(EmbedOptions)}
    assert get_type_hints(EnrichSettings)["in_flight"] is int


def test_languages_and_servers_may_be_written_in_one_word() -> None:
    assert recipe_options({"lang": "ko,en", "server": "http://a:1"}) == {
        "lang": ("ko", "en"),
        "server": ("http://a:1",),
    }
    assert recipe_options({"lang": ["ko"], "dpi": 100}) == {"lang": ("ko",), "dpi": 100}
