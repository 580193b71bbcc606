"""Measures our client beside the GLM-OCR SDK's: the same pages, boxes and server, in one run.

    python benchmarks/cpu/client_against_sdk.py [--pages 160] [--repeats 3]

Needs the SDK in `venv/glmocr`, which is installed here when it is absent. Pages of 2480 x 3508 as JPEG with 8
known regions each go through the glm-ocr recipe and through the SDK's pipeline (`lib/sdk_side.py`); a fake
server in a process of its own answers both. Three tables: CPU a page (both sides' processes with all their
children; the slope between two numbers of pages, so that starting is not in it; decoding the page listed
apart and taken off), CPU of one request, and how full the limit of requests in flight is. The last line is
JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from penstock.engines.vllm.probe import healthy
from penstock.engines.vllm.server import free_port

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib import bare_load
from benchmarks.lib.common import REPOSITORY, finish, spread
from benchmarks.lib.known_pages import HEIGHT, WIDTH, boxes_of

SIDES_HOME = REPOSITORY / "benchmarks" / "lib"
SDK_HOME = REPOSITORY / "venv" / "glmocr"
SDK = "glmocr==0.1.5"
# what its client needs; its layout network (torch, transformers) is not run here
SDK_NEEDS = (
    "pymupdf requests pydantic PyYAML portalocker python-dotenv tqdm pillow numpy opencv-python-headless"
)
CROPS = {
    "1042x351": (200, 100, 1242, 451),
    "2083x211": (200, 500, 2283, 711),
    "2083x2105": (200, 800, 2283, 2905),
}
TINT = 40  # levels of blue taken off the paper: colour to every test, as a yellowed scan
SIDES = ("sdk", "penstock")
INTERVALS = {"managed": 32, "foreign": 1}  # tokens an event: as `penstock engine` starts vLLM, and vLLM's own


def sdk_python() -> str:
    python = SDK_HOME / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(SDK_HOME)], check=True)
        for packages in (["--no-deps", SDK], SDK_NEEDS.split()):
            subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    return str(python)


def side(name: str, *arguments: object) -> tuple[dict[str, Any], float]:
    """What one side prints, and the CPU seconds of it and of all its children."""
    python = sdk_python() if name == "sdk" else sys.executable
    command = [python, "-W", "ignore", str(SIDES_HOME / f"{name}_side.py"), *map(str, arguments)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result, cpu


def environment() -> dict[str, str]:
    """Both sides alike: no pools of idle threads, no key that would send the SDK to a cloud."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GLMOCR_", "ZHIPU_"))}
    return {**kept, "OMP_NUM_THREADS": "1"}


@contextmanager
def server(delay_ms: float, interval: int, spread: float = 0.0) -> Iterator[str]:
    """The fake server in its own process, which nobody's CPU time includes."""
    port = free_port()
    manners = [
        "--delay-ms",
        str(delay_ms),
        "--answer-tokens",
        "100",
        "--stream-interval",
        str(interval),
        "--spread",
        str(spread),
    ]
    command = [sys.executable, "-m", "penstock.testing.fake_server", str(port), "--max-model-len", "16384"]
    with subprocess.Popen([*command, *manners], stdout=subprocess.DEVNULL) as process:
        try:
            while not healthy(f"http://127.0.0.1:{port}", 1.0):
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def write_pages(folder: Path, count: int) -> None:
    """The known pages and their boxes, black on white and on yellowed paper."""
    for name in ("grey", "colour"):
        (folder / name).mkdir()
    bare_load.write_pages(str(folder / "grey"), range(count), WIDTH, HEIGHT)
    for number in range(count):
        page = cv2.imread(str(folder / "grey" / f"{number:05d}.jpg"))
        assert page is not None
        page[:, :, 0] = np.maximum(page[:, :, 0], TINT) - TINT
        cv2.imwrite(str(folder / "colour" / f"{number:05d}.jpg"), page, [cv2.IMWRITE_JPEG_QUALITY, 90])
    boxes = {f"{number:05d}": boxes_of(number, WIDTH, HEIGHT) for number in range(count)}
    (folder / "boxes.json").write_text(json.dumps(boxes))


def cpu_a_page(folder: Path, kind: str, options: argparse.Namespace, repeats: int) -> dict[str, Any]:
    """CPU milliseconds a page, by servers that stream differently; ours may stream, the SDK never does."""
    few, many = options.pages // 4, options.pages
    rows: dict[str, list[float]] = {"sdk": [], "sdk decode": [], "penstock decode": []}
    rows |= {f"penstock, {name}": [] for name in INTERVALS}
    regions = {}
    for _ in range(repeats):
        for name in SIDES:
            rows[f"{name} decode"].append(side(name, "decode", folder / kind, 40)[0]["decode"])
        for setting, interval in INTERVALS.items():
            with server(options.delay_ms, interval) as url:
                for name in SIDES if setting == "managed" else SIDES[1:]:
                    told, cpus = zip(
                        *(
                            side(name, "pages", folder / kind, folder / "boxes.json", n, url, 32)
                            for n in (few, many)
                        ),
                        strict=True,
                    )
                    row = "sdk" if name == "sdk" else f"penstock, {setting}"
                    rows[row].append(1e3 * (cpus[1] - cpus[0]) / (many - few))
                    regions[name] = told[1]["regions"]
    return {"regions": regions, "ms": {name: spread(values) for name, values in rows.items()}}


def without_decode(figures: dict[str, Any]) -> dict[str, float]:
    ms = {name: row["median"] for name, row in figures["ms"].items()}
    left = {"sdk": ms["sdk"] - ms["sdk decode"]}
    left |= {name: ms[name] - ms["penstock decode"] for name in ms if name.startswith("penstock, ")}
    return left


def request_build(folder: Path, repeats: int) -> dict[str, Any]:
    """CPU milliseconds of a request: the SDK's from a crop that is cut, ours from the decoded page."""
    rows: dict[str, dict[str, Any]] = {}
    for kind in ("grey", "colour"):
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in SIDES}
        for _ in range(repeats):
            for name in SIDES:
                found[name].append(side(name, "build", folder / kind / "00000.jpg", json.dumps(CROPS), 15)[0])
        for crop in CROPS:
            row: dict[str, Any] = {name: spread([each[crop] for each in found[name]]) for name in SIDES}
            row["blank check"] = spread([each[crop + " blank check"] for each in found["penstock"]])
            row["times"] = row["sdk"]["median"] / row["penstock"]["median"]
            rows[f"{crop} {kind}"] = row
    return rows


def in_flight(folder: Path, pages: int) -> list[dict[str, Any]]:
    """How full the limit was while as many regions were ready, as the server's own gauge tells."""
    rows = []
    # 32 answers a second, about what an H200 gives at full resolution; each takes its own time
    for limit, delay_ms in ((32, 1000), (128, 4000)):
        with server(delay_ms, INTERVALS["managed"], spread=0.5) as url:
            about = {"limit": limit, "delay_ms": delay_ms}
            common = (folder / "grey", folder / "boxes.json", pages, url, limit)
            rows.append(
                {"who": "penstock, all regions ready", **about, **side("penstock", "ready", *common)[0]}
            )
            for name in SIDES:
                rows.append({"who": f"{name}, pages", **about, **side(name, "pages", *common, "watch")[0]})
    return rows


def show_cpu(kind: str, figures: dict[str, Any]) -> dict[str, float]:
    print(f"\nCPU ms a page, {kind} pages (median, least to most); regions answered: {figures['regions']}")
    for name, row in figures["ms"].items():
        print(f"  {name:20} {row['median']:7.1f}  ({row['min']:.1f} to {row['max']:.1f})")
    left = without_decode(figures)
    shares = {name: left[name] / left["sdk"] for name in left if name != "sdk"}
    for name, value in left.items():
        share = f"  {shares[name]:.2f} of the SDK's; goal 0.25" if name in shares else ""
        print(f"  {name:20} {value:7.1f}  without decoding{share}")
    return shares


def show_build(rows: dict[str, Any]) -> None:
    print("\nCPU ms a request (median): SDK, ours, ours to see whether it is blank; goal 5 times")
    for name, row in rows.items():
        sdk, ours, blank = (row[key]["median"] for key in ("sdk", "penstock", "blank check"))
        print(f"  {name:18} {sdk:7.2f} {ours:7.2f} {blank:7.2f}   {row['times']:.1f} times")


def show_flight(rows: list[dict[str, Any]]) -> None:
    print("\nRequests in flight at the server while as many as the limit were ready")
    for row in rows:
        filled = (
            "never as many ready" if row["filled"] is None else f"{row['filled']:.1%} of the time at 95 %"
        )
        share = "" if row["mean_share"] is None else f", mean {row['mean_share']:.1%} of the limit"
        told = f"; client's own figure {row['client_filled']:.1%}" if "client_filled" in row else ""
        print(
            f"  limit {row['limit']:3} after {row['delay_ms']} ms, {row['who']:28} peak {row['peak']:3}, "
            f"mean {row['mean']:5}; ready {row['ready_s']:5.1f} s: {filled}{share}{told}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=160)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--delay-ms", type=float, default=50.0, help="of the server, while CPU is measured")
    options = parser.parse_args()
    sdk_python()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_pages(folder, options.pages)
        build = request_build(folder, options.repeats)
        show_build(build)
        flight = in_flight(folder, options.pages // 4)
        show_flight(flight)
        cpu, shares = {}, {}
        for kind, repeats in (("grey", options.repeats), ("colour", 1)):
            cpu[kind] = cpu_a_page(folder, kind, options, repeats)
            shares[kind] = show_cpu(kind, cpu[kind])
    finish(
        "client_against_sdk", sdk=SDK, pages=options.pages, cpu=cpu, shares=shares, build=build, flight=flight
    )


if __name__ == "__main__":
    main()
