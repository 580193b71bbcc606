"""The real service takes Office files, HWPX, mail and RTF, with boxes where it was asked for them."""

from __future__ import annotations

import base64
import json
import re
import zipfile
from email.message import EmailMessage
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import penstock
from penstock.cli.app import app
from penstock.client.connection import ServiceError
from penstock.engines.rendering.font_names import add_korean_font
from penstock.passes.parse import ParseOptions
from penstock.recipes.documents import documents
from penstock.serve.reading.service import Service
from tests.conftest import DATA
from tests.engines.office import made_files
from tests.support.made_hwpx import MadeCell, made_hwpx
from tests.support.running_service import Running

pytestmark = pytest.mark.slow
HWPX = made_hwpx(
    [
        "# 분기 보고서",
        "낱말마다 자리가 있다.",
        [MadeCell(0, 0, "구분", 2), MadeCell(1, 0, "서울"), MadeCell(1, 1, "1,200")],
    ]
)
OLD = (
    "hwp/hwplib/표.hwp", "office/extractous/simple.doc", "office/docling/ppt/legacy_sample.ppt",
    "office/docling/xls/legacy_sample.xls", "office/docling/email/msg_simple.msg",
) if find_spec("docvortex") and find_spec("rhwp") else ()  # fmt: skip
RTF = rb"{\rtf1\ansi\pard\b Rain\b0\par}"


def test_a_service_reads_every_kind_and_a_job_may_ask_for_boxes(tmp_path: Path) -> None:
    if find_spec("rhwp") is None or not add_korean_font(tmp_path / "home"):
        pytest.skip("needs the extra hwp, a Korean font and fc-list")
    sent = {
        "a.hwpx": HWPX, "a.pptx": made_files.pptx(), "a.xlsx": made_files.xlsx(), "a.odt": made_files.odt(),
        "a.epub": made_files.epub(), "a.eml": made_files.EML, "a.rtf": RTF,
    }  # fmt: skip
    reading = ParseOptions(inputs=())
    with Service(tmp_path / "out", documents()) as service, Running(service, reading=reading) as client:
        names = {name: client.send(name, data)["name"] for name, data in sent.items()}
        for name in names.values():
            assert client.wait(name)["failed"] == 0
        status, told = client("/v1/parse?name=b.hwpx&office=both&wait=60", HWPX)
        assert status == 200
        regions = told["documents"][0]["pages"][0]["regions"]
        assert [region["content"] for region in regions[:2]] == ["분기 보고서", "낱말마다 자리가 있다."]
        assert all(region["bbox_2d"] != [0, 0, 1000, 1000] for region in regions)


def test_every_kind_reads_alike_in_python_in_a_shell_and_over_a_service(tmp_path: Path) -> None:
    """A made file of each kind with headings, tables with spans and pictures; old kinds where they lie."""
    pytest.importorskip("penstock_eval", reason="needs penstock-pipeline[eval]")
    from penstock_eval.made_documents.folder import write_documents
    from penstock_eval.made_documents.grow import FEATURES

    made = write_documents(tmp_path / "made", len(FEATURES), seed=3)
    files = [*sorted((made / "documents").iterdir()), *_plain_files(tmp_path), *_old_files()]
    assert len({path.suffix for path in files}) >= 14
    inputs = [str(path) for path in files]
    page = "\n\n".join  # of one document
    with penstock.Reader() as reader:
        here = {path.name: _without_marks(reader.convert(path).markdown) for path in files}
    assert all(here.values())
    shell: dict[str, list[str]] = {}
    for one in penstock.parse(inputs, out=tmp_path / "shell"):
        assert one.failure is None, one.failure
        shell.setdefault(one.document, []).append(one.markdown or "")
    with (
        Service(tmp_path / "out", documents()) as service,
        Running(service, reading=ParseOptions(inputs=())) as running,
    ):
        client = penstock.Client(running.url)
        far = {path.name: _without_marks(client.markdown(str(path))) for path in files}
        command = ["parse", *inputs, "-o", str(tmp_path / "remote"), "--service", running.url]
        assert CliRunner().invoke(app, command).exit_code == 0
    assert far == here
    rows = [json.loads(row) for row in _lines(tmp_path / "remote" / "ocr_results.jsonl")]
    assert page(row["markdown"] for row in rows) == page(text for texts in shell.values() for text in texts)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _without_marks(markdown: str) -> str:
    """What is said, without the marks of pages, and pictures by their words: convert keeps no crops."""
    said = re.sub(r"!\[([^\]]*)\]\(\.\./crops/[^)]*\)", r"\[\1\]", markdown)
    return " ".join(re.sub(r"<!-- page \d+ -->", "", said).split())


def _plain_files(folder: Path) -> list[Path]:
    written = {
        "a.eml": b"Subject: Rain\r\n\r\nIt rains.", "a.rtf": RTF, "a.csv": "이름,값\n하나,1\n".encode(),
        "a.txt": b"One\nline.",
        "a.md": "# 머리\n\n- 하나\n".encode(),
    }  # fmt: skip
    for name, data in written.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in written]


def _old_files() -> list[Path]:
    """Files of the old kinds, where the test data lie."""
    return [path for name in OLD if (path := DATA / "devset" / "formats" / name).is_file()]


def test_shell_service_and_client_read_the_same_documents_of_archives_and_mails(tmp_path: Path) -> None:
    archive, mail = tmp_path / "a.zip", tmp_path / "m.eml"
    with zipfile.ZipFile(archive, "w") as package:
        package.writestr("b/sheet.xlsx", made_files.xlsx())
        package.writestr("page.rtf", RTF)
        package.writestr("broken.docx", made_files.odt()[:200])
    message = EmailMessage()
    message.set_content("Rain.")
    message.add_attachment(RTF, maintype="application", subtype="rtf", filename="inner.rtf")
    mail.write_bytes(message.as_bytes())
    inputs = [str(archive), str(mail)]
    shell = {
        (page.document, page.part): page.markdown if page.failure is None else None
        for page in penstock.parse(inputs, out=tmp_path / "shell")
    }
    assert {name for name, _ in shell} == {
        "a.zip/b/sheet.xlsx", "a.zip/page.rtf", "a.zip/broken.docx", "m.eml", "m.eml/inner.rtf",
    }  # fmt: skip
    assert shell["a.zip/broken.docx", 0] is None
    with (
        Service(tmp_path / "out", documents()) as service,
        Running(service, reading=ParseOptions(inputs=())) as running,
    ):
        client = penstock.Client(running.url)
        told = {
            (page.document, page.part): page.markdown if page.failure is None else None
            for document in client.parse(inputs)
            for page in document.pages
        }
        assert told == shell
        with pytest.raises(ServiceError, match="several documents"):
            client.markdown(str(archive))
        command = ["parse", *inputs, "-o", str(tmp_path / "remote"), "--service", running.url]
        assert CliRunner().invoke(app, command).exit_code == 1  # a document failed, as in the shell
        sent = base64.b64encode(archive.read_bytes()).decode()
        asked = {"document": {"document_url": f"data:application/zip;base64,{sent}"}}
        status, answer = running(
            "/v1/ocr", json.dumps(asked).encode(), **{"Content-Type": "application/json"}
        )
        assert status == 422 and "holds 3 documents" in str(answer), answer
    rows = map(json.loads, (tmp_path / "remote" / "ocr_results.jsonl").read_text("utf-8").splitlines())
    far = {(row["document"], row["page_idx"]): row["markdown"] for row in rows}
    assert far == {key: text or "" for key, text in shell.items()}


def test_a_service_that_prints_gives_boxes_to_all(tmp_path: Path) -> None:
    if find_spec("rhwp") is None or not add_korean_font(tmp_path / "home"):
        pytest.skip("needs the extra hwp, a Korean font and fc-list")
    with Service(tmp_path / "out", documents(office="both")) as service, Running(service) as client:
        name = client.send("a.hwpx", HWPX)["name"]
        assert client.wait(name)["failed"] == 0
        [item] = [entry for entry in service.documents() if entry.name == name]
        assert item.done == 1
    assert list((tmp_path / "out" / "downloads" / "printed").glob("*.pdf"))
