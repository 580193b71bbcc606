"""The GLM-OCR SDK's half of `cpu/client_against_sdk.py`; runs in an environment that has the SDK only.

    venv/glmocr/bin/python benchmarks/lib/sdk_side.py pages FOLDER BOXES.json COUNT URL LIMIT

Uses its own pipeline, page loader and client with their packaged settings; only the layout network is
replaced by boxes that are known. `build` and `decode` time one call each. Prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from glmocr.config import load_config
from glmocr.dataloader import PageLoader
from glmocr.pipeline import Pipeline
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.answer_lengths import length_of
from benchmarks.lib.clock import mean_ms, per_call_ms
from benchmarks.lib.requests_in_flight import RequestsInFlight

GRID = 1000  # its own detector tells boxes in whole thousandths of the page


class KnownLayout:
    """Takes the place of its detector: gives the boxes that were drawn, rounded as the detector rounds."""

    batch_size = 1  # as packaged

    def __init__(self, boxes: dict[str, list[list[float]]]) -> None:
        self._boxes = boxes

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def process(self, images: list[Any], **_: Any) -> tuple[list[list[dict[str, Any]]], dict[int, Any]]:
        return [self._regions(image) for image in images], {}

    def _regions(self, image: Any) -> list[dict[str, Any]]:
        rows = []
        for index, box in enumerate(self._boxes[Path(image.filename).stem]):
            sides = (image.width, image.height) * 2
            inside = [int(value / side * GRID) for value, side in zip(box, sides, strict=True)]
            x0, y0, x1, y1 = inside
            outline = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
            row = {"index": index, "label": "text", "score": 0.9, "bbox_2d": inside, "polygon": outline}
            rows.append(row | {"task_type": "text"})
        return rows


class DrawnLengths(PageLoader):
    """Asks for answers of drawn lengths, since random weights write no end token."""

    def build_request_from_image(self, image: Any, task_type: str = "text") -> dict[str, Any]:
        request: dict[str, Any] = super().build_request_from_image(image, task_type)
        return request | {"max_tokens": length_of(*image.size), "ignore_eos": True, "temperature": 0.0}


def pages(
    folder: str, boxes: str, count: str, url: str, limit: str, how: str = "", model: str = "fake"
) -> dict[str, Any]:
    """Runs pages through its pipeline; `how` is "watch" to count requests at the server, or "lengths"."""
    settings = load_config(mode="selfhosted").pipeline
    settings.ocr_api.api_url = url + "/v1/chat/completions"
    settings.ocr_api.model = model
    settings.max_workers = int(limit)
    paths = sorted(str(path) for path in Path(folder).glob("*.jpg"))[: int(count)]
    content = [{"type": "image_url", "image_url": {"url": path}} for path in paths]
    # not started: that would only ask the server for a hello, which ours does not answer
    pipeline = Pipeline(settings, layout_detector=KnownLayout(json.loads(Path(boxes).read_text())))

    if how == "lengths":
        pipeline.page_loader = DrawnLengths(settings.page_loader)

    def waiting() -> int:
        return int((pipeline.get_queue_stats() or {}).get("region_queue_size", 0))

    watch = RequestsInFlight(url, int(limit), waiting)
    began = time.perf_counter()
    if how == "watch":
        with watch:
            regions = run(pipeline, content)
    else:
        regions = run(pipeline, content)
    return {
        "regions": regions,
        "seconds": time.perf_counter() - began,
        **(watch.figures() if how == "watch" else {}),
    }


def run(pipeline: Any, content: list[dict[str, Any]]) -> int:
    if not content:
        return 0
    regions = 0
    for result in pipeline.process({"messages": [{"role": "user", "content": content}]}):
        regions += sum(bool(region["content"]) for page in result.json_result for region in page)
    return regions


def build(page: str, crops: str, rounds: str) -> dict[str, Any]:
    """CPU milliseconds of a request from a crop that is already cut, its JSON not yet written."""
    loader = PageLoader(load_config(mode="selfhosted").pipeline.page_loader)
    picture = Image.open(page)
    picture.load()
    times = {}
    for name, box in json.loads(crops).items():
        crop = picture.crop(box)
        crop.load()
        times[name] = per_call_ms(
            lambda crop=crop: loader.build_request_from_image(crop, "text"), int(rounds)
        )
    return times


def decode(folder: str, count: str) -> dict[str, Any]:
    pages = sorted(Path(folder).glob("*.jpg"))[: int(count)]
    return {"decode": mean_ms(lambda page: Image.open(page).load(), pages)}


if __name__ == "__main__":
    what = {"pages": pages, "build": build, "decode": decode}[sys.argv[1]]
    print(json.dumps(what(*sys.argv[2:])))
