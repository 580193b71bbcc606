"""A bound for what is fetched: files go when their pages are committed, and nothing is fetched twice."""

from __future__ import annotations

import io
import os
import secrets
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import S3Store
from PIL import Image

from penstock.errors import UsageError
from penstock.exports.page_pictures import PageRenderer
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.passes.prepared_run import PreparedRun
from penstock.plan import Plan
from penstock.sources.files import Candidate
from penstock.sources.inputs import FoundFile
from penstock.sources.probe_questions import PartCount
from penstock.sources.remote.file_notes import GONE
from penstock.sources.remote.kept_downloads import KeptDownloads
from penstock.stages.load import Load
from penstock.store import ledger
from penstock.store.out import Out
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket

NUM_FILES, PAGES, SIZE = 8, 2, 40_000
MANY_FILES = 32  # where the bound must be smaller than what is in flight and all files are not
BOUND = 4 * SIZE
RUN = """
import sys
from penstock.store import ledger
from tests.passes.test_kept_downloads import work
ledger.MAX_ROWS = 4
for page in work(sys.argv[1], sys.argv[2], 'local'):
    print(page.id, flush=True)
"""


def made(number: int, pages: int = PAGES) -> bytes:
    return pdf([text(f"{number} {page}") for page in range(pages)]).ljust(SIZE, b"\n")


class Corpus:
    def __init__(self, address: str, requests: list[str], num_files: int) -> None:
        self.address, self.requests = address, requests
        self._store = S3Store.from_url(address, client_options={"allow_http": True})
        for number in range(num_files):
            self.put(f"in/d{number:02d}.pdf", made(number))

    def put(self, name: str, data: bytes) -> None:
        obstore.put(self._store, name, data)

    def fetched(self) -> list[str]:
        """Returns the objects that were fetched since this was called last."""
        found = [line for line in self.requests if line.startswith("GET") and "list-type" not in line]
        self.requests.clear()
        return found


@contextmanager
def stored(num_files: int) -> Iterator[Corpus]:
    requests: list[str] = []
    with bucket(f"corpus-{secrets.token_hex(4)}", requests=requests) as address:  # moto forgets none
        made = Corpus(address, requests, num_files)
        requests.clear()
        yield made


@pytest.fixture
def corpus() -> Iterator[Corpus]:
    with stored(NUM_FILES) as made:
        yield made


@pytest.fixture
def large_corpus() -> Iterator[Corpus]:
    with stored(MANY_FILES) as made:
        yield made


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MAX_ROWS", 4)


def work(
    inputs: str | list[str],
    out: str | Path,
    executor: str = "inline",
    bound: int | str | None = BOUND,
    **more: object,
) -> PreparedRun[Page]:
    plan = Plan(Load(dpi=36, workers=1), FakeLayout(), FakeRecognise(), name="fake")
    options = ParseOptions(inputs=(inputs,), recipe=plan, executor=executor, keep_downloads=bound, **more)  # type: ignore[arg-type]
    return parse_work(options, Path(out))


def kept_bytes(out: Path) -> int:
    files = (path for path in (out / "downloads").rglob("*") if path.is_file() and path.suffix != GONE)
    return sum(path.stat().st_size for path in files)


def read(inputs: str, out: Path, **more: object) -> int:
    """Reads to the end. Returns how many pages were read now."""
    run = work(inputs, out, **more)  # type: ignore[arg-type]
    run.finish()
    return run.run.tally.done


def rows(out: Path) -> list[tuple[str, str, str]]:
    return [(page.id, page.document, page.markdown) for page in Out(out).read_pages()]


def test_a_corpus_larger_than_the_bound_is_read_whole(large_corpus: Corpus, tmp_path: Path) -> None:
    out, most = tmp_path / "out", 0
    for _ in work(f"{large_corpus.address}/in", out):
        most = max(most, kept_bytes(out))
    in_flight = 8 * SIZE + 4 * SIZE  # of a batch that is fetched at once, and pages that wait to be committed
    assert most <= BOUND + in_flight < MANY_FILES * SIZE / 1.5
    assert kept_bytes(out) <= BOUND
    assert len(large_corpus.fetched()) == MANY_FILES
    read(f"{large_corpus.address}/in", tmp_path / "all", bound=None)
    assert rows(out) == rows(tmp_path / "all")
    assert len(rows(out)) == MANY_FILES * PAGES


@pytest.mark.parametrize("bound", [0, BOUND, "1GB"])
def test_a_run_that_goes_on_fetches_nothing_of_what_is_done(
    corpus: Corpus, tmp_path: Path, bound: int | str
) -> None:
    assert read(f"{corpus.address}/in", tmp_path, bound=bound) == NUM_FILES * PAGES
    before = rows(tmp_path)
    corpus.fetched()
    again = work(f"{corpus.address}/in", tmp_path, bound=bound)
    again.finish()
    assert (again.run.tally.done, again.run.tally.skipped) == (0, NUM_FILES * PAGES)
    assert corpus.fetched() == []
    corpus.put("in/new.pdf", made(99))
    assert read(f"{corpus.address}/in", tmp_path, bound=bound) == PAGES
    assert len(corpus.fetched()) == 1
    assert rows(tmp_path) == [*before, *rows(tmp_path)[-PAGES:]]


def test_killed_at_any_place_each_page_is_there_once(large_corpus: Corpus, tmp_path: Path) -> None:
    out, seen = tmp_path / "out", 0
    for lines in (1, 9, 17):
        command = [sys.executable, "-c", RUN, f"{large_corpus.address}/in", str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
            assert process.stdout is not None
            for _ in range(lines):
                seen += bool(process.stdout.readline())
            os.killpg(process.pid, signal.SIGKILL)
    assert seen > 20
    done = len(rows(out))
    assert 0 < done < MANY_FILES * PAGES
    gone = len(list(out.rglob(f"*{GONE}")))
    assert gone > 0
    large_corpus.fetched()
    read(f"{large_corpus.address}/in", out)
    assert len(large_corpus.fetched()) <= MANY_FILES - gone
    read(f"{large_corpus.address}/in", tmp_path / "all", bound=None)
    assert rows(out) == rows(tmp_path / "all")
    assert kept_bytes(out) <= BOUND


@pytest.mark.parametrize("bound", [None, 0])
def test_a_document_that_changed_is_fetched_again(corpus: Corpus, tmp_path: Path, bound: int | None) -> None:
    read(f"{corpus.address}/in", tmp_path, bound=bound)
    corpus.fetched()
    corpus.put("in/d03.pdf", made(3, pages=3) + b"\n")  # within a second of the first, times are equal
    assert read(f"{corpus.address}/in", tmp_path, bound=bound) == 3
    assert len(corpus.fetched()) == 1
    assert len(rows(tmp_path)) == (NUM_FILES - 1) * PAGES + 3  # none of the version before


def test_what_failed_is_fetched_again_only_to_be_tried_again(corpus: Corpus, tmp_path: Path) -> None:
    corpus.put("in/d00.pdf", b"no PDF")
    corpus.put("in/d01.pdf", b"%PDF-1.4 broken")
    read(f"{corpus.address}/in", tmp_path, bound=0)
    corpus.fetched()
    again = work(f"{corpus.address}/in", tmp_path, bound=0)
    again.finish()
    assert (again.run.tally.failed, again.run.tally.failed_before, corpus.fetched()) == (0, 2, [])
    again = work(f"{corpus.address}/in", tmp_path, bound=0, retry_failed=True)
    again.finish()
    assert again.run.tally.failed == len(corpus.fetched()) == 2


def test_more_pages_of_a_document_that_is_gone_are_fetched(corpus: Corpus, tmp_path: Path) -> None:
    assert read(f"{corpus.address}/in", tmp_path, bound=0, pages="1") == NUM_FILES
    corpus.fetched()
    assert read(f"{corpus.address}/in", tmp_path, bound=0) == NUM_FILES
    assert len(corpus.fetched()) == NUM_FILES
    assert len(rows(tmp_path)) == NUM_FILES * PAGES


def test_a_page_picture_of_what_is_gone_is_a_sentence(corpus: Corpus, tmp_path: Path) -> None:
    read(f"{corpus.address}/in", tmp_path, bound=0)
    page = next(iter(Out(tmp_path).read_pages()))
    with PageRenderer(Out(tmp_path)) as pictures:
        said = pictures.picture(page)
        assert isinstance(said, str) and "was deleted after it was read" in said
        read(f"{corpus.address}/in", tmp_path, bound=None)
        assert not isinstance(pictures.picture(page), str)


def test_only_what_is_as_it_was_when_it_was_listed_is_deleted(tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    names = ("same.pdf", "changed.pdf", "link.pdf", "named.pdf")
    same, changed, link, named = (downloads / "home" / name for name in names)
    moved, mine = downloads / "folder" / "same.pdf", tmp_path / "mine.pdf"
    paths = [same, changed, link, moved, mine, named]
    kept = KeptDownloads(downloads, max_bytes=0)
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%PDF")
        depth = int(path != named)  # nobody unpacked it: the user named it
        file = Candidate(FoundFile(path, path.name, depth=depth), str(number), "pdf")
        assert len(list(kept.listed(file, PartCount(1, 1), iter([file.item(0)])))) == 1
    changed.write_bytes(b"mine, now")
    link.unlink()
    link.symlink_to(mine)
    moved.parent.rename(tmp_path / "elsewhere")
    moved.parent.symlink_to(tmp_path / "elsewhere")
    for number in range(len(paths)):
        kept.done(f"{number}/00000")
    assert [path.exists() for path in paths] == [False, True, True, True, True, True]
    assert not same.exists()


def test_what_a_user_puts_beside_an_unpacked_page_stays(tmp_path: Path) -> None:
    page = tmp_path / "downloads" / "home" / "page.html"
    ours, theirs, link = (
        page.parent / "page_files" / name for name in ("ours.png", "theirs.png", "link.png")
    )
    ours.parent.mkdir(parents=True)
    for path in (page, ours, theirs):
        path.write_bytes(b"<p>")
        os.utime(path, (1, 1 if path != theirs else 2))
    link.symlink_to(theirs)
    kept = KeptDownloads(tmp_path / "downloads", max_bytes=0)
    file = Candidate(FoundFile(page, page.name, depth=1), "0", "html")
    assert len(list(kept.listed(file, PartCount(1, 1), iter([file.item(0)])))) == 1
    kept.done("0/00000")
    assert [path.exists() for path in (page, ours, theirs, link)] == [False, False, True, True]
    assert link.is_symlink()


def test_another_document_does_not_get_the_name_of_one_that_is_gone(corpus: Corpus, tmp_path: Path) -> None:
    read(f"{corpus.address}/in", tmp_path, bound=0)
    corpus.put("other/d00.pdf", made(77))
    read(f"{corpus.address}/other", tmp_path, bound=0)
    assert len(rows(tmp_path)) == (NUM_FILES + 1) * PAGES
    read(f"{corpus.address}/in", tmp_path, bound=0)
    assert len(rows(tmp_path)) == (NUM_FILES + 1) * PAGES


def test_copies_are_found_though_the_first_is_gone(corpus: Corpus, tmp_path: Path) -> None:
    for number in range(3):
        corpus.put(f"same/{number}.pdf", made(7))
    run = work(f"{corpus.address}/same", tmp_path, bound=0, dedup=True)
    run.finish()
    assert (run.run.tally.done, run.run.tally.copied) == (3 * PAGES, 2 * PAGES)
    assert len({markdown for _, _, markdown in rows(tmp_path)}) == PAGES


def shard(path: Path) -> Path:
    with tarfile.open(path, "w") as tar:
        for number in range(6):
            data = made(number)
            member = tarfile.TarInfo(f"d{number}.pdf")
            member.size, member.mtime = len(data), 1_700_000_000
            tar.addfile(member, io.BytesIO(data))
    return path


def test_archives_and_tables_of_a_store_are_fetched_again_to_know_what_they_hold(
    corpus: Corpus, tmp_path: Path
) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(picture, "PNG")
    pq.write_table(pa.table({"image": [picture.getvalue()] * 3}), tmp_path / "table.parquet")
    for path in (shard(tmp_path / "shard.tar"), tmp_path / "table.parquet"):
        corpus.put(f"packed/{path.name}", path.read_bytes())
    out = tmp_path / "out"
    assert read(f"{corpus.address}/packed", out, bound=0) == 6 * PAGES + 3
    assert kept_bytes(out) == 0
    corpus.fetched()
    assert read(f"{corpus.address}/packed", out, bound=0) == 0
    assert len(corpus.fetched()) == 2
    assert kept_bytes(out) == 0


def test_documents_of_archives_go_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out, archive = Path("out"), str(shard(tmp_path / "shard.tar"))
    assert read(archive, out, bound=SIZE) == 6 * PAGES
    assert 0 < kept_bytes(out) <= SIZE
    assert read(archive, out, bound=SIZE) == 0
    assert kept_bytes(out) <= SIZE
    assert (tmp_path / "shard.tar").is_file()


def test_a_bound_that_is_no_size_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'much' is no size"):
        work("any.pdf", tmp_path, bound="much")
