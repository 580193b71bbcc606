"""Each kind of file gives what was put into it: pages, headings, lists, spans, notes, formulas, pictures."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

import penstock
from penstock.engines.office.blocks import StructureBlock
from penstock.engines.office.open import open_structure
from penstock.errors import BadInput
from penstock.page import Page
from penstock.sources import formats, list_items
from tests.engines.office import made_files
from tests.support.loaded import load_items
from tests.support.made_hwp3 import made_hwp3

FILES: dict[str, bytes] = {
    "a.pptx": made_files.pptx(), "a.xlsx": made_files.xlsx(), "a.hwpx": made_files.hwpx(),
    "a.odt": made_files.odt(),
    "a.epub": made_files.epub(), "a.eml": made_files.EML, "a.html": made_files.HTML.encode(),
    "a.csv": "이름,값\n하나,1\n".encode("cp949"), "a.txt": b"One\nline.\n\nTwo.\x0cNext page",
}  # fmt: skip


def read(tmp_path: Path, name: str, data: bytes | None = None) -> list[list[StructureBlock]]:
    path = tmp_path / name
    path.write_bytes(FILES[name] if data is None else data)
    kind = formats.sniff(path.read_bytes()[: formats.HEAD_BYTES], path.suffix)
    assert kind in formats.STRUCTURES
    file = open_structure(str(path), kind)
    try:
        return [list(file.unit(index).blocks) for index in range(file.num_units)]
    finally:
        file.close()


def told(blocks: list[StructureBlock]) -> list[tuple[str, str]]:
    return [(block.mark or block.label, block.text) for block in blocks]


def cells(blocks: list[StructureBlock]) -> list[tuple[object, ...]]:
    [table] = [block for block in blocks if block.cells]
    return [tuple(cell[:6]) for cell in table.cells]


def test_a_slide_is_a_page_with_its_title_first_and_its_notes_last(tmp_path: Path) -> None:
    [slide] = read(tmp_path, "a.pptx")
    assert told(slide) == [
        ("paragraph_title", "계획"), ("list", "• one\n• two"), ("table", ""), ("speaker_notes", "Say hello."),
    ]  # fmt: skip
    assert slide[0].box == (100.0, 0.0, 1100.0, 100.0)
    assert cells(slide) == [(0, 0, "Sum", 1, 2, True), (1, 0, "1", 1, 1, False), (1, 1, "2", 1, 1, False)]


def test_a_hidden_slide_is_read_and_marked(tmp_path: Path) -> None:
    [slide] = read(tmp_path, "a.pptx", made_files.pptx(show="0"))
    assert slide[0].mark == "hidden_slide"


def test_a_sheet_is_tables_by_areas_with_numbers_as_they_are_shown(tmp_path: Path) -> None:
    data, old = read(tmp_path, "a.xlsx")
    assert told(data) == [
        ("sheet", "Data"), ("text", "제목"), ("hidden_cells", ""), ("shown_cells", ""), ("text", "7"),
        ("hidden_rows", "Hidden rows: 4"), ("stored", "B4: 45000\nC4: -1234.5\nF8: =SUM(B4:C4)"),
    ]  # fmt: skip
    assert [cell[2] for cell in cells(data[:3])] == ["Day", "Amount", "2023-03-15", "-1,234.50원"]
    assert [cell[2] for cell in cells(data[3:])] == ["Day", "Amount"]
    assert told(old) == [("hidden_sheet", "Old")]


def test_an_hwpx_has_pages_notes_spans_and_formulas(tmp_path: Path) -> None:
    first, second = read(tmp_path, "a.hwpx")
    assert told(first) == [
        ("paragraph_title", "서론"), ("text", "본문[^1]"), ("table", ""), ("footnote", "[^1]: 각주"),
    ]  # fmt: skip
    assert cells(first) == [(0, 0, "합계", 1, 2, True), (1, 0, "가", 1, 1, False), (1, 1, "나", 1, 1, False)]
    assert told(second) == [("display_formula", r"\frac{a}{b}=\sqrt{x}")]


def test_an_odt_has_headings_nested_lists_notes_and_spans(tmp_path: Path) -> None:
    [unit] = read(tmp_path, "a.odt")
    assert (unit[0].level, unit[0].text) == (2, "Head")
    assert told(unit)[1:3] == [("text", "See[^1]"), ("list", "• a\n◦ b")]
    assert cells(unit)[0] == (0, 0, "x", 1, 2, False)
    assert told(unit)[-1] == ("footnote", "[^1]: Below.")


def test_chapters_follow_the_spine_and_keep_their_pictures(tmp_path: Path) -> None:
    one, two = read(tmp_path, "a.epub")
    assert told(one) == [("paragraph_title", "One"), ("image", "A dot")]
    assert one[1].picture == made_files.PNG
    assert told(two) == [("text", "Two")]


def test_a_mail_has_its_fields_its_text_and_its_attachments_names(tmp_path: Path) -> None:
    [mail] = read(tmp_path, "a.eml")
    assert told(mail) == [
        ("doc_title", "안녕"), ("fields", "From: a@example.org\nTo: b@example.org"), ("text", "Hello."),
        ("attachment", "Attachment: bill.pdf"),
    ]  # fmt: skip


def test_a_web_page_gives_what_a_reader_sees_and_fetches_nothing(tmp_path: Path) -> None:
    [page] = read(tmp_path, "a.html")
    assert told(page) == [
        ("paragraph_title", "Head"), ("text", "A link and none."), ("list", "3. c\n4. d"), ("table", ""),
        ("image", "Far away"),
    ]  # fmt: skip
    assert [link.address for link in page[1].links] == ["https://example.org"]
    assert cells(page)[0] == (0, 0, "a", 2, 1, True)
    assert "not fetched" in page[-1].note


def test_korean_csv_and_form_feeds_are_understood(tmp_path: Path) -> None:
    [table] = read(tmp_path, "a.csv")
    assert [cell[2] for cell in cells(table)] == ["이름", "값", "하나", "1"]
    assert [[block.text for block in unit] for unit in read(tmp_path, "a.txt")] == [
        ["One\nline.", "Two."],
        ["Next page"],
    ]


def test_one_run_reads_all_kinds_and_a_broken_one_fails_alone(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "broken.pptx").write_bytes(FILES["a.pptx"][:200])
    pages = list(penstock.parse([tmp_path / name for name in (*FILES, "broken.pptx")]))
    failed = [page.document for page in pages if page.failure is not None]
    assert failed == ["a.eml/bill.pdf", "broken.pptx"]  # the attachment is no PDF
    assert {page.document for page in pages if page.markdown} == set(FILES)
    assert _markdown(pages, "a.html").startswith(
        "## Head\n\nA [link](https://example.org) and none.\n\n3. c\n4. d"
    )


def _markdown(pages: list[Page], document: str) -> str:
    return next(page.markdown for page in pages if page.document == document)


@pytest.mark.parametrize("name", sorted(FILES))
def test_mutated_files_are_read_or_say_why_not(tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    for _ in range(60):
        data = bytearray(FILES[name])
        for _ in range(rng.randint(1, 12)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / name).write_bytes(data[: rng.randint(len(data) // 2, len(data))])
        try:
            file = open_structure(str(tmp_path / name), name.rpartition(".")[2].replace("txt", "text"))
            for index in range(file.num_units):
                file.unit(index)
        except BadInput as exc:
            assert exc.message


def test_an_older_kind_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "docvortex", None)
    (tmp_path / "a.doc").write_bytes(formats.OLE + bytes(600))
    with pytest.raises(BadInput, match="needs docvortex") as caught:
        open_structure(str(tmp_path / "a.doc"), "doc")
    assert "[office]" in caught.value.advice


def test_an_hwp_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.office.hwp.rhwp_package", lambda: None)
    with pytest.raises(BadInput, match="needs rhwp-python") as refused:
        read(tmp_path, "a.hwp", made_hwp3(["Rain falls."]))
    assert "penstock-pipeline[hwp]" in refused.value.advice


def test_what_is_not_shown_is_kept_and_marked_or_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.pptx"
    path.write_bytes(made_files.pptx(show="0"))
    items = list(list_items([str(path)], Page))
    kept, dropped = (load_items(items, unprinted=word) for word in ("keep", "drop"))
    assert {region.native_label for region in kept[0].regions} >= {"speaker_notes", "hidden_slide"}
    assert [page.regions for page in dropped] == [() for _ in items]
    path.write_bytes(made_files.pptx())
    [first, *_] = load_items(list(list_items([str(path)], Page)), unprinted="drop")
    assert first.regions and not [one for one in first.regions if one.native_label == "speaker_notes"]


def test_formulas_and_numbers_as_they_are_stored_come_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(made_files.xlsx())
    items = list(list_items([str(path)], Page))[:1]
    [[kept], [full]] = (load_items(items, unprinted=word) for word in ("keep", "all"))
    assert "stored" not in {region.native_label for region in kept.regions}
    [stored] = [region.content for region in full.regions if region.native_label == "stored"]
    assert stored == "B4: 45000\nC4: -1234.5\nF8: =SUM(B4:C4)"
    assert "SUM" not in full.markdown


def test_a_saved_web_page_has_its_pictures_and_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "page_files"
    folder.mkdir()
    (folder / "a.png").write_bytes(made_files.PNG)
    (tmp_path / "secret.png").write_bytes(made_files.PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    below = [f"page_files/{name}" for name in ("a.png", "link.png", "../secret.png")]
    sources = [*below, "./page_files/a.png", "secret.png"]
    text = "".join(f'<img src="{source}" alt="{source}">' for source in sources)
    (tmp_path / "page.html").write_text(f"<html><body><p>Rain</p>{text}</body></html>")
    file = open_structure(str(tmp_path / "page.html"), "html")
    shown = [block.text for block in file.unit(0).blocks if block.picture]
    assert shown == ["page_files/a.png", "./page_files/a.png"]
    assert [item.document for item in list_items([str(tmp_path)], Page)] == ["page.html", "secret.png"]


@pytest.mark.parametrize(
    ("name", "named", "missing", "place"),
    [
        ("a.pptx", b"slides/slide1.xml", b"slides/slide7.xml", 0),
        ("a.xlsx", b"worksheets/s2.xml", b"worksheets/s7.xml", 1),
        ("a.epub", b"two.xhtml", b"2.xhtml", 1),
    ],
)
def test_a_part_that_a_file_names_and_does_not_hold_fails_alone_and_is_not_lost(
    tmp_path: Path, name: str, named: bytes, missing: bytes, place: int
) -> None:
    path = tmp_path / name
    path.write_bytes(renamed_in_lists(FILES[name], named, missing))
    kind = formats.sniff(path.read_bytes()[: formats.HEAD_BYTES], path.suffix)
    assert kind in formats.STRUCTURES
    file = open_structure(str(path), kind)
    for index in range(file.num_units):
        if index != place:
            assert file.unit(index).blocks
    with pytest.raises(BadInput, match="it has no part"):
        file.unit(place)
    file.close()


def renamed_in_lists(data: bytes, named: bytes, missing: bytes) -> bytes:
    """Returns a package whose list of parts names another one than the package holds."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as package, zipfile.ZipFile(made, "w") as changed:
        for part in package.namelist():
            is_list = part.endswith((".rels", ".opf")) and "slides/_rels" not in part
            content = package.read(part)
            changed.writestr(part, content.replace(named, missing) if is_list else content)
    return made.getvalue()
