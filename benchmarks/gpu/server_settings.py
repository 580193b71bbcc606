"""Measures settings of vLLM on one GPU, each on distinct crops with a load generator that only sends.

    python benchmarks/gpu/server_settings.py MODEL                       # zai-org/GLM-OCR, or a folder
    python benchmarks/gpu/server_settings.py MODEL --only base/mps --scales 0.7 --flags="--load-format dummy"

Each setting changes one thing of the preset (`SETTINGS` below): its servers are started, asked about
pages of their own to get warm, sent the pages' regions at each scale, and stopped. No crop comes
twice to a server, so no cache can help. Prints a line a setting; the last line is JSON.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.engines.vllm.presets import cards, preset
from penstock.engines.vllm.server import ManagedServer
from penstock.errors import OpenError

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.bare_load import crops_of, send_all, write_pages
from benchmarks.lib.common import finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH
from benchmarks.lib.load_watch import LoadWatch

NAME = "glm-ocr"
WARM_PAGES = 16
KV_GIB = 72  # of all servers together: 1,024 requests of about 1,000 tokens, 64 KiB each


@dataclass(frozen=True)
class Setting:
    """What differs from the preset: how many servers if not as many, flags in place of its own."""

    servers: int = 0
    flags: str = ""
    env: str = ""
    mps: bool = False
    vision: str = "auto"


SETTINGS = {
    "base": Setting(),
    "plain tower": Setting(vision="plain"),
    "fp8 tower": Setting(vision="fp8"),
    "mps": Setting(mps=True),
    "one server": Setting(servers=1, flags="--api-server-count 8 --max-num-batched-tokens 65536"),
    "three servers": Setting(servers=3, flags="--api-server-count 3"),
    "three servers, mps": Setting(servers=3, flags="--api-server-count 3", mps=True),
    "two API processes": Setting(flags="--api-server-count 2"),
    "six API processes": Setting(flags="--api-server-count 6"),
    "four threads": Setting(env="OMP_NUM_THREADS=4"),
    "sixteen threads": Setting(env="OMP_NUM_THREADS=16"),  # vLLM's own choice on 16 cores
    "two renderers": Setting(flags="--renderer-num-workers 2"),
    "shared memory": Setting(flags="--mm-tensor-ipc torch_shm", env="VLLM_WORKER_MULTIPROC_METHOD=spawn"),
    "8,192 tokens": Setting(flags="--max-num-batched-tokens 8192"),
    "16,384 tokens": Setting(flags="--max-num-batched-tokens 16384"),
    "65,536 tokens": Setting(flags="--max-num-batched-tokens 65536"),
    "no chunked prefill": Setting(flags="--no-enable-chunked-prefill"),
    "caches": Setting(flags="--enable-prefix-caching --mm-processor-cache-gb 4"),
    "as vLLM comes": Setting(
        servers=1,
        flags="--api-server-count 1 --enable-prefix-caching --mm-processor-cache-gb 4 --stream-interval 1"
        " --max-num-seqs 1024 --max-num-batched-tokens 8192",
    ),
}


@contextmanager
def multi_process_service(wanted: bool) -> Iterator[dict[str, str]]:
    """NVIDIA's MPS: kernels of several processes run side by side instead of in turns."""
    if not wanted:
        yield {}
        return
    tool = shutil.which("nvidia-cuda-mps-control") or "/usr/local/nvidia/bin/nvidia-cuda-mps-control"
    with tempfile.TemporaryDirectory() as folder:
        where = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        subprocess.run([tool, "-d"], env={**os.environ, **where}, check=True, timeout=30)
        try:
            yield where
        finally:
            subprocess.run([tool], input=b"quit\n", env={**os.environ, **where}, check=False, timeout=60)


@contextmanager
def running(model: str, setting: Setting, base: str, flags: str) -> Iterator[list[ManagedServer]]:
    """The setting's servers, started together: their KV cache has a fixed size, so none measures another."""
    card = next(iter(cards()), None)
    chosen = preset(base, card)
    count = setting.servers or chosen.servers
    gpu = card.index if card else None
    kv = ["--kv-cache-memory-bytes", str(KV_GIB * 2**30 // count)] if card else []
    extra = [*shlex.split(flags), *kv, *shlex.split(setting.flags)]
    with multi_process_service(setting.mps) as where, ExitStack() as stack:
        env = {**where, **dict(pair.split("=", 1) for pair in setting.env.split())}
        servers = [
            ManagedServer(
                model, chosen, gpu, extra_args=extra, served_name=NAME, env=env, vision=setting.vision
            )
            for _ in range(count)
        ]
        for server in servers:
            stack.callback(server.stop)
        with ThreadPoolExecutor(len(servers)) as pool:
            list(pool.map(ManagedServer.start, servers))
        yield servers


def vision_line(server: ManagedServer) -> str:
    """What the server's log says of its vision tower."""
    lines = server.log_path.read_text(errors="replace").splitlines()
    return next((line for line in lines if "penstock:" in line), "the log says nothing of the tower")


def measure(options: argparse.Namespace, setting: Setting, crops: dict[str, Any], warm: Any) -> list[Any]:
    rows = []
    began = time.perf_counter()
    with running(options.model, setting, options.preset, options.flags) as servers:
        print(f"  up after {time.perf_counter() - began:.0f} s", flush=True)
        urls = [server.url for server in servers]
        send_all(urls, NAME, warm, options.limit)
        print(f"  {vision_line(servers[0])}", flush=True)
        for scale, some in crops.items():
            rates, watch = [], LoadWatch(urls)
            with watch:
                for _ in range(options.repeats):
                    rates.append(options.pages / send_all(urls, NAME, some, options.limit))
            rows.append({"scale": scale, "pages_per_s": statistics.median(rates), "runs": rates})
            rows[-1] |= watch.figures()
            shown = " ".join(f"{rate:.2f}" for rate in rates)
            print(f"  scale {scale}: {shown} pages/s; {watch.sentence()}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--only", default="/".join(SETTINGS), help="names, a slash between two")
    parser.add_argument("--flags", default="", help="for every server, such as --load-format dummy")
    parser.add_argument("--pages", type=int, default=256)
    parser.add_argument("--limit", type=int, default=1024)
    parser.add_argument("--scales", default="0.7")
    parser.add_argument("--repeats", type=int, default=1, help="of each scale; the median counts")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no setting after so many")
    options = parser.parse_args()
    results = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        write_pages(folder, range(options.pages + WARM_PAGES), WIDTH, HEIGHT)
        paths = sorted(str(path) for path in Path(folder).glob("*.jpg"))
        warm = crops_of(paths[options.pages :], 0.7)
        crops = {scale: crops_of(paths[: options.pages], float(scale)) for scale in options.scales.split(",")}
        for name in options.only.split("/"):
            if time.perf_counter() - began > 60 * options.minutes:
                break
            print(name, flush=True)
            try:
                rows = measure(options, SETTINGS[name], crops, warm)
            except (OpenError, AssertionError, OSError, subprocess.SubprocessError) as exc:
                rows = [{"failed": str(exc)}]
                print(f"  failed: {exc}", flush=True)
            results.append({"setting": name, "rows": rows})
    finish("server_settings", pages=options.pages, limit=options.limit, results=results)


if __name__ == "__main__":
    sys.exit(main())
