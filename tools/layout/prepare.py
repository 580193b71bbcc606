"""Pages for training: PDFs drawn by processes, shown to the teacher, and kept at the student's size."""

from __future__ import annotations

import io
import lzma
import multiprocessing
import pickle
import queue
import random
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnx_on_torch import Graph
from torch.nn import functional

from penstock.engines.layout.clean import Rules, clean
from penstock.engines.layout.doclayout_output import FoundBoxes

LONG, SHORT = 1024, 768  # sides of a kept page
TEACHER = 800
SURE, DOUBTFUL = 0.3, 0.12
MOST_BOXES = 128
SPREADS = 0.05  # of the pages are two pages of a document side by side


def drawn(job: tuple[str, bytes, int]) -> list[np.ndarray[Any, Any]]:
    """Pages of a PDF as pictures of 1,300 to 1,900 pixels, RGB."""
    import pypdfium2

    name, content, most = job
    r = random.Random(name)
    pictures: list[np.ndarray[Any, Any]] = []
    try:
        document = pypdfium2.PdfDocument(content)
        numbers = list(range(len(document)))
        if len(numbers) > most:
            numbers = sorted(r.sample(numbers, most))
        for number in numbers:
            page = document[number]
            side = max(page.get_size())
            picture = page.render(scale=r.randint(1300, 1900) / side, rev_byteorder=True).to_numpy()[..., :3]
            if picture.std() > 4:  # a blank page teaches little
                pictures.append(np.ascontiguousarray(picture))
    except Exception as exc:  # a PDF that cannot be drawn costs only itself
        print(name, exc, flush=True)
    for first, second in zip(pictures[:-1:2], pictures[1::2], strict=False):
        if r.random() < 2 * SPREADS and first.shape[0] > first.shape[1]:
            high = min(first.shape[0], second.shape[0])
            pictures.append(np.concatenate([first[:high], second[:high]], 1))
    return pictures


def jobs(archives: list[Path], most: int) -> Iterator[tuple[str, bytes, int]]:
    for archive in archives:
        data = archive.read_bytes()
        data = lzma.decompress(data) if archive.suffix == ".xz" else data
        with tarfile.open(fileobj=io.BytesIO(data)) as opened:
            for member in opened:
                file = opened.extractfile(member)
                if file:
                    yield member.name, file.read(), most


def told(rows: np.ndarray[Any, Any], width: int, height: int) -> tuple[Any, Any]:
    """What the teacher is sure of (label, score, rank, box of 0..1 a row), and boxes that it doubts."""
    rows = rows[(rows[:, 0] >= 0) & np.isfinite(rows).all(1) & (rows[:, 1] >= DOUBTFUL)].astype(np.float64)
    rows[:, 2:6] *= np.array([width, height, width, height]) / TEACHER
    found = FoundBoxes(
        rows[:, 0].astype(np.int64),
        rows[:, 1],
        rows[:, 2:6],
        rows[:, 6].astype(np.int64),
        np.arange(len(rows)),
    )
    kept = clean(found, width, height, Rules(threshold=SURE))
    scale = np.array([width, height, width, height])
    sure = np.concatenate(
        [kept.labels[:, None], kept.scores[:, None], np.arange(len(kept))[:, None], kept.boxes / scale], 1
    )
    others = [i for i in range(len(rows)) if i not in set(kept.query.tolist())]
    doubt = [rows[i, 2:6] for i in others if len(kept) == 0 or _most_shared(rows[i, 2:6], kept.boxes) < 0.55]
    return sure[:MOST_BOXES].astype(np.float32), (np.array(doubt[:64]).reshape(-1, 4) / scale).astype(
        np.float32
    )


def _most_shared(box: Any, others: Any) -> float:
    sides = np.clip(np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2]), 0, None)
    shared = sides[:, 0] * sides[:, 1]
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])  # noqa: E731
    return float((shared / (area(box) + area(others) - shared)).max())


class Drawing:
    """Pages drawn by processes, and handed over as they come."""

    def __init__(self, archives: list[Path], most: int, processes: int) -> None:
        self._pool = multiprocessing.get_context("spawn").Pool(processes)
        self._ready: queue.Queue[Any] = queue.Queue(maxsize=96)
        self.finished = False
        threading.Thread(target=self._collect, args=(archives, most), name="drawing", daemon=True).start()

    def _collect(self, archives: list[Path], most: int) -> None:
        for pictures in self._pool.imap_unordered(drawn, jobs(archives, most), chunksize=2):
            for picture in pictures:
                self._ready.put(picture)
        self.finished = True

    def take(self, count: int) -> list[Any]:
        """That many pages, or none where so many are not there yet; the rest at the end."""
        if self._ready.qsize() < (1 if self.finished else count):
            return []
        return [self._ready.get() for _ in range(min(count, self._ready.qsize()))]

    def close(self) -> None:
        self._pool.terminate()


class Teacher:
    """Looks at pictures; answers for each its orientation, the page as it is kept, and what is on it."""

    def __init__(self, weights: Path, device: torch.device, batch: int = 16) -> None:
        content = pickle.loads(lzma.decompress(weights.read_bytes()))
        self._graph = Graph(content, str(device), content["outputs"][:2])
        self._device, self.batch = device, batch

    @torch.no_grad()
    def __call__(self, pictures: list[Any]) -> list[tuple[str, torch.Tensor, Any, Any]]:
        images, smalls = [], []
        for picture in pictures:
            height, width = picture.shape[:2]
            seen = torch.from_numpy(picture).to(self._device).permute(2, 0, 1)[None].float()
            # what the teacher wants: blue first, bicubic without antialiasing, as OpenCV does it
            image = (
                functional.interpolate(seen, size=(TEACHER, TEACHER), mode="bicubic").clamp(0, 255).round()
            )
            images.append(image.flip(1) / 255)
            size = (LONG, SHORT) if height >= width else (SHORT, LONG)
            small = functional.interpolate(seen, size=size, mode="bilinear", antialias=True)
            smalls.append(small.round().clamp(0, 255).byte()[0].permute(1, 2, 0))
        full = torch.cat(
            images + images[:1] * (self.batch - len(images))
        )  # one size, so that shapes are kept
        rows, _ = self._graph(
            image=full, im_shape=torch.full((len(full), 2), 800.0, device=self._device),
            scale_factor=torch.ones(len(full), 2, device=self._device),
        )  # fmt: skip
        found = rows.float().cpu().numpy().reshape(len(full), -1, 7)
        made = []
        for picture, small, page_rows in zip(pictures, smalls, found, strict=False):
            height, width = picture.shape[:2]
            sure, doubt = told(page_rows, width, height)
            if len(sure):
                made.append(("portrait" if height >= width else "landscape", small, sure, doubt))
        return made
