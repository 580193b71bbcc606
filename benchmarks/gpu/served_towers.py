"""Measures pages a second of a model's servers with vLLM's own vision tower and with the plugin's.

    python benchmarks/gpu/served_towers.py deepseek-ocr qwen3-vl-embedding       # 7 minutes on an H200
    python benchmarks/gpu/served_towers.py qwen3-vl-embedding --ways auto --pages 16    # only the plugin's
    python benchmarks/gpu/served_towers.py deepseek-ocr --beside "py-spy record -d 15 -p {engine} -o {way}"

Makes a checkpoint of each model's real shape, which servers fill with random weights, and starts the servers
of the card's preset once for each way, all at the same time. A model's ways are asked in turns, so what a
machine does to one it does to the other. Crops and answer lengths are those of the other
benchmarks; DeepSeek-OCR reads whole pages with its guard against loops, as the recipe asks for it, and
Qwen3-VL-Embedding gives each a vector. The presets' servers keep no pictures and prefixes, so sending the
same ones again is as good as others. The last line is JSON.
"""

from __future__ import annotations

import argparse
import base64
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from penstock.engines.chat.deepseek.pages import FIRST
from penstock.engines.vllm.embedding_presets import EMBEDDING
from penstock.engines.vllm.presets import cards
from penstock.engines.vllm.server import ManagedServer
from penstock.engines.vllm.server_plan import preset_for

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.gpu import deepseek_shape
from benchmarks.gpu.server_settings import vision_line
from benchmarks.lib import real_shapes
from benchmarks.lib.bare_load import Request, crops_of, embedding, reading, send_all, write_pages
from benchmarks.lib.common import finish
from benchmarks.lib.known_pages import HEIGHT, REGIONS, WIDTH
from benchmarks.lib.load_watch import LoadWatch

NAME = "model"
A4_AT_144 = (1_191, 1_684)
ANSWER_TOKENS = 1_000  # of a whole page
Pictures = list[tuple[str, int]]


@dataclass(frozen=True)
class Served:
    """How a model is served and asked. Its servers share `kv_gib`: with a fixed cache all start together."""

    preset: str
    folder: Callable[[Path], Path]
    size: tuple[int, int]
    pictures: Callable[[Sequence[str]], Pictures]
    ask: Request
    in_flight: int
    kv_gib: int
    requests_a_page: int = 1


def deepseek_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    deepseek_shape.write_for_vllm(folder, "DeepseekOCRForCausalLM", 2048, deepseek_shape.LANGUAGE)
    return folder


def crops(paths: Sequence[str]) -> Pictures:
    return crops_of(paths, 1.0)


def whole_pages(paths: Sequence[str]) -> Pictures:
    """Each page, and a length around that of a page's answer."""
    lengths = random.Random(0)
    return [
        (base64.b64encode(Path(path).read_bytes()).decode(), round(lengths.gauss(1, 0.1) * ANSWER_TOKENS))
        for path in paths
    ]


def guarded(model: str, image: str, tokens: int) -> tuple[str, dict[str, Any]]:
    """A request for a page, with the guard against loops."""
    path, body = reading(model, image, tokens)
    return path, {**body, **FIRST.sampling()}


SERVED = {
    "glm-ocr": Served("glm-ocr", real_shapes.glm_ocr, (WIDTH, HEIGHT), crops, reading, 1_024, 72, REGIONS),
    "paddleocr-vl": Served(
        "paddleocr-vl", real_shapes.paddleocr_vl, (WIDTH, HEIGHT), crops, reading, 1_024, 40, REGIONS
    ),
    "deepseek-ocr": Served("deepseek-ocr", deepseek_folder, A4_AT_144, whole_pages, guarded, 512, 72),
    "qwen3-vl-embedding": Served(
        EMBEDDING, real_shapes.qwen3_vl_embedding_2b, (WIDTH, HEIGHT), whole_pages, embedding, 128, 24
    ),
}


Groups = dict[str, list[ManagedServer]]  # by way


@contextmanager
def running(models: Mapping[str, Path], options: Any) -> Iterator[dict[str, Groups]]:
    """The servers of every model and way, started side by side."""
    groups = {name: {way: servers_of(SERVED[name], folder, way, options) for way in options.ways}
              for name, folder in models.items()}  # fmt: skip
    everyone = [one for ways in groups.values() for group in ways.values() for one in group]
    with ExitStack() as stack:
        for one in everyone:
            stack.callback(one.stop)
        with ThreadPoolExecutor(len(everyone)) as pool:
            list(pool.map(ManagedServer.start, everyone))
        yield groups


def servers_of(served: Served, folder: Path, way: str, options: Any) -> list[ManagedServer]:
    card = next(iter(cards()), None)
    chosen = preset_for(served.preset, "auto", card)
    chosen = replace(chosen, api_processes=options.api_processes or chosen.api_processes)
    share = served.kv_gib * 2**30 // (chosen.servers * len(options.ways))
    # a small share of the card, since vLLM wants all of it to be free when it starts
    kv = ["--kv-cache-memory-bytes", str(share), "--gpu-memory-utilization", "0.05"] if card else []
    extra, probe = ["--load-format", "dummy", *kv, *options.flags.split()], served.ask is not embedding
    gpu = card.index if card else None
    return [
        ManagedServer(str(folder), chosen, gpu, extra_args=extra, served_name=NAME, vision=way, probe=probe)
        for _ in range(chosen.servers)
    ]


def measure(name: str, groups: Groups, pictures: Pictures, warm: Pictures, options: Any) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {way: {"runs": [], "load": []} for way in groups}
    for way, servers in groups.items():
        print(f"{name}, {way}: {vision_line(servers[0])}", flush=True)
        send(SERVED[name], servers, warm)
    for _ in range(options.repeats):
        for way, servers in groups.items():
            one_round(name, way, servers, pictures, rows[way])
    if options.beside:
        for way, servers in groups.items():
            watched_round(name, way, servers, pictures, options.beside)
    for row in rows.values():
        row["pages_per_s"] = statistics.median(row["runs"])
    first, last = rows[options.ways[0]]["pages_per_s"], rows[options.ways[-1]]["pages_per_s"]
    print(
        f"{name}: {options.ways[-1]} reads {last / first:.2f} times the pages of {options.ways[0]}",
        flush=True,
    )
    return {"gain": last / first, "ways": rows}


def send(served: Served, servers: Sequence[ManagedServer], pictures: Pictures) -> float:
    return send_all([server.url for server in servers], NAME, pictures, served.in_flight, served.ask)


def one_round(
    name: str, way: str, servers: Sequence[ManagedServer], pictures: Pictures, row: dict[str, Any]
) -> None:
    served = SERVED[name]
    with LoadWatch([server.url for server in servers]) as watch:
        rate = len(pictures) / served.requests_a_page / send(served, servers, pictures)
    row["runs"].append(rate)
    row["load"].append(watch.figures())
    print(f"  {way} {rate:.2f} pages/s; {watch.sentence()}", flush=True)


def watched_round(
    name: str, way: str, servers: Sequence[ManagedServer], pictures: Pictures, command: str
) -> None:
    """One more round, which does not count, with a command beside it: a profiler of the engine, say."""
    first = servers[0]
    names = {"model": name, "way": way, "engine": engine_of(first), "front": first.pid, "url": first.url}
    with subprocess.Popen(command.format(**names), shell=True) as beside:
        send(SERVED[name], servers, pictures)
        try:
            beside.wait(60)
        except subprocess.TimeoutExpired:
            beside.kill()


def engine_of(server: ManagedServer) -> int | None:
    """The process that runs the model, as vLLM names it."""
    family = psutil.Process(server.pid).children(recursive=True) if server.pid else []
    return next((one.pid for one in family if "EngineCor" in " ".join(one.cmdline()[:4])), None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", choices=list(SERVED))
    parser.add_argument("--pages", type=int, default=192)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ways", nargs="+", default=["plain", "fast"], help="as --vision names the towers")
    parser.add_argument("--api-processes", type=int, default=0, help="of the card; 0 for the preset's")
    parser.add_argument("--flags", default="", help="more for every server")
    parser.add_argument("--beside", default="", help="a command beside one more round of each way")
    parser.add_argument("--small", action="store_true", help="pages of a quarter of the size, for a CPU")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        folders = {model: SERVED[model].folder(work / model) for model in options.models}
        pictures = {
            model: made_pictures(SERVED[model], work / f"{model} pages", options) for model in options.models
        }
        began = time.perf_counter()
        with running(folders, options) as groups:
            up = time.perf_counter() - began
            print(f"all servers are up after {up:.0f} s", flush=True)
            results = {
                model: measure(model, ways, *pictures[model], options) for model, ways in groups.items()
            }
    finish("served_towers", pages=options.pages, start_s=up, results=results)


def made_pictures(served: Served, folder: Path, options: Any) -> tuple[Pictures, Pictures]:
    """What is asked about, and what the servers get warm with."""
    width, height = (side // 4 if options.small else side for side in served.size)
    folder.mkdir()
    write_pages(str(folder), range(options.pages + options.warm), width, height)
    paths = sorted(str(path) for path in folder.glob("*.jpg"))
    return served.pictures(paths[options.warm :]), served.pictures(paths[: options.warm])


if __name__ == "__main__":
    sys.exit(main())
