"""Asks a vLLM's own processor what it makes of a page in each resolution; run by the Python that has vLLM.

    python resolutions.py FOLDER...    # of DeepSeek-OCR checkpoints

Prints a line of JSON for each, with its folder's name: how many tokens the prompt keeps for a picture, and
the sides of its views.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from vllm.config import ModelConfig
from vllm.multimodal import MULTIMODAL_REGISTRY

A4, SMALL = (1191, 1684), (452, 640)
ASKED: dict[str, dict[str, Any]] = {
    "gundam": {},
    "tiny": {"base_size": 512, "image_size": 512, "crop_mode": False},
    "base": {"base_size": 1024, "image_size": 1024, "crop_mode": False},
    "large": {"base_size": 1280, "image_size": 1280, "crop_mode": False},
}


def main() -> None:
    for folder in sys.argv[1:]:
        ask(Path(folder))


def ask(folder: Path) -> None:
    config = ModelConfig(model=str(folder), dtype="float32")
    processor = MULTIMODAL_REGISTRY.create_processor(config)
    for name, kwargs in ASKED.items():
        for size in (A4, SMALL):
            items = processor.info.parse_mm_data({"image": [Image.new("RGB", size, "white")]})
            try:
                made = processor(prompt="<image>\nFree OCR.", mm_items=items, hf_processor_mm_kwargs=kwargs)
            except TypeError:  # as other releases spell it
                made = processor.apply("<image>\nFree OCR.", items, kwargs)
            data = made["mm_kwargs"]["image"][0].get_data()
            tiles = data["images_spatial_crop"].tolist()
            kept = made["mm_placeholders"]["image"][0].length
            row = {"name": name, "small": size == SMALL, "kept": kept, "view": data["pixel_values"].shape[-1]}
            print(json.dumps({**row, "tiles": tiles, "folder": folder.name}))


if __name__ == "__main__":
    main()
