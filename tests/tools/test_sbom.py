"""The bill of materials in a wheel: valid by its schema, complete, and listed among the wheel's files."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from penstock.engines.weights.builtin import MODELS
from penstock.errors import DISTRIBUTION
from tools import sbom

FACTS = f"{DISTRIBUTION.replace('-', '_')}-1.0.dist-info"
METADATA = f"""Metadata-Version: 2.4
Name: {DISTRIBUTION}
Version: 1.0
Requires-Dist: numpy>=2.0
Requires-Dist: ray>=2.50; extra == "ray"
Requires-Dist: Ray>=2.50; extra == "all"
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/network.onnx", b"weights")
        archive.writestr(f"{FACTS}/METADATA", METADATA)
        archive.writestr(f"{FACTS}/RECORD", f"toy/network.onnx,,\n{FACTS}/METADATA,,\n{FACTS}/RECORD,,\n")
    return path


def read(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"{FACTS}/{name}")


def test_the_bill_is_valid_and_names_packages_and_models(wheel: Path) -> None:
    sbom.main([str(wheel)])
    text = read(wheel, f"sboms/{sbom.NAME}").decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    parts = {part["name"]: part for part in json.loads(text)["components"]}
    assert set(parts) == {"numpy", "ray", "toy/network.onnx", *MODELS}
    assert (parts["numpy"]["scope"], parts["ray"]["scope"]) == ("required", "optional")
    assert parts["toy/network.onnx"]["hashes"][0]["content"] == hashlib.sha256(b"weights").hexdigest()
    assert all(parts[name]["hashes"][0]["content"] == MODELS[name].sha256 for name in MODELS)


def test_every_model_has_a_licence(wheel: Path) -> None:
    models = [part for part in sbom.bill_of(wheel)["components"] if part["type"] == "machine-learning-model"]
    assert len(models) == 1 + len(MODELS)
    assert all(part["licenses"][0]["license"]["id"] in {"Apache-2.0", "MIT"} for part in models)


def test_the_wheels_list_of_files_has_the_bill_and_a_second_time_changes_nothing(wheel: Path) -> None:
    sbom.main([str(wheel)])
    bill, once = read(wheel, f"sboms/{sbom.NAME}"), wheel.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(bill).digest()).rstrip(b"=").decode()
    assert (
        f"{FACTS}/sboms/{sbom.NAME},sha256={digest},{len(bill)}"
        in read(wheel, "RECORD").decode().splitlines()
    )
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == len(set(archive.namelist())) == 4
    sbom.main([str(wheel)])
    assert wheel.read_bytes() == once
