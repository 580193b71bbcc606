"""Each kind of thing that an installed package may add by entry point, added by a toy package."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.engines.segment.segmenter import SegmenterOptions, open_segmenter
from penstock.errors import UsageError
from penstock.recipes import build
from tests.support import toys
from tests.support.made_pdf import pdf

ENTRY_POINTS = """
[penstock.sources]
counted = toy_package:count_up
[penstock.recipes]
shouting = toy_package:shouting
[penstock.exports]
lengths = toy_package:write_lengths
md = toy_package:never_called
broken = no_such_package:write
[penstock.embedders]
letters = toy_package:ToyEmbedder
[penstock.segmenters]
corner = toy_package:ToySegmenter
[penstock.layouts]
whole-page = toy_package:ToyLayout
"""
METADATA = "Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installs a package as pip would: a module, and the description of its distribution."""
    site = tmp_path / "site-packages"
    info = site / "toy_package-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(Path(toys.__file__), site / "toy_package.py")
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "toy_package", raising=False)


@pytest.fixture
def toy_run(installed: None, tmp_path: Path) -> Path:
    out = tmp_path / "out"
    pages = list(penstock.parse("counted:2", out=out, recipe="shouting"))
    assert [(page.failure, page.markdown) for page in pages] == [(None, "TOY"), (None, "TOY")]
    return out


def test_a_source_and_a_recipe(toy_run: Path) -> None:
    assert [page.part for page in penstock.read(toy_run)] == [0, 1]
    assert build("shouting", {}).name == "shouting"


def test_an_export_from_python_and_from_the_command_line(toy_run: Path) -> None:
    [path] = penstock.export(toy_run, ["lengths"])
    assert path.read_text() == "3\n3"
    path.unlink()
    done = CliRunner().invoke(app, ["export", str(toy_run), "--to", "lengths"])
    assert (done.exit_code, path.read_text()) == (0, "3\n3")


def test_an_embedder(toy_run: Path) -> None:
    assert penstock.embed(toy_run, engine="letters").shapes["corpus_ocr_text"] == (2, 4)


def test_a_segmenter(installed: None) -> None:
    segmenter = open_segmenter("corner", SegmenterOptions(labels=("box",)))
    [[thing]] = segmenter.find([np.zeros((20, 30, 3), np.uint8)])
    assert (thing.label, thing.box) == ("box", (0.0, 0.0, 15.0, 10.0))


def test_the_recipe_for_photos_takes_an_installed_segmenter(installed: None) -> None:
    assert "'corner'" in repr(build("photos", {"detector": "corner", "labels": ("box",)}).settings())


def test_a_layout_network(installed: None, tmp_path: Path) -> None:
    path = tmp_path / "one.pdf"
    path.write_bytes(pdf(["BT /F1 12 Tf 20 50 Td (Only these words.) Tj ET"]))
    document = penstock.convert(path, layout="whole-page")
    assert document.failures == []
    assert [region.native_label for page in document.pages for region in page.regions] == ["everything"]
    assert "Only these words." in document.markdown


def test_a_name_of_ours_stays_ours(toy_run: Path) -> None:
    assert penstock.export(toy_run, ["md"])[0].read_text().strip().endswith("TOY")


def test_a_package_that_cannot_be_imported_is_named(toy_run: Path) -> None:
    with pytest.raises(UsageError, match=r"no_such_package:write.*cannot be loaded"):
        penstock.export(toy_run, ["broken"])


def test_an_unknown_name_lists_what_packages_add(installed: None) -> None:
    with pytest.raises(UsageError) as caught:
        build("whisper", {})
    assert caught.value.advice.endswith("photos, shouting.")
