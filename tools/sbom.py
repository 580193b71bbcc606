"""Puts a bill of materials into built wheels: every dependency and every model file, with hash and licence.

    python tools/sbom.py dist/*.whl

The bill is CycloneDX 1.6 and lies in the wheel's own folder of facts (PEP 770:
NAME.dist-info/sboms/penstock.cdx.json), so whoever installs the wheel has it. The same wheel always gets the
same bill. Dependencies are named with the versions that we allow; the installer chooses among them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from penstock.engines.weights.builtin import MODELS, BuiltinModel, PublishedFile
from penstock.errors import DISTRIBUTION

NAME = "penstock.cdx.json"
MODEL_SUFFIXES = (".onnx", ".bin")
SHIPPED_LICENCE = "Apache-2.0"  # networks in the wheel were trained by us or are said so in NOTICE
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)(\[[^\]]*\])?\s*([^;]*)(;.*)?")
Component = dict[str, Any]


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        bill = bill_of(path)
        write_into(path, json.dumps(bill, indent=1, ensure_ascii=False).encode())
        print(f"{path.name}: {len(bill['components'])} components in {NAME}")


def bill_of(wheel: Path) -> dict[str, Any]:
    """Returns the bill of materials of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        facts = HeaderParser().parsestr(archive.read(f"{_facts_folder(archive)}/METADATA").decode())
        shipped = [
            _shipped(archive, name) for name in sorted(archive.namelist()) if name.endswith(MODEL_SUFFIXES)
        ]
    dependencies = list(_dependencies(facts.get_all("Requires-Dist") or []))
    name, version = facts["Name"], facts["Version"]
    fetched = [_fetched(model) for model in MODELS.values() if name == DISTRIBUTION]
    own = {"type": "library", "bom-ref": f"pkg:pypi/{name}@{version}", "name": name, "version": version}
    components = [*dependencies, *shipped, *fetched]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components, sort_keys=True))}",
        "version": 1,
        "metadata": {"component": {**own, "purl": own["bom-ref"], "licenses": _licences(SHIPPED_LICENCE)}},
        "components": components,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in components]}],
    }


def _dependencies(lines: list[str]) -> Iterator[Component]:
    """Yields a component for each package: what the base needs is required, what extras bring is optional."""
    seen: set[str] = set()
    for line in sorted(lines, key=lambda line: "extra ==" in line):
        match = _REQUIREMENT.match(line)
        name = re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""
        if match is None or name in seen or name.startswith("penstock"):
            continue
        seen.add(name)
        scope = "optional" if "extra ==" in (match[4] or "") else "required"
        properties = _properties(allowed=match[3].strip())
        ref = f"pkg:pypi/{name}"
        yield {
            "type": "library",
            "bom-ref": ref,
            "name": name,
            "purl": ref,
            "scope": scope,
            "properties": properties,
        }


def _shipped(archive: zipfile.ZipFile, name: str) -> Component:
    data = archive.read(name)
    return _model(name, hashlib.sha256(data).hexdigest(), SHIPPED_LICENCE, len(data), use="in the wheel")


def _fetched(model: BuiltinModel) -> Component:
    component = _model(model.name, model.sha256, model.licence, model.size, use=model.use)
    origins = [{"type": "distribution", "url": _origin(origin)} for origin in model.origins]
    return {**component, "scope": "optional", "externalReferences": origins}


def _model(name: str, sha256: str, licence: str, size: int, use: str) -> Component:
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{name}",
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": sha256}],
        "licenses": _licences(licence),
        "properties": _properties(use=use, bytes=str(size)),
    }


def _origin(file: PublishedFile) -> str:
    """Returns a package URL: which package of which index holds the file, and where in it."""
    package = file.package
    index = {"hub": "huggingface"}.get(package.kind, package.kind)
    return f"pkg:{index}/{package.name.replace('@', '%40')}@{package.version}#{file.member}"


def _licences(name: str) -> list[dict[str, Any]]:
    return [{"license": {"id": name}}]


def _properties(**facts: str) -> list[dict[str, str]]:
    return [{"name": f"penstock:{name}", "value": value} for name, value in facts.items() if value]


def write_into(wheel: Path, bill: bytes) -> None:
    """Adds the bill to the wheel and to its list of files. Replaces one that is there."""
    with zipfile.ZipFile(wheel) as archive:
        facts = _facts_folder(archive)
        target, record = f"{facts}/sboms/{NAME}", f"{facts}/RECORD"
        files = {
            info: archive.read(info) for info in archive.infolist() if info.filename not in (target, record)
        }
        lines = [
            line for line in archive.read(record).decode().splitlines() if not line.startswith(f"{target},")
        ]
    last = lines.index(f"{record},,")
    lines.insert(last, f"{target},sha256={_digest(bill)},{len(bill)}")
    made = wheel.with_suffix(".part")
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in files.items():
            archive.writestr(info, data)
        for name, data in ((target, bill), (record, "\n".join([*lines, ""]).encode())):
            archive.writestr(_entry(name), data)
    made.replace(wheel)


def _facts_folder(archive: zipfile.ZipFile) -> str:
    return next(name.partition("/")[0] for name in archive.namelist() if name.endswith(".dist-info/METADATA"))


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # of 1980: the same wheel, the same bytes
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(sys.argv[1:])
