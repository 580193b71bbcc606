"""How large DeepSeek-OCR models are shown a page: one whole view, and tiles of it where there are any.

The authors' names are tiny, small, base, large (a whole view alone) and gundam (a whole view and tiles).
Any other is written in pixels: "1280+640" is a whole view of 1280 and tiles of 640, "1280" the view alone.
Which of them can be had depends on who runs the model:

- vLLM counts a page's tokens for gundam whatever a request says (`get_num_image_tokens` has the sizes as
  constants), so another resolution would not fit its own prompt. It cuts no tiles from a picture that is no
  larger than one: "untiled" scales pages to that before they are sent. The server enlarges them again, so
  this has the tokens of base and the detail of one tile.
- DeepSeek-OCR-2 has learned queries for views of 768 and of 1024 pixels and for no others.
- The authors' code for the first model takes any whole view, and tiles of 640.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from penstock.errors import UsageError

FIRST_MODEL, SECOND_MODEL = "deepseek-ocr", "deepseek-ocr-2"
GUNDAM, UNTILED = "gundam", "untiled"
WHOLE_VIEWS: Mapping[str, int] = MappingProxyType({"tiny": 512, "small": 640, "base": 1024, "large": 1280})
TILES: Mapping[str, int] = MappingProxyType({FIRST_MODEL: 640, SECOND_MODEL: 768})  # each model's own
VIEW = 1024  # of gundam, for both
QUERIES = (768, 1024)  # the views that the second model has learned queries for
GRID = 64  # pixels: a patch of 16, four by four of which become a token
MIN_VIEW, MAX_VIEW = 256, 2048
_NUMBERS = re.compile(r"(\d{2,5})(?:\+(\d{2,5}))?")


@dataclass(frozen=True, slots=True)
class Resolution:
    """Sides in pixels. `tile` is 0 where only the whole page is shown."""

    view: int
    tile: int = 0

    def __str__(self) -> str:
        return f"{self.view}+{self.tile}" if self.tile else str(self.view)


def resolution(text: str, model: str) -> Resolution:
    """Returns what a name or numbers mean for a model. Raises UsageError for what means nothing."""
    if text == GUNDAM:
        return Resolution(VIEW, TILES[model])
    if text in WHOLE_VIEWS:
        return Resolution(WHOLE_VIEWS[text])
    if text == UNTILED:
        return Resolution(VIEW)
    numbers = _NUMBERS.fullmatch(text)
    if numbers is None:
        known = ", ".join([*WHOLE_VIEWS, GUNDAM, UNTILED])
        raise UsageError(
            f"--resolution {text} is not known.", f"Choose from: {known}; or write pixels, as 1024+640."
        )
    return Resolution(int(numbers[1]), int(numbers[2] or 0))


def resolution_name(
    model: str,
    name: str = "",
    base_size: int | None = None,
    image_size: int | None = None,
    crop_mode: bool | None = None,
) -> str:
    """Returns one word for a resolution, given by its name or by the numbers of the authors' `infer`.

    The same resolution always has the same word, so that a run can be resumed whichever way it is given.
    """
    numbers = (base_size, image_size, crop_mode)
    if name and any(number is not None for number in numbers):
        raise UsageError(
            "--resolution and --base-size, --image-size or --crop-mode say the same thing.", "Give one."
        )
    if name == UNTILED:
        return name
    if name:
        return _word(resolution(name, model), model)
    return _word(_by_numbers(model, *numbers), model)


def _by_numbers(
    model: str, base_size: int | None, image_size: int | None, crop_mode: bool | None
) -> Resolution:
    if crop_mode is not False:
        return Resolution(base_size or VIEW, image_size or TILES[model])
    if base_size and image_size and base_size != image_size:
        raise UsageError(
            f"--base-size {base_size} and --image-size {image_size} differ, and --no-crop-mode has one view.",
            "Give one of the two.",
        )
    return Resolution(base_size or image_size or VIEW)


def _word(wanted: Resolution, model: str) -> str:
    names = {Resolution(VIEW, TILES[model]): GUNDAM, **{Resolution(v): n for n, v in WHOLE_VIEWS.items()}}
    return names.get(wanted, str(wanted))


def check_resolution(text: str, model: str, engine: str) -> None:
    """Raises UsageError, with the reason, for a resolution that a model has not with an engine."""
    wanted = resolution(text, model)
    if engine == "vllm":
        _check_vllm(text, wanted, model)
    elif text == UNTILED:
        raise UsageError("--resolution untiled is for vLLM.", "With --engine hf use --resolution base.")
    elif model == SECOND_MODEL:
        _check_second(text, wanted)
    else:
        _check_first(text, wanted)


def _check_vllm(text: str, wanted: Resolution, model: str) -> None:
    own = Resolution(VIEW, TILES[model])
    if text != UNTILED and wanted != own:
        raise UsageError(
            f"vLLM reads pages in one resolution, {GUNDAM} ({own}), and cannot do {text} ({wanted}).",
            f"Leave --resolution out, use {UNTILED} (no tiles: fewer tokens, less detail), or --engine hf.",
        )


def _check_second(text: str, wanted: Resolution) -> None:
    tile = TILES[SECOND_MODEL]
    if wanted.view not in QUERIES or wanted.tile not in (0, tile):
        raise UsageError(
            f"DeepSeek-OCR-2 cannot do {text} ({wanted}): it has learned views of 768 and 1024 pixels.",
            f"Use {GUNDAM} (1024+{tile}), base (1024) or 768.",
        )


def _check_first(text: str, wanted: Resolution) -> None:
    tile = TILES[FIRST_MODEL]
    fits = MIN_VIEW <= wanted.view <= MAX_VIEW and wanted.view % GRID == 0
    if not fits or wanted.tile not in (0, tile):
        raise UsageError(
            f"DeepSeek-OCR cannot do {text} ({wanted}): views are multiples of {GRID} from {MIN_VIEW} to "
            f"{MAX_VIEW} pixels, tiles {tile}.",
            f"Choose from: {', '.join([*WHOLE_VIEWS, GUNDAM])}.",
        )


def max_side(text: str, model: str) -> int:
    """Returns the longest side that a page is sent with, 0 where it is sent as it is."""
    return TILES[model] if text == UNTILED else 0
