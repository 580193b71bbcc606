"""Measures what the grounded recipe costs on top of its servers, against a bare load generator.

    python benchmarks/cpu/bench_grounded.py                       # a CPU, with a scripted server of our own
    python benchmarks/gpu/deepseek_shape.py SHAPES                # a GPU, with real servers
    python benchmarks/cpu/bench_grounded.py --commands SHAPES     # prints how to start them
    python benchmarks/cpu/bench_grounded.py --server http://127.0.0.1:8000 --pages 19,512
    python benchmarks/cpu/bench_grounded.py --server http://127.0.0.1:8002 --claim SHAPES/deepseek-ocr-2-hf

Both send the same JPEGs (A4 at 144 dpi: 903 picture tokens), no two alike, with the same words, answer
lengths (drawn around `--tokens` for each page) and number in flight. The generator has its requests
ready and takes whole answers; the recipe opens a PDF, renders, asks by stream, reads the answers and
commits rows. Servers have random weights, so an answer ends where its length says: that is taken as its
end here, a page is asked once, and nobody cuts loops. `--claim` compares the second model in transformers,
one page at a time, with the same model on a server. The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import itertools
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp

from penstock import recipes, sources
from penstock.engines.chat.client import ChatRequest
from penstock.engines.chat.deepseek import pages as deepseek
from penstock.engines.chat.wire import request_body
from penstock.executors.local import Local
from penstock.item import Item
from penstock.page import Page
from penstock.stages.ground import Ground
from penstock.stages.load import Load
from penstock.testing.fake_server import FakeServer, serving
from penstock.workers import ground

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.made_pdf import pdf as made_pdf
from tests.support.scripted_server import page_answer, sample_truth

WORDS = ("water", "of", "the", "reservoir", "falls", "through", "a", "steel", "pipe", "to", "a", "wheel")
A4 = "/MediaBox [0 0 595 842]"
# What the servers need: the context, no caches (no page comes twice), processes enough to cut tiles. 40 GB
# of KV cache are 650,000 tokens, 325 pages; said outright, two servers can start side by side on one card.
SERVE = (
    "python3 -m vllm.entrypoints.cli.main serve {folder} --served-model-name {name} --port {port}"
    " --load-format dummy --max-model-len 8192 --gpu-memory-utilization 0.4"
    " --kv-cache-memory-bytes 40000000000 --max-num-seqs 256 --max-num-batched-tokens 16384"
    " --no-enable-prefix-caching --mm-processor-cache-gb 0 --limit-mm-per-prompt '{{\"image\":1}}'"
    " --api-server-count {processes} --stream-interval 32 --disable-uvicorn-access-log"
)


class DrawnLengths:
    """Asks for answers of drawn lengths instead of answers that end by themselves."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    def length(self, image: bytes) -> int:
        """The same for the same picture: normal, 15 % wide, no answer beyond 1.4 of the mean."""
        share = random.Random(zlib.crc32(image)).gauss(1.0, 0.15)
        return max(1, round(self._tokens * min(1.4, max(0.6, share))))

    @contextlib.contextmanager
    def instead(self, scripted: bool) -> Iterator[None]:
        """A scripted server's answers end; those of random weights must not be asked for again."""
        if scripted:
            yield
            return
        real = ground.ChatRequest, ground.ladder, ground.page_recogniser
        ground.ChatRequest = self._request
        ground.ladder = lambda *asked: deepseek.ladder(*asked)[:1]
        ground.page_recogniser = endless
        try:
            yield
        finally:
            ground.ChatRequest, ground.ladder, ground.page_recogniser = real

    def _request(self, image: bytes, prompt: str, max_tokens: int) -> Any:
        return ChatRequest(image, prompt, self.length(image))


def endless(name: str, guard: deepseek.NgramGuard = deepseek.FIRST, *_: int) -> Any:
    """As the recipe asks (streamed: its budget is 7,000 tokens), for as many tokens as it says."""
    row = deepseek.page_recogniser(name, guard)
    sampling = {**row.sampling, "ignore_eos": True}
    return replace(row, sampling=sampling, watch_loops=False, stream_above=0)


def write_pdf(path: Path, count: int) -> Path:
    """Pages of 44 lines, no two equal: the client would ask equal ones once."""
    dice = random.Random(count)

    def page(number: int) -> str:
        lines = [" ".join(dice.choices(WORDS, k=13)) for _ in range(44)]
        shown = " ".join(f"({number:05d} {line}) Tj T*" for line in lines)
        return f"BT /F1 11 Tf 17 TL 50 800 Td {shown} ET"

    path.write_bytes(made_pdf([page(number) for number in range(count)], A4))
    return path


def rendered(pdf: Path, dpi: int) -> list[Page]:
    worker = Load(dpi=dpi, give="encoded", text_layer=False).open()
    done = [worker([item])[0] for item in sources.list_items([str(pdf)], Page)]
    worker.close()
    return only_pages(done)


def only_pages(items: Iterable[Item]) -> list[Page]:
    """An executor's items as what they were listed as."""
    return [item for item in items if isinstance(item, Page)]


async def bare(urls: list[str], bodies: list[bytes], in_flight: int) -> float:
    gate, where = asyncio.Semaphore(in_flight), itertools.cycle(urls)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:

        async def one(body: bytes) -> None:
            headers = {"Content-Type": "application/json"}
            async with (
                gate,
                session.post(f"{next(where)}/v1/chat/completions", data=body, headers=headers) as r,
            ):
                assert r.status == 200, await r.text()
                await r.read()

        began = time.monotonic()
        await asyncio.gather(*(one(body) for body in bodies))
        return time.monotonic() - began


def bodies_of(pages: list[Page], model: str, recogniser: str, length: Callable[[bytes], int]) -> list[bytes]:
    row = ground.page_recogniser(recogniser)
    images = [page.image or b"" for page in pages]
    return [
        request_body(
            image,
            row.prompt("page"),
            model,
            {**row.sampling, "max_tokens": length(image)},
            image_first=True,
            stream=None,
        )
        for image in images
    ]


def recipe(args: argparse.Namespace, pdf: Path) -> tuple[float, list[Page]]:
    """Seconds from the call to the last page, and the pages. Kept in a folder where pyarrow is there."""
    name = "grounded-2" if args.recogniser == "deepseek-ocr-2" else "grounded"
    options = {
        "server": tuple(args.server),
        "in_flight": args.in_flight,
        "model": args.model,
        "dpi": args.dpi,
    }
    began = time.monotonic()
    if importlib.util.find_spec("pyarrow") is None:
        plan = recipes.build(name, options)
        pages = only_pages(Local().stream(plan, sources.list_items([str(pdf)], Page)))
        return time.monotonic() - began, pages
    import penstock

    with tempfile.TemporaryDirectory() as out:
        pages = list(penstock.parse(pdf, out=out, recipe=name, **options))
        return time.monotonic() - began, pages


def tokens_of(pages: list[Page]) -> tuple[int, int]:
    """Prompt and answer tokens of all pages; raises where a page failed or was asked twice."""
    asked = answered = 0
    for page in pages:
        assert page.failure is None, page.failure
        [attempt] = page.attempts
        asked, answered = asked + attempt.prompt_tokens, answered + attempt.completion_tokens
    return asked, answered


def compare(args: argparse.Namespace, count: int, folder: Path, drawn: DrawnLengths) -> dict[str, Any]:
    pdf = write_pdf(folder / f"{count}.pdf", count)
    pages = rendered(pdf, args.dpi)
    length = (lambda _: deepseek.MAX_TOKENS) if args.scripted else drawn.length
    bodies = bodies_of(pages, args.model or "fake", args.recogniser, length)
    expected = sum(length(page.image or b"") for page in pages)
    rows = []
    for number in range(args.repeats):
        bare_s = asyncio.run(bare(args.server, bodies, args.in_flight))
        recipe_s, done = recipe(args, pdf)
        asked, answered = tokens_of(done)
        assert len(done) == count and (args.scripted or answered == expected), (len(done), answered, expected)
        rows.append((bare_s, recipe_s))
        print(
            f"{count} pages, run {number + 1}: bare {bare_s:.2f} s, recipe {recipe_s:.2f} s"
            f" ({recipe_s / bare_s:.3f}); {asked / count:.0f} tokens in, {answered / count:.0f} out a page",
            flush=True,
        )
    bare_s, recipe_s = (statistics.median(column) for column in zip(*rows, strict=True))
    ratios = sorted(after / before for before, after in rows)
    return {
        "pages": count,
        "bare_s": round(bare_s, 2),
        "recipe_s": round(recipe_s, 2),
        "ratio": round(statistics.median(ratios), 3),
        "ratio_min": round(ratios[0], 3),
        "ratio_max": round(ratios[-1], 3),
        "bare_pages_per_s": round(count / bare_s, 2),
        "recipe_pages_per_s": round(count / recipe_s, 2),
        "share": round(1 / statistics.median(ratios), 3),
        "tokens_in": round(asked / count),
        "tokens_out": round(answered / count),
    }


def warm(args: argparse.Namespace, folder: Path, drawn: DrawnLengths) -> None:
    """Kernels are compiled at their first use: pages that are not measured."""
    pages = rendered(write_pdf(folder / "warm.pdf", args.warm), args.dpi)
    bodies = bodies_of(
        pages, args.model or "fake", args.recogniser, lambda image: drawn.length(image) // 4 + 1
    )
    seconds = asyncio.run(bare(args.server, bodies, args.in_flight))
    print(f"warmed up with {args.warm} pages in {seconds:.1f} s", flush=True)


def one_at_a_time(stage: Ground, pages: list[Page]) -> tuple[float, int]:
    """Seconds for the pages after the first, which warms up, and the tokens of their answers."""
    worker = stage.open()
    try:
        worker(pages[:1])
        began = time.monotonic()
        done = [worker([page])[0] for page in pages[1:]]
        return time.monotonic() - began, tokens_of(done)[1]
    finally:
        worker.close()


def random_weights() -> None:
    """transformers draws the weights where the product would read them, and never ends an answer."""
    import torch
    import transformers

    kind = transformers.AutoModelForImageTextToText

    def draw(name: str, dtype: torch.dtype) -> Any:
        with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
            network = kind.from_config(transformers.AutoConfig.from_pretrained(name), dtype=dtype)
        network.generation_config.eos_token_id = None
        network.generation_config.pad_token_id = 2
        return network

    kind.from_pretrained = draw


def claim(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    random_weights()
    args.recogniser = "deepseek-ocr-2"
    few = rendered(write_pdf(folder / "few.pdf", args.hf_pages + 1), args.dpi)
    count = len(few) - 1
    common: dict[str, Any] = {"recogniser": args.recogniser}
    hf_s, hf_tokens = one_at_a_time(Ground(**common, engine="hf", model=args.claim), few)
    print(f"transformers: {count} pages in {hf_s:.1f} s, {1e3 * hf_s / hf_tokens:.1f} ms a token", flush=True)
    server = Ground(**common, servers=tuple(args.server), model=args.model, in_flight=1)
    alone_s, alone_tokens = one_at_a_time(server, few)
    print(
        f"vLLM, one by one: {count} pages in {alone_s:.1f} s, {1e3 * alone_s / alone_tokens:.1f} ms a token"
    )
    [pages] = args.pages
    pdf = write_pdf(folder / "claim.pdf", pages)
    seconds = []
    for _ in range(args.repeats):
        recipe_s, done = recipe(args, pdf)
        asked, answered = tokens_of(done)
        seconds.append(recipe_s)
        print(f"vLLM, {args.in_flight} in flight: {pages} pages in {recipe_s:.1f} s", flush=True)
    rates = {
        "hf_pages_per_s": count / hf_s,
        "vllm_alone_pages_per_s": count / alone_s,
        "vllm_pages_per_s": pages / statistics.median(seconds),
    }
    ratio = rates["vllm_pages_per_s"] / rates["hf_pages_per_s"]
    figures = {name: round(value, 3) for name, value in rates.items()}
    tokens = {"tokens_in": round(asked / pages), "tokens_out": round(answered / pages)}
    return {"hf_pages": count, "pages": pages, **figures, "ratio": round(ratio, 1), **tokens}


def run_scripted(port: Any, token_ms: float) -> None:
    truth = sample_truth()
    answers = [page_answer(page, *truth["size"]) for page in truth["pages"]]
    fake = FakeServer(
        says=lambda asked: answers[asked.checksum % len(answers)],
        token_s=token_ms / 1e3,
        stream_interval=32,
        encoder_tokens=8_192,
        keep_asked=False,
    )
    with serving(fake) as url:
        port.value = int(url.rpartition(":")[2])
        time.sleep(3600)


@contextlib.contextmanager
def servers(args: argparse.Namespace) -> Iterator[None]:
    """Those that were named, or a scripted one in a process of its own."""
    if args.server:
        yield
        return
    port = multiprocessing.Value("i", 0)
    process = multiprocessing.Process(target=run_scripted, args=(port, args.token_ms), daemon=True)
    process.start()
    while not port.value:
        time.sleep(0.05)
    args.server = [f"http://127.0.0.1:{port.value}"]
    try:
        yield
    finally:
        process.terminate()


def print_commands(folder: str) -> None:
    print("# environment: VLLM_USE_FLASHINFER_SAMPLER=0 HF_HUB_OFFLINE=1; the second is for --claim")
    for name, port, processes in (("deepseek-ocr", 8000, 6), ("deepseek-ocr-2", 8002, 3)):
        print(SERVE.format(folder=f"{folder}/{name}", name=name, port=port, processes=processes))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commands", metavar="SHAPES", help="print how to start the servers, and end")
    parser.add_argument("--server", action="append", default=[])
    parser.add_argument("--model", default="", help="as the servers call it; empty asks them")
    parser.add_argument("--recogniser", default="deepseek-ocr")
    parser.add_argument("--pages", default="", help="19,512, or 128 with --claim")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--tokens", type=int, default=1_000, help="of an answer, on average")
    parser.add_argument("--dpi", type=int, default=144)
    parser.add_argument("--warm", type=int, default=32)
    parser.add_argument("--claim", metavar="FOLDER", help="DeepSeek-OCR-2 as transformers spells it")
    parser.add_argument("--hf-pages", type=int, default=3)
    parser.add_argument("--token-ms", type=float, default=10.0, help="of the scripted server")
    args = parser.parse_args()
    args.scripted = not args.server
    args.pages = [int(each) for each in (args.pages or ("128" if args.claim else "19")).split(",")]
    return args


def main() -> None:
    args = options()
    if args.commands:
        print_commands(args.commands)
        return
    drawn = DrawnLengths(args.tokens)
    with servers(args), drawn.instead(args.scripted), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not args.scripted:
            args.model = args.model or asyncio.run(model_of(args.server[0]))
            warm(args, folder, drawn)
        if args.claim:
            figures: dict[str, Any] = claim(args, folder)
        else:
            figures = {"results": [compare(args, count, folder, drawn) for count in args.pages]}
    print(json.dumps({"benchmark": "grounded", "in_flight": args.in_flight, **figures}))


async def model_of(url: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/v1/models") as response:
        listed = await response.json()
        return str(listed["data"][0]["id"])


if __name__ == "__main__":
    main()
