"""OUT may be anybody's folder: what Penstock did not make is never deleted, overwritten or followed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.app import app
from penstock.errors import PenstockError, StoreError, UsageError
from penstock.retrieval import index_folder
from penstock.serve.jobs.record import JOBS, JobFiles
from penstock.serve.reading.upload_folder import UPLOADS, UploadFolder
from penstock.store.atomic_files import replacing
from penstock.store.contents import FOLDERS
from penstock.store.lock import holding
from penstock.store.out import Out
from penstock.store.ownership import MARK, claim, is_marked, is_ours, remove_tree
from tests.conftest import SAMPLE
from tests.strangers.verbs import FAKE


def parse(out: Path, *more: str, pdf: Path = SAMPLE) -> Result:
    words = [
        "parse",
        str(pdf),
        "-o",
        str(out),
        "--recipe",
        FAKE,
        "--executor",
        "inline",
        "--pages",
        "1",
        "-q",
    ]
    return CliRunner().invoke(app, [*words, *more])


def test_a_folder_tmp_of_the_user_stays(tmp_path: Path) -> None:
    notes = tmp_path / "tmp" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    assert parse(tmp_path).exit_code == 0
    assert notes.read_text() == "mine"


@pytest.mark.parametrize("more", [(), ("--fresh",)])
def test_an_out_that_holds_its_input_is_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    raw = tmp_path / "raw" / "sample.pdf"
    raw.parent.mkdir()
    shutil.copyfile(SAMPLE, raw)
    for given in (raw, raw.parent, tmp_path, tmp_path / "raw" / "*.pdf"):
        answer = parse(tmp_path, *more, pdf=given)
        assert isinstance(answer.exception, UsageError)
        assert "lies in OUT" in str(answer.exception)
    assert raw.read_bytes() == SAMPLE.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_fresh_without_our_mark_names_what_is_there_and_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").write_text("mine")
    answer = parse(tmp_path, "--fresh")
    assert isinstance(answer.exception, UsageError)
    assert "html" in str(answer.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["html"]


def test_fresh_deletes_what_we_made_and_leaves_what_was_put_beside_it(tmp_path: Path) -> None:
    parse(tmp_path)
    before = {path for path in tmp_path.rglob("*") if path.is_file() and MARK not in path.parts}
    theirs = [tmp_path / folder / "notes.txt" for folder in ("markdown", "items", "crops")]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert parse(tmp_path, "--fresh").exit_code == 0
    assert all(path.read_text() == "mine" for path in theirs)
    assert all(path.is_file() for path in before)  # the same plan makes the same files


def test_a_run_with_a_trace_goes_on_and_starts_over(tmp_path: Path) -> None:
    for more in ("--trace", "--quiet", "--trace", "--fresh"):
        assert parse(tmp_path, more).exit_code == 0
    assert not (tmp_path / "trace.jsonl").exists()


@pytest.mark.parametrize(
    "name", ["crops/{}.jpg", "html/{}.html", "markdown/{}.md", "jobs/{}.json", "items/{}.parquet"]
)
def test_fresh_leaves_a_file_that_a_database_named(tmp_path: Path, name: str) -> None:
    theirs = tmp_path / name.format("507f1f77bcf86cd799439011")
    parse(tmp_path)
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_bytes(b"mine")
    assert not is_ours(tmp_path, theirs)
    parse(tmp_path, "--fresh")
    assert theirs.read_bytes() == b"mine"


def test_a_file_of_the_user_is_not_overwritten_by_an_export(tmp_path: Path) -> None:
    (tmp_path / "markdown").mkdir()
    mine = tmp_path / "markdown" / "sample.md"
    mine.write_text("mine")
    answer = parse(tmp_path, "--export", "md")
    assert isinstance(answer.exception, StoreError)
    assert "was not written by Penstock" in str(answer.exception)
    assert mine.read_text() == "mine"
    assert len(list(Out(tmp_path).read_pages())) == 1  # the page itself is kept


@pytest.mark.parametrize("name", ["run.json", "ocr_results.jsonl", "report.html"])
def test_a_file_of_the_user_is_found_before_the_first_page(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    answer = parse(tmp_path)
    assert isinstance(answer.exception, PenstockError)
    assert "Choose another OUT" in answer.exception.advice
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", [*FOLDERS, MARK, "run.json"])
def test_no_link_is_followed(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "notes.txt").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(elsewhere)
    for more in ((), ("--fresh",)):
        assert isinstance(parse(out, *more).exception, PenstockError)
    assert [path.name for path in elsewhere.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["printed", "archives/deep"])
def test_no_link_below_the_downloads_is_followed(tmp_path: Path, name: str) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "out" / "downloads" / name
    elsewhere.mkdir()
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    assert "is a link" in str(parse(tmp_path / "out").exception)
    assert list(elsewhere.iterdir()) == []


def test_a_link_in_the_place_of_the_lock_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    with holding(tmp_path / "out"):
        pass
    lock = tmp_path / "out" / MARK / "lock"
    lock.unlink()
    lock.symlink_to(precious)
    with pytest.raises(StoreError, match="a link is in its place"), holding(tmp_path / "out"):
        pass
    assert precious.read_text() == "mine"


def test_an_index_leaves_folders_of_the_user_alone(tmp_path: Path) -> None:
    mine = tmp_path / "index" / "mine" / "notes.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    home = index_folder.begin(tmp_path / "index", None)
    inside = home / "notes.txt"
    inside.write_text("mine")
    index_folder.sweep(tmp_path / "index")
    assert (mine.read_text(), inside.read_text()) == ("mine", "mine")
    assert not (home / index_folder.READING).exists()


def test_a_service_leaves_folders_of_the_user_alone(tmp_path: Path) -> None:
    names = ("0" * 24, "mine")
    theirs = [tmp_path / top / name / "notes.txt" for top in (JOBS, UPLOADS) for name in names]
    for path in theirs:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    JobFiles(tmp_path).delete_strays(set())
    uploads = UploadFolder(tmp_path)
    uploads.remove_half_received()
    uploads.forget_deletions()
    assert uploads.files() == []
    assert all(path.read_text() == "mine" for path in theirs)


def test_a_folder_with_a_record_of_its_own_goes_with_it(tmp_path: Path) -> None:
    home = tmp_path / "jobs" / "a"
    with replacing(home / "inputs" / "x.pdf", home) as file:
        file.write(b"x")
    assert is_marked(home)
    remove_tree(home, FOLDERS)
    assert not home.exists()


def test_somebody_elses_penstock_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / MARK).mkdir()
    (tmp_path / MARK / "made").write_text("mine")
    with pytest.raises(StoreError, match="not a folder that Penstock made"):
        claim(tmp_path, tmp_path / "run.json")
    assert (tmp_path / MARK / "made").read_text() == "mine"
