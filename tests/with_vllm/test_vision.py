"""The vision tower's formulas against those of a real vLLM, and what a server on a CPU says of the plugin."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from penstock.engines.vllm.server import ManagedServer
from tests.conftest import REPO

SIDE = Path(__file__).with_name("tower_side.py")


def test_our_formulas_and_our_guard_give_what_vllms_give_chosen_before_a_picture_comes(
    checkpoints: Path,
) -> None:
    python = checkpoints.parent / "bin" / "python"
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(REPO / "src"), str(REPO))),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TORCHDYNAMO_DISABLE": "1",
    }
    command = [str(python), str(SIDE), str(checkpoints / "tiny-glm-ocr")]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["guard"]["equal"] == 50
    assert result["guard"]["forbidden"] > 50
    said = result["towers"]
    assert list(said) == ["GLM-OCR", "PaddleOCR-VL", "Qwen3-VL", "DeepSeek-OCR"]
    for tower in said.values():
        assert tower["chosen"]
        assert tower["trial"] < 1e-5
        assert len(tower["rows"]) >= 3
        for row in tower["rows"]:
            assert row["shape"]
            assert row["float32"] < 1e-5
            # a tiny tower's rounding is a matter of luck; the large one's is in docs/log.md
            assert row["bfloat16"] < 1.3 * row["bfloat16 of vLLM"] < 0.1


def test_a_server_on_a_cpu_keeps_its_own_tower_and_says_so_once(server: ManagedServer) -> None:
    lines = [line for line in server.log_path.read_text().splitlines() if "penstock:" in line]
    assert len(lines) == 1
    assert lines[0].endswith("stays as vLLM has it: it runs on cpu, and the kernels are for CUDA.")
