"""An option is one row: the shell, the service, Python and the reference are made of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import penstock
from penstock import recipes
from penstock.client.remote_reading import remote_options
from penstock.engines.mesh.request import MeshOptions
from penstock.engines.vllm.server_plan import DTYPES
from penstock.errors import UsageError
from penstock.options.option import RECIPE_NAMES, Option, values_of
from penstock.options.passes import EMBED_PYTHON, EMBED_RUN, ENRICH
from penstock.options.photos import MESH, PHOTO_READING, SAM3D
from penstock.options.reading import READING
from penstock.options.running import RUN
from penstock.options.typed import ParseSettings
from penstock.passes.embed import EmbedOptions
from penstock.passes.enrich import EnrichOptions
from penstock.passes.parse import ParseOptions, parse_options
from penstock.passes.pipeline import Pipeline
from penstock.passes.pipeline_options import PipelineOptions
from penstock.plan import Plan
from penstock.vllm_plugin import MODES

REPO = Path(__file__).parent.parent
TOOL = REPO / "tools" / "option_types.py"

# a row that no other file knows, and every place that is made of the table
WITH_A_NEW_OPTION = f"""
import json, sys
sys.path.insert(0, {str(REPO / "tools")!r})
from penstock.options import reading
from penstock.options.option import Option
new = Option(name="tilt", type=float, recipes=("documents",), remote=True, max=9, help="Turns pages so far.")
reading.READING = (*reading.READING, new)
import docs_reference, option_types
from typer.testing import CliRunner
from penstock.cli.app import app
from penstock.serve.requests.options import ParseRequest
reference = docs_reference.python()
print(json.dumps({{
    "help": CliRunner().invoke(app, ["parse", "--help"], env={{"COLUMNS": "200"}}).stdout,
    "request": ParseRequest.model_json_schema()["properties"]["tilt"],
    "typed": option_types.typed_text(),
    "reference": reference,
}}))
"""


def test_a_row_of_the_table_is_in_the_help_the_api_the_types_and_the_reference() -> None:
    pytest.importorskip("pydantic", reason="needs penstock-pipeline[serve]")
    ran = subprocess.run(
        [sys.executable, "-c", WITH_A_NEW_OPTION], capture_output=True, text=True, check=True, timeout=300
    )
    found = json.loads(ran.stdout)
    assert "--tilt" in found["help"] and "documents: Turns pages so far." in " ".join(found["help"].split())
    assert found["request"]["description"] == "documents: Turns pages so far."
    assert found["request"]["anyOf"][0] == {"maximum": 9, "type": "number"}
    assert "    tilt: float\n" in found["typed"]
    assert "| `tilt` | `float` | Turns pages so far. For documents. |" in found["reference"]


def test_the_typed_dictionaries_are_what_the_table_says() -> None:
    program = "import option_types; print(option_types.typed_text(), end='')"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=TOOL.parent, capture_output=True, text=True, check=True
    )
    written = (REPO / "src" / "penstock" / "options" / "typed.py").read_text("utf-8")
    assert ran.stdout == written, "Run: python tools/option_types.py"


@pytest.mark.parametrize("recipe", RECIPE_NAMES)
def test_a_row_names_the_recipes_that_take_it(recipe: str) -> None:
    named = {option.name for option in READING if recipe in option.recipes}
    assert named == recipes.takes_of(recipe) - {"recogniser"}  # a recipe's name says which


def test_the_recipes_of_the_table_are_all_that_read_pages() -> None:
    assert set(RECIPE_NAMES) == set(recipes.RECIPES) - {"photos"}


def test_options_of_photos_are_those_of_their_recipe() -> None:
    said_otherwise = {"boxes", "depths", "known"}
    rows = {option.name for option in (*PHOTO_READING, MESH)}
    assert rows == recipes.takes_of("photos") - said_otherwise
    assert set(SAM3D) <= {field.name for field in fields(MeshOptions)}


@pytest.mark.parametrize(
    ("kind", "rows"),
    [(EnrichOptions, ENRICH), (EmbedOptions, (*EMBED_RUN, *EMBED_PYTHON))],
)
def test_options_of_the_other_passes_are_their_fields(kind: Any, rows: Sequence[Option]) -> None:
    assert {field.name for field in fields(kind)} == {option.name for option in rows}


def test_options_of_a_run_are_fields_of_its_options_with_the_same_default() -> None:
    usual = ParseOptions(inputs=())
    assert {option.name: getattr(usual, option.name) for option in RUN} == {
        option.name: option.default for option in RUN
    }


def test_options_of_servers_take_the_words_that_servers_know() -> None:
    typed = get_type_hints(ParseSettings)
    assert set(get_args(typed["vision"])) == set(MODES)
    assert set(get_args(typed["ocr_dtype"])) == set(DTYPES)


@pytest.mark.parametrize(
    "given", [{"lang": "ko,en", "server": "http://a:1"}, {"lang": ["ko", "en"], "server": ("http://a:1",)}]
)
def test_languages_and_servers_may_be_given_in_one_word(given: dict[str, Any]) -> None:
    assert values_of(READING, given) == {"lang": ("ko", "en"), "server": ("http://a:1",)}


def test_a_label_may_have_a_space() -> None:
    assert values_of(PHOTO_READING, {"labels": "dining table, 책장"}) == {"labels": ("dining table", "책장")}


def test_pages_may_be_a_range() -> None:
    assert parse_options(("a.pdf",), {"pages": range(3, 6), "dpi": 90}) == ParseOptions(
        inputs=("a.pdf",), pages="3-5", settings={"dpi": 90}
    )


@pytest.mark.parametrize(
    ("recipe", "options", "words"),
    [
        ("documents", {"polygons": True}, "does not take --polygons"),
        ("glm-ocr", {"polygons": True, "layout": "cdla"}, "--polygons is for PP-DocLayoutV3"),
        ("glm-ocr", {"layout_model": "x", "layout": "cdla"}, "--layout-model is for PP-DocLayoutV3"),
        (
            "glm-ocr",
            {"server": "http://a:1", "preset": "l4"},
            "--preset is for a server that Penstock starts",
        ),
        (
            "openai",
            {"server": "http://a:1", "vision": "fp8"},
            "--vision is for a server that Penstock starts",
        ),
        ("grounded", {"server": "http://a:1", "ocr_dtype": "fp8"}, "--ocr-dtype is for a server"),
        ("grounded-2", {"engine": "hf", "preset": "l4"}, "--engine hf starts none"),
        ("grounded-2", {"engine": "hf", "server": "http://a:1"}, "--server has no effect"),
    ],
)
def test_an_option_without_effect_is_refused(recipe: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_options((), {"recipe": recipe, **options}).plan()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ocr_dtype": "fp8"}, "--ocr-dtype has no effect with the recipe 'builtin'"),
        ({"workers": 8}, "--workers has no effect"),
        ({"servers": ("http://a:1",)}, "--server has no effect"),
        ({"batch_size": 4}, "--batch-size has no effect"),
    ],
)
def test_a_pipeline_refuses_an_option_without_effect(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    chosen = PipelineOptions(
        out=tmp_path / "out", data=tmp_path, recipe="builtin", inputs=("a.pdf",), **options
    )
    with pytest.raises(UsageError, match=words):
        list(Pipeline(chosen).run(("check",)))


def test_python_refuses_an_option_without_effect_in_its_own_terms() -> None:
    with pytest.raises(UsageError, match="polygons=True"):
        penstock.convert("a.pdf", polygons=True)


def test_text_of_the_shell_is_refused_where_python_has_a_value() -> None:
    with pytest.raises(UsageError, match=r"takes values of penstock\.GivenBox"):
        list(penstock.volumes("room.jpg", boxes=["1,2,30,40:chair"]))  # type: ignore[list-item]


def test_a_service_is_sent_what_a_client_may_set_and_nothing_else() -> None:
    given = {"lang": "ko", "recipe": "documents", "max_pages": 50_000, "api_key": "k", "pages": "1-2"}
    assert remote_options(given) == {"pages": "1-2", "lang": "ko"}
    with pytest.raises(UsageError, match="--cores cannot be combined with --service"):
        remote_options({"cores": 2})


def test_a_plan_of_ones_own_takes_no_options() -> None:
    plan = parse_options((), {"recipe": "documents"}).plan()
    assert isinstance(plan, Plan)
    assert parse_options((), {"recipe": plan, "password": "x"}).plan() is plan
    with pytest.raises(UsageError, match="--dpi has no effect"):
        parse_options((), {"recipe": plan, "dpi": 90})
