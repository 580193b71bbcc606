"""What files of other programs hold, and readers lost once."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from penstock.engines.office.open import open_structure
from tests.engines.office import made_files
from tests.engines.office.test_sheets import blocks_of, opened, regions_of


def read(path: Path, kind: str, data: bytes) -> list[tuple[str, str]]:
    path.write_bytes(data)
    return [
        (block.mark or block.label, block.text) for block in open_structure(str(path), kind).unit(0).blocks
    ]


def test_notes_of_markdown_are_notes_and_code_that_looks_like_one_is_code(tmp_path: Path) -> None:
    text = "Rain[^1] and snow[^b].\n\n```\n[^1]: code\n```\n"
    text += "\n[^1]: It *falls*\n    on the roof.\n[^b]: [far](https://e.org)\n"
    assert read(tmp_path / "a.md", "markdown", text.encode()) == [
        ("text", "Rain[^1] and snow[^b]."), ("algorithm", "[^1]: code"),
        ("footnote", "[^1]: It falls on the roof."), ("footnote", "[^b]: far"),
    ]  # fmt: skip


def test_a_picture_that_a_mail_brings_for_its_text_stands_in_it(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"] = "Rain"
    mail.set_content("plain")
    mail.add_alternative('<p>See</p><img src="cid:a%40b" alt="A dot"><img src="cid:none">', subtype="html")
    mail.get_payload()[1].add_related(made_files.PNG, "image", "png", cid="<a@b>")  # type: ignore
    (tmp_path / "a.eml").write_bytes(mail.as_bytes())
    blocks = open_structure(str(tmp_path / "a.eml"), "eml").unit(0).blocks
    pictures = [(block.text, block.picture) for block in blocks if block.label == "image"]
    assert pictures[0] == ("A dot", made_files.PNG)
    assert all(not data for _, data in pictures[1:])


def test_who_deleted_words_of_an_odt_is_no_word_of_it(tmp_path: Path) -> None:
    told = "<office:change-info><office:creator>Lee</office:creator></office:change-info>"
    told = f"<text:deletion>{told}<text:p>Snow</text:p><text:p>and ice</text:p></text:deletion>"
    told = f'<text:changed-region text:id="c">{told}</text:changed-region>'
    body = f"<text:tracked-changes>{told}</text:tracked-changes>"
    body += '<text:p>Rain<text:change text:change-id="c"/></text:p>'
    [blocks] = blocks_of(tmp_path / "a.odt", "odt", opened("text", body))
    assert [(block.mark, block.text) for block in blocks] == [("deleted", "Snow\nand ice"), ("", "Rain")]


def test_a_table_on_a_slide_is_not_also_the_picture_that_stands_for_it(tmp_path: Path) -> None:
    cell = "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>"
    frame = f'<table:table>{cell}</table:table><draw:image xlink:href="a.svm"/>'
    body = f"<draw:page><draw:frame>{frame}</draw:frame></draw:page>"
    [blocks] = blocks_of(tmp_path / "a.odp", "odp", opened("presentation", body))
    assert [block.label for block in blocks] == ["table"]


def test_a_hidden_slide_that_is_only_a_list_is_left_out_with_drop(tmp_path: Path) -> None:
    style = '<style:drawing-page-properties presentation:visibility="hidden"/>'
    style = f'<style:style style:name="h">{style}</style:style>'
    item = "<text:list><text:list-item><text:p>Not shown</text:p></text:list-item></text:list>"
    frame = f"<draw:frame><draw:text-box>{item}</draw:text-box></draw:frame>"
    body = f'<draw:page draw:style-name="h">{frame}</draw:page>'
    path = tmp_path / "a.odp"
    path.write_bytes(made_files.zipped(opened("presentation", body, style)))
    assert [region.content for region in regions_of(path, "keep")] == ["• Not shown"]
    assert regions_of(path, "drop") == []
