"""A wheel of models: whole, small enough for an index, and all that Penstock needs without a network."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from penstock.engines.weights import registry
from penstock.engines.weights.builtin import MODELS, BuiltinModel
from tests.conftest import REPO


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("models_package", REPO / "tools" / "models_package.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SMALL = [MODELS[name] for name in ("ppocrv6-det-tiny", "ppocrv6-tiny-characters")]


def installed(wheel: Path, folder: Path) -> Path:
    """Installs it as pip does, and without pip's seconds: a wheel without scripts is unpacked."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def offline(code: str, site: Path, cache: Path) -> str:
    environment = {
        **os.environ, "PENSTOCK_OFFLINE": "1", "PENSTOCK_CACHE": str(cache),
        "PYTHONPATH": f"{site}{os.pathsep}{REPO / 'src'}",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tool: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if any(registry.look(model).state != "ready" for model in SMALL):
        pytest.skip("needs models: run `penstock models fetch`")
    built: Path = tool.build("penstock-models", SMALL, tmp_path_factory.mktemp("dist"))
    return built


def test_an_installed_model_is_used_where_the_cache_has_none(wheel: Path, tmp_path: Path) -> None:
    site = installed(wheel, tmp_path / "site")
    code = (
        "from penstock.engines.weights import registry as r\n"
        "print(r.verify(['ppocrv6-det-tiny'])[0].path)\n"
        "print(r.look(r.MODELS['u2netp']).state)"
    )
    path, other = offline(code, site, tmp_path / "empty").splitlines()
    assert Path(path).is_relative_to(site)
    assert other == "missing"


def test_the_wheel_lists_its_files_and_the_same_models_give_the_same_bytes(
    tool: ModuleType, wheel: Path, tmp_path: Path
) -> None:
    again = tool.build("penstock-models", SMALL, tmp_path)
    assert again.read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        [record] = [name for name in archive.namelist() if name.endswith("/RECORD")]
        listed = {line.split(",")[0] for line in archive.read(record).decode().splitlines()}
        assert listed == set(archive.namelist())
        [facts] = [name for name in archive.namelist() if name.endswith("/licenses/MODELS")]
        told = archive.read(facts).decode()
        for model in SMALL:
            [name] = [name for name in archive.namelist() if name.endswith(f"/{model.file}")]
            assert hashlib.sha256(archive.read(name)).hexdigest() in told


def test_a_model_that_is_missing_is_named(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    with pytest.raises(SystemExit, match="Run: penstock models fetch ppocrv6-det-tiny"):
        tool.build("penstock-models", SMALL, tmp_path)


def test_every_model_but_the_largest_is_in_a_part_that_an_index_takes(tool: ModuleType) -> None:
    def of(groups: tuple[str, ...]) -> list[BuiltinModel]:
        return [model for model in MODELS.values() if model.group in groups]

    parts = [of(groups) for groups in tool.PARTS.values()]
    assert {model.name for part in parts for model in part} == set(MODELS) - {"pp-doclayoutv3"}
    assert max(sum(model.size for model in part) for part in parts) < tool.MAX_BYTES


@pytest.mark.slow  # packs and reads with 57 MB
def test_the_sample_is_read_with_what_the_whole_wheel_brings(tool: ModuleType, tmp_path: Path) -> None:
    groups = tool.PARTS["penstock-models"]
    models = [model for model in MODELS.values() if model.group in groups]
    if any(registry.look(model).state != "ready" for model in models):
        pytest.skip("needs models: run `penstock models fetch`")
    site = installed(tool.build("penstock-models", models, tmp_path), tmp_path / "site")
    sample = REPO / "src" / "penstock" / "sample" / "sample.pdf"
    code = f"import penstock; print(penstock.convert({str(sample)!r}, pages='4').markdown)"
    assert "Nothing else to report. The kettle is on." in offline(code, site, tmp_path / "empty")
