"""Finds datasets in folders: those that `save_to_disk` wrote and those that `load_dataset` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# train-00000-of-00002.parquet, train-00000-of-00002-0123abcd.parquet, part-0.parquet, 0000.parquet
SHARD_NUMBER = re.compile(r"[-_.]?\d+(-of-\d+)?(-[0-9a-f]{8,})?$")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Shards that form one table. Outputs carry `name`."""

    name: str
    shards: tuple[Path, ...]
    named: bool = False  # by the user: a table without pictures is then reported, not skipped


def saved_datasets(folder: Path, name: str) -> list[Dataset]:
    """Returns the datasets of a folder that `save_to_disk` wrote, one a split; nothing for other folders."""
    splits = _read_json(folder / "dataset_dict.json").get("splits")
    if isinstance(splits, list):
        plain = [split for split in splits if _is_plain_name(split)]
        return [dataset for split in plain for dataset in saved_datasets(folder / split, f"{name}/{split}")]
    files = _read_json(folder / "state.json").get("_data_files")
    if not isinstance(files, list):
        return []
    shards = [str(file.get("filename")) for file in files if isinstance(file, dict)]
    paths = tuple(folder / shard for shard in shards if _is_plain_name(shard))
    return [Dataset(name, paths)] if paths else []


def group_shards(paths: Sequence[Path], name: str) -> list[Dataset]:
    """Groups the table files of one folder by their names without the shard's number."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(SHARD_NUMBER.sub("", path.stem), []).append(path)
    if len(groups) == 1:
        return [Dataset(name, tuple(shards)) for shards in groups.values()]
    return [Dataset(f"{name}/{split}" if split else name, tuple(shards)) for split, shards in groups.items()]


def _read_json(path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_plain_name(name: object) -> bool:
    """A file in the folder itself: what a foreign JSON names must not lead out of it."""
    return isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name
