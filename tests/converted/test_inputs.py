"""`penstock.convert` takes what people have: paths, addresses, bytes, streams, pictures, arrays."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock.converted import inputs
from penstock.errors import PenstockError, UsageError
from penstock.plan import Plan
from penstock.sources.remote import download as downloads
from penstock.stages.load import Load
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support import made_pdf
from tests.support.local_server import LocalServer

PLAN = Plan(Load(dpi=36), FakeLayout(), FakeRecognise(), name="fake")


def convert(source: Any) -> penstock.Document:
    return penstock.convert(source, recipe=PLAN, executor="inline")


def drawn() -> Image.Image:
    """80 x 60, white, its left upper corner red."""
    picture = Image.new("RGB", (80, 60), "white")
    picture.paste((255, 0, 0), (0, 0, 10, 10))
    return picture


def png() -> bytes:
    """The picture as a file: one page that nobody must count."""
    encoded = io.BytesIO()
    drawn().save(encoded, "PNG")
    return encoded.getvalue()


PNG = png()


def png_file(folder: Path) -> Path:
    path = folder / "scan.png"
    path.write_bytes(PNG)
    return path


def stream_of(folder: Path) -> io.BytesIO:
    stream = io.BytesIO(PNG)
    stream.name = "/elsewhere/letter.old"
    return stream


FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "path": (png_file, "scan.png"),
    "text": (lambda folder: str(png_file(folder)), "scan.png"),
    "bytes": (lambda folder: PNG, "document.png"),
    "bytearray": (lambda folder: bytearray(PNG), "document.png"),
    "memoryview": (lambda folder: memoryview(PNG), "document.png"),
    "stream": (lambda folder: io.BytesIO(PNG), "document.png"),
    "named stream": (stream_of, "letter.png"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_may_be_given_as(kind: str, tmp_path: Path) -> None:
    make, name = FILES[kind]
    with convert(make(tmp_path)) as doc:
        [page] = doc.pages
        assert (doc.name, page.number, page.width, page.height) == (name, 1, 80, 60)


def test_an_open_file_has_a_name_and_pages(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text("one"), made_pdf.text("two")]))
    with path.open("rb") as file, convert(file) as doc:
        assert doc.name == "report.pdf"
        assert [(page.number, page.width, page.height) for page in doc.pages] == [(1, 100, 50), (2, 100, 50)]


PICTURES: dict[str, Callable[[], Any]] = {
    "PIL": drawn,
    "PIL, CMYK": lambda: drawn().convert("CMYK"),
    "PIL, palette": lambda: drawn().convert("P"),
    "array": lambda: np.asarray(drawn()),
    "array, not contiguous": lambda: np.asarray(drawn())[:, ::-1][:, ::-1],
    "array, grey": lambda: np.asarray(drawn().convert("L")),
    "array, one channel": lambda: np.asarray(drawn().convert("L"))[:, :, None],
    "array, transparent": lambda: np.asarray(drawn().convert("RGBA")),
    "array, bool": lambda: np.asarray(drawn().convert("L")) > 128,
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_may_be_given_as(kind: str) -> None:
    with convert(PICTURES[kind]()) as doc:
        [page] = doc.pages
        assert (doc.name, page.width, page.height, page.failure) == ("image.png", 80, 60, None)


def test_a_picture_loses_nothing_but_its_slant(tmp_path: Path) -> None:
    """A camera's picture lies on its side and says so: 6 is "turn it to the right"."""
    path = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    drawn().save(path, exif=exif, dpi=(150, 150))
    with Image.open(path) as photo:
        written = inputs.as_file(photo, tmp_path / "in")
    with Image.open(written) as upright:
        assert upright.size == (60, 80)
        assert [round(value) for value in upright.info["dpi"]] == [150, 150]
        red, green, _ = upright.getpixel((55, 5))  # type: ignore[misc]
        assert red > 200 > 100 > green
    written = inputs.as_file(np.asarray(drawn()), tmp_path / "array")
    with Image.open(written) as same:
        assert np.array_equal(np.asarray(same), np.asarray(drawn()))


class Files(BaseHTTPRequestHandler):
    """A web server with documents, a page of HTML, ways that lead elsewhere and one that is silent."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/silent":
            self.rfile.read(1)  # nothing comes: ends with the connection
        elif path in ("/moved", "/to-a-file"):
            self.send_response(302)
            self.send_header("Location", "/scan.png" if path == "/moved" else "file:///etc/hostname")
            self.end_headers()
        elif path == "/cut-off":
            self.send_response(200)
            self.send_header("Content-Length", str(2 * len(PNG)))
            self.end_headers()
            self.wfile.write(PNG)
        elif path in ANSWERS:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.end_headers()
            self.wfile.write(ANSWERS[path])
        else:
            self.send_error(404)

    def log_message(self, *_: object) -> None: ...


ANSWERS = {
    "/scan.png": PNG,
    "/%EB%B3%B4%EA%B3%A0%EC%84%9C.png": PNG,
    "/download": PNG,
    "/page": b"<html>hello",
}


@pytest.fixture
def server() -> Iterator[str]:
    with LocalServer(Files) as running:
        yield running.url


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/scan.png", "scan.png"),
        ("/download?key=secret", "download.png"),
        ("/%EB%B3%B4%EA%B3%A0%EC%84%9C.png", "보고서.png"),
        ("/moved", "moved.png"),
    ],
)
def test_an_address_is_downloaded(server: str, path: str, name: str) -> None:
    with convert(server + path) as doc:
        assert (doc.name, doc.pages[0].width) == (name, 80)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nothing?key=secret", r"/nothing cannot be downloaded: the server answered 404 Not Found\. Check"),
        ("/page", r"/page is not a document\. Penstock reads PDF"),
        ("/cut-off", rf"/cut-off cannot be downloaded: {len(PNG)} of {2 * len(PNG)} bytes came"),
        ("/to-a-file", r"cannot be downloaded: .*(Found|not allowed|unknown)"),
    ],
)
def test_what_cannot_be_downloaded_is_said_in_a_sentence(server: str, path: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        convert(server + path)
    assert "secret" not in str(caught.value)


def test_a_download_has_a_size_and_a_deadline(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MAX_DOWNLOAD_BYTES", len(PNG) - 1)
    with pytest.raises(UsageError, match=f"larger than {len(PNG) - 1:,} bytes"):
        convert(f"{server}/scan.png")
    monkeypatch.setattr(downloads, "DEADLINE_S", 0.1)
    with pytest.raises(UsageError, match=r"/silent was not there after 0\.1 s"):
        convert(f"{server}/silent")


def test_a_server_that_is_not_there_and_an_address_that_is_none() -> None:
    with pytest.raises(UsageError, match=r"cannot be downloaded: .*refused"):
        convert("http://127.0.0.1:9/report.pdf")
    with pytest.raises(UsageError, match="not an address"):
        convert("http://host:port/report.pdf")


WRONG: dict[str, tuple[Any, str]] = {
    "a number": (5, "A int is no document. Give a path, an http"),
    "empty bytes": (b"", "The bytes are empty."),
    "other bytes": (b"hello", "The bytes are not of a kind that Penstock reads. Penstock reads PDF"),
    "text stream": (io.StringIO("%PDF-"), 'opened as text. Open it with open(path, "rb")'),
    "floats": (np.zeros((4, 4)), "An array of float64 is no picture. Give uint8"),
    "shape": (np.zeros((4, 4, 2), np.uint8), "An array of shape (4, 4, 2) is no picture."),
    "empty array": (np.zeros((0, 4), np.uint8), "An array of shape (0, 4) is no picture."),
    "no file": ("missing.pdf", "missing.pdf does not exist."),
    "pattern": ("*.pdf", "'*.pdf' may be many documents. Give a list: convert(['*.pdf'])."),
    "empty list": ([], "The list is empty."),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_document_is_refused_in_a_sentence(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, words = WRONG[kind]
    with pytest.raises(UsageError, match=re.escape(words)):
        convert(source)


def test_a_folder_of_one_document_is_that_document(tmp_path: Path) -> None:
    png_file(tmp_path)
    (tmp_path / "notes.txt").write_text("no document")
    with convert(tmp_path) as doc:
        assert doc.name == "scan.png"


def test_a_folder_of_several_documents_goes_into_a_list_or_to_parse(tmp_path: Path) -> None:
    (tmp_path / "second.png").write_bytes(png_file(tmp_path).read_bytes())
    with pytest.raises(UsageError, match="several documents") as raised:
        convert(tmp_path)
    assert f"convert([{str(tmp_path)!r}])" in str(raised.value) and "parse(" in str(raised.value)
    with convert([tmp_path]) as documents:  # type: ignore[attr-defined]
        assert [doc.name for doc in documents] == ["scan.png", "second.png"]


def test_a_folder_without_a_document_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no document")
    with pytest.raises(UsageError, match="holds no PDF, picture or dataset"):
        convert(tmp_path)


def test_a_file_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing follows")
    with pytest.raises(PenstockError, match=r"broken\.pdf"):
        convert(path)


def test_a_picture_whose_file_is_cut_off_is_said() -> None:
    cut = Image.open(io.BytesIO(PNG[: len(PNG) // 2]))
    with pytest.raises(UsageError, match="The picture cannot be read: "):
        convert(cut)


def test_an_endless_stream_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_STREAM_BYTES", 3 << 20)

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return PNG[:size].ljust(size)

    with pytest.raises(UsageError, match="more than 3,145,728 bytes"):
        convert(Endless())


def packed(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as package:
        for name in names:
            package.writestr(name, PNG)
    return path


def test_an_archive_is_a_document_where_it_holds_one_and_a_list_of_them_otherwise(tmp_path: Path) -> None:
    with convert(packed(tmp_path / "one.zip", "a.png")) as doc:
        assert (doc.name, len(doc.pages)) == ("one.zip/a.png", 1)
    two = packed(tmp_path / "two.zip", "a.png", "b/c.png")
    with pytest.raises(UsageError, match="archive of several documents") as refused:
        convert(two)
    assert f"convert([{str(two)!r}])" in refused.value.advice
    with penstock.convert([two], recipe=PLAN, executor="inline") as docs:
        assert [doc.name for doc in docs] == ["two.zip/a.png", "two.zip/b/c.png"]


def test_a_mail_is_a_document_without_its_attachments(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail.set_content("Rain.")
    mail.add_attachment(PNG, maintype="image", subtype="png", filename="a.png")
    path = tmp_path / "m.eml"
    path.write_bytes(mail.as_bytes())
    with convert(path) as doc:
        assert (doc.name, len(doc.pages)) == ("m.eml", 1)
    with penstock.convert([path], recipe=PLAN, executor="inline") as docs:
        assert [doc.name for doc in docs] == ["m.eml", "m.eml/a.png"]
