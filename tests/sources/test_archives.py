"""Archives of documents: what is in them is read like files, under names of their own."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable
from email.message import EmailMessage
from pathlib import Path

import pytest
from PIL import Image

from penstock.page import Page
from penstock.sources.listing import list_items
from penstock.sources.partition import ALL, Partition
from tests.support.loaded import load_items
from tests.support.made_pdf import pdf, text

REPORT = pdf([text("first"), text("second")])
HTML = b"<!doctype html><html><body><h1>Rain</h1><p>It rains.</p></body></html>"


def png(colour: str = "white") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(file, "PNG")
    return file.getvalue()


def tar(path: Path, files: Iterable[tuple[str, bytes]], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_700_000_000
            archive.addfile(info, io.BytesIO(data))
    return path


def warc(records: Iterable[tuple[str, str, bytes, dict[str, str]]]) -> bytes:
    """A web archive of answers: address, type, body, and more headers of the record or of the answer."""
    return b"".join(gzip.compress(_record(*record)) for record in records)


def _record(address: str, kind: str, body: bytes, more: dict[str, str]) -> bytes:
    of_record = {key: value for key, value in more.items() if key.startswith("WARC")}
    of_answer = {key: value for key, value in more.items() if key not in of_record and key != "status"}
    lines = [
        f"HTTP/1.1 {more.get('status', '200 OK')}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
    ]
    answer = _head([*lines, *(f"{key}: {value}" for key, value in of_answer.items())]) + body
    lines = [
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Target-URI: {address}",
        "WARC-Date: 2024-05-01T10:00:00Z",
    ]
    lines += ["Content-Type: application/http; msgtype=response", f"Content-Length: {len(answer)}"]
    return _head([*lines, *(f"{key}: {value}" for key, value in of_record.items())]) + answer + b"\r\n\r\n"


def _head(lines: list[str]) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode()


CRAWL = (
    ("https://example.org/", "text/html", HTML, {}),
    ("https://example.org/reports/2024.pdf?v=2", "application/pdf", REPORT, {}),
    ("https://example.org/style.css", "text/css", b"p { color: red }", {}),
    ("https://example.org/gone.pdf", "text/html", HTML, {"status": "404 Not Found"}),
    ("https://example.org/photo", "image/png", png(), {}),
    (
        "https://example.org/packed.pdf",
        "application/pdf",
        gzip.compress(REPORT),
        {"Content-Encoding": "gzip"},
    ),
    ("https://example.org/cut.pdf", "application/pdf", REPORT[:200], {"WARC-Truncated": "length"}),
    ("https://example.org/false.pdf", "application/pdf", b"\0\1\2 no PDF", {}),
    ("https://example.org/photo", "image/png", png("red"), {}),
)


def listed(
    path: Path, home: Path, partition: Partition = ALL, left_out: Counter[str] | None = None
) -> list[Page]:
    return list(list_items([str(path)], Page, downloads=home, partition=partition, left_out=left_out))


def crawl() -> bytes:
    return warc(CRAWL)


def test_documents_of_a_web_archive_are_named_by_their_addresses(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(crawl())
    left_out: Counter[str] = Counter()
    pages = listed(path, tmp_path / "kept", left_out=left_out)
    assert [(page.document, page.part) for page in pages if page.failure is None] == [
        ("crawl.warc.gz/example.org/index", 0),
        ("crawl.warc.gz/example.org/reports/2024.pdf_v=2", 0),
        ("crawl.warc.gz/example.org/reports/2024.pdf_v=2", 1),
        ("crawl.warc.gz/example.org/photo", 0),
        ("crawl.warc.gz/example.org/packed.pdf", 0),
        ("crawl.warc.gz/example.org/packed.pdf", 1),
        ("crawl.warc.gz/example.org/photo-2", 0),
    ]
    assert left_out == {"text/css": 1, "answer 404": 1}


def test_what_a_crawler_cut_off_is_a_row_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(crawl())
    failed = {page.document: page.failure.message for page in listed(path, tmp_path / "kept") if page.failure}
    assert set(failed) == {"crawl.warc.gz/example.org/cut.pdf", "crawl.warc.gz/example.org/false.pdf"}
    assert "was cut off by the crawler (length)" in failed["crawl.warc.gz/example.org/cut.pdf"]


def test_a_wacz_gives_what_its_web_archives_hold(tmp_path: Path) -> None:
    path = tmp_path / "site.wacz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("datapackage.json", "{}")
        package.writestr("archive/data.warc.gz", crawl())
    pages = listed(path, tmp_path / "kept")
    assert len(pages) == 9
    assert pages[0].document == "site.wacz/example.org/index"


def test_pictures_of_one_key_are_the_pages_of_one_document(tmp_path: Path) -> None:
    files = [
        ("0001.0.png", png()), ("0001.1.png", png("red")), ("0001.json", b"{}"),
        ("0002.pdf", REPORT), ("0002.json", b"{}"), ("0003.png", png()),
    ]  # fmt: skip
    pages = listed(tar(tmp_path / "shard-000.tar", files), tmp_path / "kept")
    assert [(page.document, page.part) for page in pages] == [
        ("shard-000.tar/0001", 0), ("shard-000.tar/0001", 1),
        ("shard-000.tar/0002.pdf", 0), ("shard-000.tar/0002.pdf", 1), ("shard-000.tar/0003.png", 0),
    ]  # fmt: skip
    assert len({page.id for page in pages}) == 5


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.tgz", "w"), ("a.tgz", "w:gz"), ("a.tar.bz2", "w:bz2"), ("a.tar.xz", "w:xz")],
)
def test_ids_are_the_same_on_another_machine(tmp_path: Path, name: str, mode: str) -> None:
    path = tar(tmp_path / name, [("a.pdf", REPORT), ("b.pdf", REPORT)], mode)
    here, there = (listed(path, tmp_path / name) for name in ("here", "there"))
    assert [page.id for page in here] == [page.id for page in there]
    assert len({page.id for page in here}) == 4


def test_a_name_that_leads_out_of_the_archive_stays_below_it(tmp_path: Path) -> None:
    pages = listed(
        tar(tmp_path / "bad.tar", [("../../evil.pdf", REPORT), ("/etc/b.pdf", REPORT)]), tmp_path / "kept"
    )
    assert {page.document for page in pages} == {"bad.tar/evil.pdf", "bad.tar/etc/b.pdf"}
    assert all(Path(page.uri).is_relative_to(tmp_path / "kept") for page in pages)


@pytest.mark.parametrize("mtime", ["nan", "inf", "-1e300", "1e300", "-99999999999"])
def test_a_time_that_no_file_can_have_stops_nothing(tmp_path: Path, mtime: str) -> None:
    path = tmp_path / "odd.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.pdf")
        info.size, info.pax_headers = len(REPORT), {"mtime": mtime}
        archive.addfile(info, io.BytesIO(REPORT))
    assert [page.failure for page in listed(path, tmp_path / "kept")] == [None, None]


def test_links_and_devices_in_a_tar_are_no_documents(tmp_path: Path) -> None:
    secret = tmp_path / "secret.pdf"
    secret.write_bytes(REPORT)
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"{kind!r}.pdf")
            info.type, info.linkname = kind, str(secret)
            archive.addfile(info)
    assert "holds no document" in only_failure(listed(path, tmp_path / "kept"))


@pytest.mark.parametrize(("name", "mode"), [("a.tgz", "w:gz"), ("a.tar.bz2", "w:bz2"), ("a.txz", "w:xz")])
def test_an_archive_that_unpacks_to_far_more_than_it_is_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: str
) -> None:
    monkeypatch.setattr("penstock.sources.archives.listing.MAX_FREE_BYTES", 1 << 20)
    path = tar(tmp_path / name, [("a.pdf", REPORT + bytes(40 << 20)), ("b.pdf", REPORT)], mode)
    assert "far more than it is" in only_failure(listed(path, tmp_path / "kept"))
    assert not list((tmp_path / "kept").glob("**/*.pdf"))


def only_failure(pages: list[Page]) -> str:
    (page,) = pages
    assert page.failure is not None
    return page.failure.message


@pytest.mark.parametrize("head", [b"BZh91AY&SY", b"\xfd7zXZ\0\0"])
def test_what_only_begins_as_a_packed_tar_is_one_failure(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / ("a.tar.bz2" if head.startswith(b"BZ") else "a.tar.xz")
    path.write_bytes(head + bytes(range(256)) * 20)
    assert "damaged" in only_failure(listed(path, tmp_path / "kept"))


def test_a_damaged_archive_gives_its_first_documents_and_one_failure(tmp_path: Path) -> None:
    path = tar(tmp_path / "torn.tar", [("a.pdf", REPORT), ("b.pdf", REPORT * 50)])
    path.write_bytes(path.read_bytes()[:20_000])
    pages = listed(path, tmp_path / "kept")
    assert [page.document for page in pages] == ["torn.tar/a.pdf", "torn.tar/a.pdf", "torn.tar"]
    assert pages[-1].failure is not None
    assert "damaged" in pages[-1].failure.message


def test_an_archive_falls_to_one_rank_whole(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(6):
        tar(folder / f"shard-{number}.tar", [("a.pdf", REPORT), ("b.pdf", REPORT)])
    ranks = [
        {
            page.document.partition("/")[0]
            for page in listed(folder, tmp_path / f"kept{rank}", Partition(rank, 3))
        }
        for rank in (1, 2, 3)
    ]
    assert sum(map(len, ranks)) == 6
    assert set.union(*ranks) == {f"shard-{number}.tar" for number in range(6)}


def zipped(path: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 10, 0, 0)), data)
    return path


def test_a_zip_gives_all_that_is_read_and_counts_the_rest(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", [("deep.pdf", REPORT)]).read_bytes()
    files = [
        ("a/report.pdf", REPORT), ("notes.txt", b"It rained."), ("table.csv", b"a,b\n1,2\n"),
        ("x.bin", b"\0" * 9), ("__MACOSX/report.pdf", REPORT), ("inner.zip", inner),
        ("../../out.pdf", REPORT),
    ]  # fmt: skip
    left: Counter[str] = Counter()
    pages = listed(zipped(tmp_path / "all.zip", files), tmp_path / "kept", left_out=left)
    documents = list(dict.fromkeys(page.document for page in pages))
    assert documents == [
        "all.zip/a/report.pdf", "all.zip/notes.txt", "all.zip/table.csv", "all.zip/inner.zip/deep.pdf",
        "all.zip/out.pdf",
    ]  # fmt: skip
    assert not [page.failure for page in pages if page.failure]
    assert left == Counter({".bin": 1, ".pdf": 1})


def test_a_saved_web_page_in_a_zip_has_its_pictures(tmp_path: Path) -> None:
    page = (
        b'<html><body><p>Rain</p><img src="./%s/a.png" alt="A"><img src="%s/../x.png" alt="X"></body></html>'
    )
    name = "비가 오는 날: " + "긴 " * 30 + "제목"
    folder = f"{name}_files".encode()
    files = [
        (f"{name}_files/a.png", png()), (f"in/{name}.html", page % (folder, folder)), ("x.png", png("red")),
        (f"{name}_files/style.css", b"p { }"), (f"{name}.html", page % (folder, folder)),
        (f"{name}_files/../../x.png", png("red")), (f"{name}_files/frame.html", HTML),
    ]  # fmt: skip
    items = listed(zipped(tmp_path / "all.zip", files), tmp_path / "kept")
    assert [item.media for item in items] == ["html", "image", "html"]
    other, _, saved = (load_items([item])[0] for item in items)
    crops = [[region.crop is not None for region in page.regions] for page in (other, saved)]
    assert crops == [[False, False, False], [False, True, False]]


def test_archives_in_archives_end(tmp_path: Path) -> None:
    data = zipped(tmp_path / "0.zip", [("deep.pdf", REPORT)]).read_bytes()
    for depth in range(1, 5):
        data = zipped(tmp_path / f"{depth}.zip", [(f"{depth - 1}.zip", data)]).read_bytes()
    [page] = listed(tmp_path / "4.zip", tmp_path / "kept")
    assert page.failure is not None and "lies in more than 3 archives" in page.failure.message


def test_a_locked_file_of_a_zip_fails_alone_with_advice(tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", [("report.pdf", REPORT), ("open.pdf", REPORT)])
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    path.write_bytes(data)
    locked, *others = listed(path, tmp_path / "kept")
    assert locked.failure is not None and "encrypted" in locked.failure.message
    assert "password" in locked.failure.advice
    assert [page.document for page in others] == ["locked.zip/open.pdf"] * 2


def test_a_bomb_in_a_zip_fails_alone(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", [("white.bmp", bytes(300 << 20)), ("report.pdf", REPORT)])
    bomb, *others = listed(path, tmp_path / "kept")
    assert bomb.failure is not None and "larger than" in bomb.failure.message
    assert len(others) == 2


def test_names_of_an_old_korean_zip_are_korean(tmp_path: Path) -> None:
    path = zipped(tmp_path / "old.zip", [("abcd.pdf", REPORT)])
    path.write_bytes(path.read_bytes().replace(b"abcd.pdf", "한글.pdf".encode("cp949")))
    assert {page.document for page in listed(path, tmp_path / "kept")} == {"old.zip/한글.pdf"}


def test_attachments_of_a_mail_are_documents_of_their_own(tmp_path: Path) -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "inner", "a@example.org"
    inner.set_content("an older mail")
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Date"] = "offer", "b@example.org", "Wed, 01 May 2024 10:00:00 +0000"
    mail.set_content("See below.")
    mail.add_attachment(REPORT, maintype="application", subtype="pdf", filename="report.pdf")
    mail.add_attachment(b"\0\1\2", maintype="application", subtype="octet-stream", filename="tool.exe")
    mail.add_attachment(inner, filename="older")
    path = tmp_path / "mail.eml"
    path.write_bytes(mail.as_bytes())
    left: Counter[str] = Counter()
    pages = listed(path, tmp_path / "kept", left_out=left)
    names = ["mail.eml", "mail.eml/report.pdf", "mail.eml/report.pdf", "mail.eml/older.eml"]
    assert [page.document for page in pages] == names
    assert not [page.failure for page in pages if page.failure]
    assert left == Counter({".exe": 1})
