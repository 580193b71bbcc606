"""Measures pages a second of a model's servers with vLLM's own vision tower and with the plugin's.

    python benchmarks/gpu/served_towers.py paddleocr-vl              # about 8 minutes on an H200
    python benchmarks/gpu/served_towers.py qwen3-vl-embedding --ways auto --pages 16    # only the plugin's

Makes a checkpoint of the model's real shape, which servers fill with random weights, and starts the servers
of the card's preset twice. Crops and answer lengths are those of the other benchmarks; DeepSeek-OCR reads
whole pages, and Qwen3-VL-Embedding gives each a vector. The presets' servers keep no pictures and prefixes,
so sending the same ones again is as good as others. The last line is JSON.
"""

from __future__ import annotations

import argparse
import base64
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from benchmarks.lib.known_pages import HEIGHT, WIDTH

NAME = "model"
A4_AT_144 = (1_191, 1_684)
ANSWER_TOKENS = 1_000  # of a whole page
Pictures = list[tuple[str, int]]


@dataclass(frozen=True)
class Served:
    """How a model is served and asked. Servers share `kv_gib`: with a fixed cache they start together."""

    preset: str
    folder: Callable[[Path], Path]
    size: tuple[int, int]
    pictures: Callable[[Sequence[str]], Pictures]
    ask: Request
    in_flight: int
    kv_gib: int


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


SERVED = {
    "glm-ocr": Served("glm-ocr", real_shapes.glm_ocr, (WIDTH, HEIGHT), crops, reading, 1_024, 72),
    "paddleocr-vl": Served(
        "paddleocr-vl", real_shapes.paddleocr_vl, (WIDTH, HEIGHT), crops, reading, 1_024, 40
    ),
    "deepseek-ocr": Served("deepseek-ocr", deepseek_folder, A4_AT_144, whole_pages, reading, 512, 72),
    "qwen3-vl-embedding": Served(
        EMBEDDING, real_shapes.qwen3_vl_embedding_2b, (WIDTH, HEIGHT), whole_pages, embedding, 128, 40
    ),
}


@contextmanager
def running(served: Served, folder: Path, way: str, flags: Sequence[str]) -> Iterator[list[ManagedServer]]:
    card = next(iter(cards()), None)
    chosen = preset_for(served.preset, "auto", card)
    kv = ["--kv-cache-memory-bytes", str(served.kv_gib * 2**30 // chosen.servers)] if card else []
    extra = ["--load-format", "dummy", *kv, *flags]
    with ExitStack() as stack:
        servers = [
            ManagedServer(
                str(folder),
                chosen,
                card.index if card else None,
                extra_args=extra,
                served_name=NAME,
                vision=way,
                probe=served.ask is reading,
            )
            for _ in range(chosen.servers)
        ]
        for server in servers:
            stack.callback(server.stop)
        with ThreadPoolExecutor(len(servers)) as pool:
            list(pool.map(ManagedServer.start, servers))
        yield servers


def measure(served: Served, folder: Path, way: str, options: Any, pictures: Pictures, warm: Pictures) -> Any:
    began = time.perf_counter()
    with running(served, folder, way, options.flags.split()) as servers:
        up = time.perf_counter() - began
        print(f"{way}: up after {up:.0f} s. {vision_line(servers[0])}", flush=True)
        urls = [server.url for server in servers]
        send_all(urls, NAME, warm, served.in_flight, served.ask)
        rates = []
        for _ in range(options.repeats):
            took = send_all(urls, NAME, pictures, served.in_flight, served.ask)
            rates.append(options.pages / took)
            print(f"  {rates[-1]:.2f} pages/s", flush=True)
    return {"way": way, "start_s": up, "pages_per_s": statistics.median(rates), "runs": rates}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=list(SERVED))
    parser.add_argument("--pages", type=int, default=192)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ways", nargs="+", default=["plain", "fast"], help="as --vision names the towers")
    parser.add_argument("--flags", default="", help="more for every server")
    parser.add_argument("--small", action="store_true", help="pages of a quarter of the size, for a CPU")
    options = parser.parse_args()
    served = SERVED[options.model]
    width, height = (side // 4 if options.small else side for side in served.size)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "pages").mkdir()
        write_pages(str(work / "pages"), range(options.pages + options.warm), width, height)
        paths = sorted(str(path) for path in (work / "pages").glob("*.jpg"))
        pictures, warm = (served.pictures(some) for some in (paths[options.warm :], paths[: options.warm]))
        folder = served.folder(work / options.model)
        rows = [measure(served, folder, way, options, pictures, warm) for way in options.ways]
    gain = rows[-1]["pages_per_s"] / rows[0]["pages_per_s"]
    print(f"{options.model}: {options.ways[-1]} reads {gain:.2f} times the pages of {options.ways[0]}")
    finish("served_towers", model=options.model, pages=options.pages, gain=gain, rows=rows)


if __name__ == "__main__":
    sys.exit(main())
