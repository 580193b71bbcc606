"""How to start vLLM on each kind of card, every number with its reason.

    command = preset("l4").command("zai-org/GLM-OCR", port=8000)

The measurements behind the reasons, with GLM-OCR's shape in bf16 on one H200 (8 regions a page, 6,500
picture tokens in and 770 tokens out; docs/log.md): one API process with 512 sequences and 131,072
batched tokens gave 3.6 pages/s; two servers on the card with four API processes and 32,768 batched
tokens each 6.1, and 11.6 with crops at 0.7 scale; with our vision tower (plugin.py) 8.9 and 17.6; fp8
weights were slower. With as many threads as cores instead of one the two gave 4.8 and 7.6 without it.
Only the H200's numbers were run; those of other cards are computed from these. What each takes of its
card is in memory_budget.py, and printed by `penstock engine start --dry-run`. Memory that vLLM leaves is
for the layout network, which shares the card.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from penstock import telemetry
from penstock.errors import UsageError
from penstock.processes.resources import named_gpus
from penstock.sizes import GB, memory_size


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of `vllm serve` (or one variable of its environment) and why it is set."""

    name: str
    value: str | None
    why: str

    @property
    def words(self) -> list[str]:
        return [self.name] if self.value is None else [self.name, self.value]


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU as its driver names it."""

    index: int
    name: str
    memory_gb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings for one kind of card. Its servers share API processes and `in_flight`, the client's limit."""

    name: str
    card: str
    servers: int
    in_flight: int
    flags: tuple[Flag, ...]
    env: tuple[Flag, ...] = ()
    api_processes: int = 1

    def all_flags(self, cores: int | None = None) -> list[Flag]:
        """All flags, with as many API processes as the machine has cores for. A preset's own replace ours."""
        have = cores or os.cpu_count() or 1
        count = max(1, min(self.api_processes, have // 2) // self.servers)
        why = (
            "pictures are decoded, resized and tokenised in the API process, and one alone left 40 % of an "
            "H200 idle while two servers with two, four or six each kept it busy alike; "
            f"{self.api_processes} a card at best, fewer where there are less than two cores for each"
        )
        extra = [Flag("--api-server-count", str(count), why)] if count > 1 else []
        return list({flag.name: flag for flag in (*_COMMON, *self.flags, *extra)}.values())

    def command(
        self,
        model: str,
        *,
        port: int,
        served_name: str = "",
        extra_args: Sequence[str] = (),
        executable: Sequence[str] = ("vllm",),
        cores: int | None = None,
    ) -> list[str]:
        """Returns the full command. A flag in `extra_args` replaces ours of the same name."""
        given = {_bare(word) for word in extra_args if word.startswith("--")}
        ours = [
            word for flag in self.all_flags(cores) if _bare(flag.name) not in given for word in flag.words
        ]
        name = ["--served-model-name", served_name] if served_name else []
        where = [*name, "--host", "127.0.0.1", "--port", str(port)]
        return [*executable, "serve", model, *where, *ours, *extra_args]

    def environment(self, gpu: int | None) -> dict[str, str]:
        """The variables to add to the server's environment. Without a GPU number it sees all GPUs."""
        own = {**telemetry.settings(), **{flag.name: flag.value or "" for flag in self.env}}
        return own if gpu is None else {"CUDA_VISIBLE_DEVICES": str(gpu), **own}


def _bare(flag: str) -> str:
    """`--no-enable-x`, `--enable-x` and `--enable-x=1` are one flag."""
    return flag.partition("=")[0].replace("--no-", "--", 1).replace("_", "-")


_COMMON = (
    Flag(
        "--max-model-len",
        "16384",
        "a picture takes up to 6,144 tokens and an answer up to 8,192: 14,336 and the prompt",
    ),
    Flag(
        "--limit-mm-per-prompt",
        '{"image":1,"video":0}',
        "one crop a request; without videos no memory is kept for them",
    ),
    Flag(
        "--no-enable-prefix-caching",
        None,
        "the picture comes before the prompt, so two crops share a handful of tokens",
    ),
    Flag(
        "--mm-processor-cache-gb",
        "0",
        "crops are distinct (identical ones are asked once), so the cache only costs copies",
    ),
    Flag(
        "--stream-interval",
        "32",
        "we stream only to see loops, and 32 tokens late is soon enough; one event each loads the front end",
    ),
    Flag("--disable-uvicorn-access-log", None, "a line a region would bury the reason of a crash"),
)
_ONE_THREAD = (
    Flag(
        "OMP_NUM_THREADS",
        "1",
        "the engine joins the pictures' pixels on the CPU, by default on every core, and threads that wait "
        "there spin: with one the H200 read 11.1 pages/s instead of 7.6 at 0.7 scale, with four 10.4",
    ),
)


def _of_gpu(
    name: str,
    card: str,
    *,
    in_flight: int,
    memory: float,
    seqs: int,
    tokens: int,
    why: tuple[str, str, str],
    servers: int = 1,
    api_processes: int = 4,
) -> Preset:
    """Returns a GPU's preset. `why` has the reasons of `memory` (a share), `seqs` and `tokens` (a step's)."""
    flags = (
        Flag(
            "--dtype", "bfloat16", "as the weights were published; fp8 was slower (5.2 against 5.8 pages/s)"
        ),
        Flag("--gpu-memory-utilization", f"{memory:g}", why[0]),
        Flag("--max-num-seqs", str(seqs), why[1]),
        Flag("--max-num-batched-tokens", str(tokens), why[2]),
    )
    return Preset(
        name=name, card=card, servers=servers, in_flight=in_flight, flags=flags, env=_ONE_THREAD,
        api_processes=api_processes,
    )  # fmt: skip


_H200 = _of_gpu(
    "h200",
    "H200, 140 GiB",
    servers=2,
    api_processes=8,
    in_flight=1_024,
    memory=0.42,
    seqs=1_024,
    tokens=32_768,
    why=(
        "two servers a card; 16 % stay for the layout network and its batch of 64 pages",
        "measured; half of the 1,024 in flight, and room for when they fall unevenly on the two",
        "measured best for two servers; 131,072 made steps longer, not fuller",
    ),
)

_TABLE = (
    replace(_H200, name="b200", card="B200, 179 GiB"),
    _H200,
    _of_gpu(
        "a100",
        "A100 or H100, 40 to 80 GiB",
        in_flight=384,
        memory=0.85,
        seqs=512,
        tokens=32_768,
        why=(
            "15 % (6 GiB of 40) stay for the layout network",
            "the KV cache of 40 GiB holds 420 crops of 930 tokens",
            "five full-page pictures, or forty crops, a step",
        ),
    ),
    _of_gpu(
        "l4",
        "L4, 22.5 GiB",
        in_flight=160,
        api_processes=2,
        memory=0.8,
        seqs=128,
        tokens=16_384,
        why=(
            "20 % (4.5 GiB) stay for the layout network",
            "its KV cache holds 176 crops of 930 tokens; an eighth of an H200's arithmetic "
            "needs no more to be busy",
            "two full-page pictures a step, and memory for more of them waiting",
        ),
    ),
    _of_gpu(
        "rtx4090",
        "RTX 4090, 24 GiB",
        in_flight=224,
        memory=0.8,
        seqs=192,
        tokens=16_384,
        why=(
            "20 % stay for the layout network and a desktop's windows",
            "as the L4, whose memory it has, with a third more arithmetic",
            "two full-page pictures a step, and memory for more of them waiting",
        ),
    ),
    _of_gpu(
        "rtx4060",
        "RTX 4060, 8 GiB",
        in_flight=32,
        api_processes=2,
        memory=0.75,
        seqs=24,
        tokens=8_192,
        why=(
            "2 GiB stay for the layout network and a desktop's windows",
            "its KV cache holds 30,000 tokens, 32 crops of 930, and little more",
            "the least that encodes a full-page picture (6,144 tokens) in a step",
        ),
    ),
    Preset(
        name="cpu",
        card="no GPU: for tests and for patience",
        servers=1,
        in_flight=8,
        flags=(
            Flag("--dtype", "float32", "every CPU has it"),
            Flag("--enforce-eager", None, "compiling takes longer than a test runs"),
            Flag("--max-num-seqs", "4", "more do not run faster on a few cores, only later"),
            Flag(
                "--max-num-batched-tokens", "8192", "the least that encodes a full-page picture in one step"
            ),
        ),
        env=(
            Flag("VLLM_CPU_KVCACHE_SPACE", "4", "GiB; in float32 a token takes 128 KiB: two full contexts"),
            Flag(
                "VLLM_CPU_OMP_THREADS_BIND",
                "nobind",
                "pinning to cores fails in containers that own only some",
            ),
            Flag("TORCHDYNAMO_DISABLE", "1", "else the first request with log-probabilities took 23 s"),
            Flag("VLLM_WORKER_MULTIPROC_METHOD", "fork", "41 s to health instead of 49"),
        ),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({row.name: row for row in _TABLE})

# minimum memory of the card, in GB as drivers count them; the first that fits
_BY_MEMORY = ((170.0, "b200"), (100.0, "h200"), (38.0, "a100"), (20.0, "l4"), (7.0, "rtx4060"))
_BY_NAME = (("B200", "b200"), ("H200", "h200"), ("4090", "rtx4090"), ("4060", "rtx4060"), ("L4 ", "l4"))


def preset(name: str, card: Card | None = None) -> Preset:
    """Returns a preset by name. `auto` chooses by the card's name or memory, and `cpu` without a card."""
    if name == "auto":
        return PRESETS[_for_card(card)]
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}.", f"Known: auto, {', '.join(PRESETS)}.")
    return PRESETS[name]


def _for_card(card: Card | None) -> str:
    if card is None:
        return "cpu"
    for part, name in _BY_NAME:
        if part in card.name + " ":
            return name
    for min_gb, name in _BY_MEMORY:
        if card.memory_gb >= min_gb:
            return name
    memory = memory_size(card.memory_gb * GB)
    raise UsageError(
        f"GPU {card.index} ({card.name}) has {memory}; the smallest preset needs 8 GiB.",
        "Use --preset cpu, or name a server elsewhere with --server.",
    )


def cards() -> list[Card]:
    """Returns the GPUs that nvidia-smi lists and CUDA_VISIBLE_DEVICES allows."""
    query = ["nvidia-smi", "--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"]
    ours = named_gpus()
    return [card for card in read_cards(_answer(query)) if ours is None or card.index in ours]


def free_memory(index: int) -> int | None:
    """Returns the bytes of a card that are free now; None where nvidia-smi does not say."""
    query = ["nvidia-smi", f"--id={index}", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    told = _answer(query).strip()
    return int(told) << 20 if told.isdigit() else None


def _answer(query: Sequence[str]) -> str:
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def read_cards(listing: str) -> list[Card]:
    """Reads nvidia-smi's listing: one line a card with index, name, MiB."""
    found = []
    for line in listing.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 3 and fields[0].isdigit():
            found.append(Card(int(fields[0]), fields[1], _gigabytes(fields[2])))
    return found


def _gigabytes(mib: str) -> float:
    return float(mib) * 2**20 / 1e9 if mib.replace(".", "", 1).isdigit() else 0.0
