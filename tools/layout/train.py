"""Labels pages by the teacher and trains the student and the order network on them, all on one device.

    train.py --archives A.tar.xz B.tar --teacher teacher.pkl.xz --out FOLDER --minutes 13

Pages are drawn and labelled while training has begun with the first of them.

Writes `student.pt` (16-bit weights averaged over the last steps) every two minutes and at the end.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from losses import detection_loss
from network import Student
from order import Order, disordered, order_loss
from prepare import LONG, SHORT, Drawing, Teacher
from spoil import light, moved, seen_through, shapes
from torch import Tensor

BOXES, DOUBTS = 128, 32
WARM_UP, AVERAGE = 0.03, 0.9993


class Pages:
    """Pages of one orientation with the teacher's boxes, in the device's memory; more come."""

    def __init__(self, way: str, room: int, device: torch.device) -> None:
        size = (LONG, SHORT) if way == "portrait" else (SHORT, LONG)
        self.pictures = torch.empty((room, *size, 3), dtype=torch.uint8, device=device)
        self.labels = torch.full((room, BOXES), -1, device=device)
        self.ranks = torch.zeros((room, BOXES), dtype=torch.int64, device=device)
        self.boxes = torch.zeros((room, BOXES, 4), device=device)
        self.doubts = torch.zeros((room, DOUBTS, 4), device=device)
        self.chance = torch.zeros(0, device=device)
        self.count = 0

    def add(self, picture: Tensor, sure: Any, doubt: Any) -> None:
        if self.count == len(self.pictures):
            return
        number, held = self.count, min(len(sure), BOXES)
        self.pictures[number] = picture
        rows = torch.from_numpy(sure[:held]).to(picture.device)
        self.labels[number, :held], self.ranks[number, :held] = rows[:, 0].long(), rows[:, 2].long()
        self.boxes[number, :held] = rows[:, 3:]
        self.doubts[number, : min(len(doubt), DOUBTS)] = torch.from_numpy(doubt[:DOUBTS]).to(picture.device)
        self.count += 1

    def weigh(self) -> None:
        """Crowded pages and rare labels come more often."""
        labels = self.labels[: self.count]
        kinds = torch.stack([(labels == kind).any(1) for kind in range(25)], 1).float()
        rare = (kinds / kinds.mean(0).clamp(min=0.01) ** 0.4).amax(1)
        self.chance = rare * ((labels >= 0).sum(1) / 12).clamp(0.5, 2.0)

    def __len__(self) -> int:
        return self.count


def turned(boxes: Tensor, quarter: int) -> Tensor:
    """Boxes of 0..1 on a page turned by quarters against the clock, as torch.rot90 turns it."""
    x0, y0, x1, y1 = boxes.unbind(-1)
    for _ in range(quarter):
        x0, y0, x1, y1 = y0, 1 - x1, y1, 1 - x0
    return torch.stack([x0, y0, x1, y1], -1)


def batch_of(pages: dict[str, Pages], way: str, count: int) -> dict[str, Tensor]:
    """A batch for pictures of one orientation: some pages turned, all moved and spoiled."""
    other = "portrait" if way == "landscape" else "landscape"
    parts: list[dict[str, Tensor]] = []
    aside = max(1, count // 10)
    over = max(1, count // 20)
    for source, quarter, number in (
        (way, 0, count - 2 * aside - over), (way, 2, over), (other, 1, aside), (other, 3, aside),
    ):  # fmt: skip
        held = pages[source]
        if not len(held) or number == 0:
            continue
        index = torch.multinomial(held.chance, number, replacement=True)
        pictures = torch.rot90(held.pictures[index], quarter, (1, 2)).permute(0, 3, 1, 2)
        parts.append({
            "pictures": pictures, "boxes": turned(held.boxes[index], quarter), "labels": held.labels[index], "ranks": held.ranks[index],  # noqa: E501
            "doubts": turned(held.doubts[index], quarter), "way": torch.full((number,), quarter, device=index.device),  # noqa: E501
        })  # fmt: skip
    whole = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    size = tuple(whole["pictures"].shape[-2:])
    shape = shapes(len(whole["way"]), whole["way"].device)
    pictures = seen_through(whole["pictures"].float() / 255, shape, size)
    whole["pictures"] = light(pictures)
    boxes, left = moved(whole["boxes"], shape)
    sides = torch.tensor([size[1], size[0]] * 2, device=boxes.device)
    boxes = boxes * sides
    gone = (left < 0.35) | ((boxes[..., 2:] - boxes[..., :2]).amin(-1) < 3)
    cut = (left < 0.6) & (left >= 0.1) & (whole["labels"] >= 0)
    doubts, _ = moved(whole["doubts"], shape)
    whole["doubts"] = torch.cat([doubts * sides, boxes * cut[..., None]], 1)
    whole["labels"] = whole["labels"].masked_fill(gone, -1)
    whole["boxes"] = boxes
    most = int((whole["labels"] >= 0).sum(1).max().clamp(min=1))
    first = (whole["labels"] < 0).long().sort(dim=1, stable=True).indices[:, :most]
    for name in ("labels", "ranks"):
        whole[name] = whole[name].gather(1, first)
    whole["boxes"] = whole["boxes"].gather(1, first[..., None].expand(-1, -1, 4))
    return whole


def rate(done: float, highest: float) -> float:
    if done < WARM_UP:
        return highest * max(0.02, done / WARM_UP)
    return highest * (
        0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, (done - WARM_UP) / (1 - WARM_UP))))
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--archives", nargs="+", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--most", type=int, default=14)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--room", type=int, nargs=2, default=(6500, 1800))
    parser.add_argument("--first", type=int, default=600)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=13)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--start", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    drawing = Drawing(options.archives, options.most, options.processes)
    teacher = Teacher(options.teacher, device, 16 if device.type == "cuda" else 2)
    pages = {
        way: Pages(way, room, device)
        for way, room in zip(("portrait", "landscape"), options.room, strict=True)
    }
    net = Student().to(device).to(memory_format=torch.channels_last)
    order = Order().to(device)
    if options.start:
        held = torch.load(options.start, map_location=device, weights_only=True)
        net.load_state_dict(held["student"], strict=False)
        order.load_state_dict(held["order"])
    kept = {
        name: value.detach().float().clone()
        for name, value in net.state_dict().items()
        if value.is_floating_point()
    }
    parameters = [*net.parameters(), *order.parameters()]
    optimiser = torch.optim.AdamW(
        [{"params": [p for p in parameters if p.ndim > 1], "weight_decay": 0.04}, {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0}],  # noqa: E501
        lr=options.rate, betas=(0.9, 0.98), fused=device.type == "cuda",
    )  # fmt: skip
    started, saved, step, log = time.time(), time.time(), 0, []
    dice = np.random.default_rng(options.seed)
    labelled = False
    while (done := (time.time() - started) / (60 * options.minutes)) < 1:
        if not labelled:
            pictures = drawing.take(teacher.batch)
            for way, picture, sure, doubt in teacher(pictures) if pictures else ():
                pages[way].add(picture, sure, doubt)
            if pictures:
                for held in pages.values():
                    held.weigh()
            labelled = drawing.finished and not pictures
            if labelled:
                print(
                    "labelled",
                    {way: len(held) for way, held in pages.items()},
                    round(time.time() - started),
                    "s",
                    flush=True,
                )
            if len(pages["portrait"]) < options.first or not len(pages["landscape"]):
                time.sleep(0 if pictures else 0.02)
                continue
        share = max(0.25, len(pages["landscape"]) / sum(len(held) for held in pages.values()))
        way = "landscape" if dice.random() < share else "portrait"
        with torch.no_grad():
            batch = batch_of(pages, way, options.batch)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits, sides, way_logits = net(
                (batch["pictures"] - 0.5).contiguous(memory_format=torch.channels_last)
            )
        size = tuple(batch["pictures"].shape[-2:])
        losses = detection_loss(logits, sides, size, batch["boxes"], batch["labels"], batch["doubts"])
        losses["way"] = torch.nn.functional.cross_entropy(way_logits.float(), batch["way"])
        upright = batch["way"] == 0
        shown = batch["boxes"][upright] / torch.tensor([size[1], size[0]] * 2, device=device)
        shown = (shown + torch.randn_like(shown) * 0.002).clamp(0, 1)
        labels = batch["labels"][upright].masked_fill(torch.rand_like(shown[..., 0]) < 0.05, -1)
        logits_order = order(shown, labels)
        losses["order"] = order_loss(logits_order, labels, batch["ranks"][upright])
        loss = (
            losses["kinds"]
            + 2 * losses["giou"]
            + 0.5 * losses["sides"]
            + 0.15 * losses["way"]
            + losses["order"]
        )
        for group in optimiser.param_groups:
            group["lr"] = rate(done, options.rate)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimiser.step()
        step += 1
        follow = min(AVERAGE, (1 + step) / (20 + step))
        with torch.no_grad():
            now = net.state_dict()
            torch._foreach_lerp_(list(kept.values()), [now[name].float() for name in kept], 1 - follow)
        if step % 100 == 0 or step in (1, 10, 30):
            wrong, pairs = disordered(logits_order.detach(), labels, batch["ranks"][upright])
            row = {name: round(float(value.detach()), 3) for name, value in losses.items()}
            row |= {"pages": sum(len(held) for held in pages.values()), "step": step, "s": round(time.time() - started), "wrong_order": round(wrong / max(1, pairs), 4),  # noqa: E501
                    "way_right": round(float((way_logits.argmax(1) == batch["way"]).float().mean()), 3)}  # fmt: skip  # noqa: E501
            log.append(row)
            print(json.dumps(row), flush=True)
        if time.time() - saved > 60:
            save(options.out, kept, order, log)
            saved = time.time()
    save(options.out, kept, order, log)
    drawing.close()
    (options.out / "finished").write_text(str(step))


def save(out: Path, kept: dict[str, Tensor], order: Any, log: list[Any]) -> None:
    held = {
        "student": {name: value.half().cpu() for name, value in kept.items()},
        "order": {name: value.half().cpu() for name, value in order.state_dict().items()},
    }
    torch.save(held, out / "student.new")
    (out / "student.new").replace(out / "student.pt")
    (out / "log.json").write_text(json.dumps(log))


if __name__ == "__main__":
    main()
