"""Files of a dataset on the Hub as inputs, by their addresses, at one commit of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import UsageError
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.sources.listing import list_items
from penstock.sources.partition import ALL, Partition
from penstock.testing.fake_recipe import fake
from tests.support.hub_server import Hub
from tests.support.made_pdf import pdf, text

huggingface_hub = pytest.importorskip("huggingface_hub", reason="needs penstock-pipeline[hub]")
ADDRESS = "hf://datasets/me/reports"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    with Hub() as running:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", running.url)
        template = f"{running.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"  # both are made at import
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        files = {f"20{number}/d{number}.pdf": pdf([text(f"{number}")] * 2) for number in range(5)}
        running.repos["me/reports"] = {"README.md": b"# none of ours", "notes.py": b"", **files}
        yield running


def listed(address: str, folder: Path, partition: Partition = ALL) -> list[Page]:
    return list(list_items([address], Page, downloads=folder, partition=partition))


def test_a_dataset_is_listed_as_a_folder_is(hub: Hub, tmp_path: Path) -> None:
    pages = listed(f"{ADDRESS}/", tmp_path / "one")
    assert [page.document for page in pages] == [f"20{n}/d{n}.pdf" for n in range(5) for _ in range(2)]
    asked = len(hub.asked)
    assert [page.id for page in listed(ADDRESS, tmp_path / "two")] == [page.id for page in pages]
    again = len(hub.asked)
    assert listed(ADDRESS, tmp_path / "two")
    assert len(hub.asked) - again < again - asked  # what is here is not fetched again


@pytest.mark.parametrize(
    ("below", "count"), [("202/d2.pdf", 2), ("20?/d1*", 2), ("203", 2), ("20*/*.pdf", 10)]
)
def test_a_folder_a_pattern_or_a_file_can_be_named(hub: Hub, tmp_path: Path, below: str, count: int) -> None:
    assert len(listed(f"{ADDRESS}@main/{below}", tmp_path)) == count


def test_what_was_deleted_when_it_was_read_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    def read(bound: int | None) -> tuple[int, int]:
        before = sum("/resolve/" in path for path in hub.asked)
        options = ParseOptions(inputs=(ADDRESS,), recipe=fake(), executor="inline", keep_downloads=bound)
        done = sum(1 for _ in parse_work(options, tmp_path))
        return done, sum("/resolve/" in path for path in hub.asked) - before

    done, fetched = read(0)
    assert done == 10 and fetched >= 5
    assert not list((tmp_path / "downloads").rglob("*.pdf"))
    assert read(0) == (0, 0)
    assert read(None) == (0, fetched)
    assert len(list((tmp_path / "downloads").rglob("*.pdf"))) == 5


def test_a_rank_fetches_only_its_files(hub: Hub, tmp_path: Path) -> None:
    pages = [listed(ADDRESS, tmp_path / str(rank), Partition(rank, 2)) for rank in (1, 2)]
    assert sum(map(len, pages)) == 10
    assert [len(list((tmp_path / str(rank)).rglob("*.pdf"))) * 2 for rank in (1, 2)] == list(map(len, pages))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("hf://datasets/me/none", "no dataset me/none"),
        ("hf://me/model", "is no address of a dataset"),
        (f"{ADDRESS}/empty", "holds no PDF"),
    ],
)
def test_what_is_not_there_is_a_sentence(hub: Hub, tmp_path: Path, wrong: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        listed(wrong, tmp_path)


def test_results_are_uploaded_not_written_there(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["parse", "a.pdf", "-o", f"{ADDRESS}/out"])
    assert isinstance(ran.exception, UsageError)
    assert "penstock upload" in str(ran.exception)
