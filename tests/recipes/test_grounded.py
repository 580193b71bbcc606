"""The options of the grounded recipes: what reaches the server for each, and what is refused with a reason.

The words and numbers expected here are those of DeepSeek-OCR's and DeepSeek-OCR-2's model cards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.engines.chat.deepseek.pages import NgramGuard, ladder
from penstock.errors import PenstockError, PlanMismatch, UsageError
from penstock.page import Page
from penstock.recipes import build
from penstock.testing.fake_server import Asked, FakeServer, serving

SAMPLE = str(files("penstock") / "sample" / "sample.pdf")
TITLE = "<|ref|>title<|/ref|><|det|>[[100, 100, 900, 200]]<|/det|>\n# A title"
CARD = "<|grounding|>Convert the document to markdown."


@pytest.fixture
def server() -> Iterator[tuple[FakeServer, str]]:
    fake = FakeServer(max_model_len=32_768, encoder_tokens=32_768, says=lambda asked: TITLE)
    with serving(fake) as url:
        yield fake, url


def first_page(url: str, recipe: str = "grounded", **options: Any) -> Page:
    """A page of A4 at 144 dpi through the stage that the recipe makes of these options."""
    worker = build(recipe, {"server": (url,), "in_flight": 1, **options}).stages[-1].open()
    pixels = np.full((1684, 1191, 3), 255, np.uint8)
    cv2.putText(pixels, "A title", (120, 250), cv2.FONT_HERSHEY_SIMPLEX, 3, (0, 0, 0), 4)
    image = cv2.imencode(".png", pixels)[1].tobytes()
    try:
        [page] = worker([Page(id="one", uri="", document="d", image=image, width=1191, height=1684)])
    finally:
        worker.close()
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, CARD),
        ({"prompt_mode": "markdown"}, CARD),
        ({"prompt_mode": "ocr"}, "<|grounding|>OCR this image."),
        ({"prompt_mode": "free"}, "Free OCR."),
        ({"prompt_mode": "figure"}, "Parse the figure."),
        ({"prompt_mode": "describe"}, "Describe this image in detail."),
        ({"locate": "수압관"}, "Locate <|ref|>수압관<|/ref|> in the image."),
        ({"prompt": "<image>\nWhat is written here?"}, "What is written here?"),
    ],
)
def test_each_way_to_ask_reaches_the_server(
    server: tuple[FakeServer, str], options: dict[str, Any], words: str
) -> None:
    fake, url = server
    first_page(url, **options)
    assert [asked.prompt for asked in fake.asked] == [words]


def test_the_guard_and_the_limit_reach_the_server(server: tuple[FakeServer, str]) -> None:
    fake, url = server
    first_page(url, ngram=20, ngram_window=50, ngram_keep=(7,), max_tokens=321)
    [asked] = fake.asked
    assert asked.body["vllm_xargs"] == {"ngram_size": 20, "window_size": 50, "whitelist_token_ids": [7]}
    assert asked.max_tokens == 321


def test_without_a_guard_none_is_asked_for(server: tuple[FakeServer, str]) -> None:
    fake, url = server
    first_page(url, ngram=0)
    assert "vllm_xargs" not in fake.asked[0].body


@pytest.mark.parametrize(("recipe", "tile"), [("grounded", 640), ("grounded-2", 768)])
def test_an_untiled_page_is_no_larger_than_a_tile(
    server: tuple[FakeServer, str], recipe: str, tile: int
) -> None:
    fake, url = server
    whole, small = first_page(url, recipe), first_page(url, recipe, resolution="untiled")
    sent, scaled = fake.asked
    assert (sent.width, sent.height) == (whole.width, whole.height)
    assert max(sent.width, sent.height) > tile == max(scaled.width, scaled.height)
    assert scaled.width / scaled.height == pytest.approx(sent.width / sent.height, rel=0.01)
    assert small.regions[0].box == whole.regions[0].box  # on the page, whatever was sent


def test_halves_of_an_untiled_page_are_no_larger_than_a_tile_either(server: tuple[FakeServer, str]) -> None:
    fake, url = server
    fake.fault = lambda asked: "length"
    page = first_page(url, resolution="untiled")
    assert page.attempts[-1].way == "halves"
    assert {max(asked.width, asked.height) for asked in fake.asked} == {480, 640}  # 480: the smaller try


@pytest.mark.parametrize("mode", ["tiny", "small", "base", "large", "1280+640"])
@pytest.mark.parametrize("recipe", ["grounded", "grounded-2"])
def test_vllm_has_one_resolution_and_says_so(recipe: str, mode: str) -> None:
    with pytest.raises(UsageError, match=r"vLLM reads pages in one resolution.*untiled"):
        build(recipe, {"resolution": mode})


NUMBERS = {
    "tiny": (512, 512, False),
    "small": (640, 640, False),
    "base": (1024, 1024, False),
    "large": (1280, 1280, False),
    "gundam": (1024, 640, True),
}


def trusted(**options: Any) -> dict[str, Any]:
    plan = build("grounded", {"engine": "hf", "trust_remote_code": True, **options})
    return plan.settings()[-1]


@pytest.mark.parametrize("mode", NUMBERS)
def test_a_resolution_by_its_numbers_is_the_one_by_its_name(mode: str) -> None:
    base, image, crop = NUMBERS[mode]
    by_numbers = trusted(base_size=base, image_size=image, crop_mode=crop)
    assert by_numbers == trusted(resolution=mode)
    assert by_numbers["resolution"] == mode


def test_numbers_that_are_not_given_are_the_models_own() -> None:
    assert trusted(crop_mode=False)["resolution"] == "base"
    assert trusted(base_size=1280)["resolution"] == "1280+640"
    assert trusted(resolution="1280+640") == trusted(base_size=1280)
    assert build("grounded-2", {"image_size": 768}).settings()[-1]["resolution"] == "gundam"


@pytest.mark.parametrize(
    ("recipe", "options", "reason"),
    [
        ("grounded", {"resolution": "huge"}, "--resolution huge is not known"),
        ("grounded", {"resolution": "base", "base_size": 1024}, "say the same thing"),
        ("grounded", {"base_size": 640, "image_size": 1024, "crop_mode": False}, "differ"),
        ("grounded-2", {"engine": "hf", "resolution": "small"}, "learned views of 768 and 1024"),
        ("grounded-2", {"engine": "hf", "resolution": "1024+640"}, "learned views of 768 and 1024"),
        ("grounded-2", {"engine": "hf", "resolution": "untiled"}, "is for vLLM"),
        ("grounded", {"engine": "hf", "trust_remote_code": True, "base_size": 1000}, "multiples of 64"),
        ("grounded", {"engine": "hf", "trust_remote_code": True, "image_size": 768}, "tiles 640"),
        ("grounded", {"prompt_mode": "poem"}, "--prompt-mode poem is not known"),
        ("grounded", {"prompt_mode": "free", "locate": "x"}, "each say what is asked"),
        ("grounded", {"prompt": "<image>"}, "has no words"),
        ("grounded", {"locate": "<|ref|>x"}, "is not text of a page"),
        ("grounded", {"ngram": 30, "ngram_window": 20}, "forbids nothing"),
        ("grounded", {"max_tokens": 8192}, "not between 1 and 7,000"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(recipe: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(PenstockError, match=reason):
        build(recipe, options)


@pytest.mark.parametrize("name", ["gundam", "base", "768", "768+768"])
def test_the_second_model_is_shown_what_it_has_learned(name: str) -> None:
    assert build("grounded-2", {"engine": "hf", "resolution": name}).settings()[-1]["resolution"] == name


def test_a_question_about_a_figure_is_never_answered_with_plain_text(
    server: tuple[FakeServer, str],
) -> None:
    fake, url = server
    fake.fault = lambda asked: "length"
    page = first_page(url, prompt_mode="figure")
    assert {asked.prompt for asked in fake.asked} == {"Parse the figure."}
    assert [attempt.way for attempt in page.attempts] == ["page", "other guard", "smaller"]
    assert [way.name for way in ladder("Free OCR.")] == ["page", "other guard", "smaller", "halves"]


def test_what_was_located_is_a_region_with_its_words_and_box(server: tuple[FakeServer, str]) -> None:
    fake, url = server
    fake.says = lambda asked: "<|ref|>table<|/ref|><|det|>[[0, 0, 999, 500]]<|/det|>"
    page = first_page(url, locate="table")
    [region] = page.regions
    assert (region.label, region.content) == ("text", "table")  # a word of the page, and no table
    assert region.box == pytest.approx((0, 0, page.width, page.height * 500 / 999), abs=1)


def test_lines_with_boxes_are_regions(server: tuple[FakeServer, str]) -> None:
    fake, url = server
    lines = ("title", "A second line")
    fake.says = lambda asked: "\n".join(
        f"<|ref|>{line}<|/ref|><|det|>[[10, {100 * n}, 900, {100 * n + 50}]]<|/det|>"
        for n, line in enumerate(lines)
    )
    page = first_page(url, prompt_mode="ocr")
    assert [region.content for region in page.regions] == ["title", "A second line"]


def test_the_guard_breaks_loops_as_long_as_its_window_allows() -> None:
    """The lengths were found by running vLLM's own processor on endless loops."""
    for ngram, window, longest in ((20, 50, 31), (30, 90, 61), (40, 90, 51), (35, 128, 94)):
        guard = NgramGuard("one", ngram, window)
        assert guard.forbidden([n % longest for n in range(600)]) == {600 % longest}
        assert guard.forbidden([n % (longest + 1) for n in range(600)]) == set()
    cells = [128821, 128822] * 300  # empty cells of a table
    assert NgramGuard("cells", 30, 90).forbidden(cells) == set()
    assert NgramGuard("none kept", 30, 90, keep=()).forbidden(cells) == {128821}
    assert NgramGuard("off", 0, 90).forbidden(cells) == set()
    assert NgramGuard("short", 30, 90).forbidden(cells[:29]) == set()


CONFIG = """
pages = "1"
[parse]
recipe = "grounded"
resolution = "untiled"
prompt-mode = "free"
ngram = 20
ngram-window = 50
ngram-keep = "5,6"
max-tokens = 99
"""


def test_a_config_file_and_the_command_line_reach_the_server_and_run_json(
    server: tuple[FakeServer, str], tmp_path: Path
) -> None:
    fake, url = server
    (tmp_path / "run.toml").write_text(CONFIG)
    out = tmp_path / "out"
    call = ["parse", SAMPLE, "-o", str(out), "--server", url, "-q", "--config", str(tmp_path / "run.toml")]
    result = CliRunner().invoke(app, [*call, "--max-tokens", "77"])
    assert result.exit_code == 0, result.output
    assert _sent(fake.asked[0]) == ("Free OCR.", 640, [20, 50, [5, 6]], 77)
    told = json.loads((out / "run.json").read_text())["plan"][-1]
    wanted = {
        "resolution": "untiled", "prompt": "Free OCR.", "ngram": 20, "ngram_window": 50,
        "ngram_keep": [5, 6], "max_tokens": 77,
    }  # fmt: skip
    assert {key: told[key] for key in wanted} == wanted
    with pytest.raises(PlanMismatch, match=r"ground.ngram: 20 -> 30"):
        list(penstock.parse(SAMPLE, out=out, recipe="grounded", server=(url,), pages="1"))


def _sent(asked: Asked) -> tuple[str, int, list[Any], int]:
    return (
        asked.prompt,
        max(asked.width, asked.height),
        list(asked.body["vllm_xargs"].values()),
        asked.max_tokens,
    )


def test_wrong_token_numbers_are_a_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["parse", SAMPLE, "-o", str(tmp_path), "--recipe", "grounded", "--ngram-keep", "<td>"]
    )
    assert "are not token ids" in str(result.exception)


def test_another_recipe_does_not_take_them(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["parse", SAMPLE, "-o", str(tmp_path), "--resolution", "base"])
    assert "does not take --resolution" in str(result.exception)
