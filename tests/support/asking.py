"""Questions for the chat client, and what came of them."""

from __future__ import annotations

import cv2
import numpy as np

from penstock.engines.chat.client import Answer, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.errors import EngineError

GLM = RECOGNISERS["glm-ocr"]


def picture(width: int = 64, height: int = 64, seed: int = 0) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8)
    return cv2.imencode(".jpg", pixels)[1].tobytes()


def request(seed: int = 0, *, tokens: int = 64, cost: float = 1.0, **size: int) -> ChatRequest:
    return ChatRequest(picture(seed=seed, **size), "Text Recognition:", tokens, cost)


def requests(count: int) -> list[ChatRequest]:
    return [request(seed) for seed in range(count)]


def answer_of(outcome: Answer | EngineError) -> Answer:
    assert isinstance(outcome, Answer), outcome
    return outcome


def error_of(outcome: Answer | EngineError) -> EngineError:
    assert isinstance(outcome, EngineError), outcome
    return outcome
