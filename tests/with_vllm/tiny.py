"""What the tests of a real server share: how the tiny one is started, asked, and shown a picture."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from penstock.engines.chat.recognisers import RECOGNISERS

NAME = "glm-ocr"
KEY = "a-key-for-tests"
START_S = 600.0  # 45 s alone on two cores, three minutes when others use them
# The model runs in the engine's process, so one process less loads torch: a quarter of a start. Called "uni",
# vLLM would refuse it on a CPU for the sake of threads, of which these servers have one.
ONE_PROCESS = ("--distributed-executor-backend", "vllm.v1.executor.uniproc_executor.UniProcExecutor")
SMALL = (
    *ONE_PROCESS,
    *("--max-model-len", "2048", "--max-num-seqs", "4", "--max-num-batched-tokens", "2048"),
)
# pictures of 1,024 tokens at most, so that no more is kept for the encoder, in a context that holds more
NARROW = (
    *ONE_PROCESS,
    *("--max-model-len", "8192", "--max-num-seqs", "4", "--max-num-batched-tokens", "1024"),
    *("--mm-processor-kwargs", '{"size":{"shortest_edge":12544,"longest_edge":1605632}}'),
)
ENV = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}

# The tiny model never ends by itself and repeats itself: what the client does about both is off here.
PLAIN = replace(RECOGNISERS["glm-ocr"], grow=1, watch_loops=False)
PROMPT = PLAIN.prompt("text")


def picture(width: int, height: int, seed: int = 0) -> bytes:
    pixels = np.full((height, width, 3), 255, np.uint8)
    chance = np.random.default_rng(seed)
    for _ in range(8):
        x, y = int(chance.integers(0, width)), int(chance.integers(0, height))
        cv2.putText(pixels, f"{chance.integers(0, 999)}", (x, y), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0), 2)
    return cv2.imencode(".jpg", pixels)[1].tobytes()
