"""What a user is advised who reads with transformers and does not have it: packages that can be used."""

from __future__ import annotations

import sys

import pytest

from penstock.engines.chat.deepseek.hf import open_reader
from penstock.errors import MissingModel


@pytest.mark.parametrize("absent", ["torch", "transformers"])
@pytest.mark.parametrize(
    ("model", "shown", "wanted", "unusable"),
    [
        ("deepseek-ocr", "gundam", "transformers==4.46.3", "[gpu]"),
        ("deepseek-ocr-2", "gundam", "[gpu]", "4.46"),
    ],
)
def test_the_advice_installs_a_transformers_that_has_the_model(
    model: str, shown: str, wanted: str, unusable: str, absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(MissingModel) as raised:
        open_reader(model, "", shown)
    assert wanted in raised.value.advice and unusable not in raised.value.advice
    assert "--server" in raised.value.advice or "--engine vllm" in raised.value.advice
