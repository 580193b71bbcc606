"""What a user names becomes items: every page once, in order, and bad files fail alone."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from penstock.errors import UsageError
from penstock.exports.pages import output_names
from penstock.page import Page
from penstock.sources import inputs, list_items
from penstock.sources.ids import natural_key, safe_document, safe_id, safe_stem
from penstock.sources.listing import MAX_HELD
from tests.engines.office.made_files import zipped
from tests.support.made_pdf import locked_pdf, pdf, text


def png(path: Path, size: tuple[int, int] = (4, 3)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "white").save(path, "PNG")
    return path


def documents(items: list[Page]) -> list[str]:
    return list(dict.fromkeys(item.document for item in items))


def failures(items: list[Page]) -> dict[str, str]:
    return {item.document: item.failure.message for item in items if item.failure is not None}


def test_a_folder_is_listed_whole_in_natural_order(tmp_path: Path) -> None:
    for name in ("page10.png", "page2.png", "b/1.png", ".hidden.png", ".git/x.png", "notes.py"):
        png(tmp_path / name)
    (tmp_path / "notes.py").write_text("nothing to see")
    items = list(list_items([str(tmp_path)], Page))
    assert documents(items) == ["b/1.png", "page2.png", "page10.png"]
    assert all(item.pixels is None and item.image is None for item in items)


def test_ids_are_stable_and_carry_stem_hash_and_page(tmp_path: Path) -> None:
    (tmp_path / "보고서 최종.pdf").write_bytes(pdf([text("one"), text("two")]))
    first = [item.id for item in list_items([str(tmp_path)], Page)]
    again = [item.id for item in list_items([str(tmp_path / "보고서 최종.pdf")], Page)]
    assert first == again
    assert re.fullmatch(r"보고서_최종-[0-9a-f]{10}/00001", first[1])


def test_a_changed_file_gets_new_ids(tmp_path: Path) -> None:
    path = png(tmp_path / "a.png")
    before = next(list_items([str(path)], Page)).id
    os.utime(path, ns=(1, 1))
    assert next(list_items([str(path)], Page)).id != before


def test_files_are_told_by_their_bytes_and_not_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(pdf([text("a PDF")]))
    png(tmp_path / "picture")
    items = list(list_items([str(tmp_path)], Page))
    assert [(item.document, item.media) for item in items] == [("a.png", "pdf"), ("picture", "image")]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("zero.pdf", b"", "is empty"),
        ("text.pdf", b"dear diary", "is not what its name says"),
        ("cut.pdf", b"%PDF-1.7\n1 0 obj\n", "damaged beyond repair"),
        ("cut.tiff", b"II*\0\xff\xff\xff\x7f", "header is damaged"),
        ("cut.parquet", b"PAR1" + b"\0" * 20, "table is damaged"),
        ("cut.arrow", b"ARROW1\0\0" + b"\0" * 20, "table is damaged"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_failed_item(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(data)
    good = png(tmp_path / "zz.png")
    items = list(list_items([str(tmp_path / "in"), str(good)], Page))
    assert len(items) == 2 and items[1].failure is None
    failure = items[0].failure
    assert failure is not None and failure.stage == "list" and failure.kind == "BadInput"
    assert words in failure.message and name.split(".")[0] in failure.message


def test_an_encrypted_pdf_asks_for_its_password(tmp_path: Path) -> None:
    locked = tmp_path / "locked.pdf"
    locked.write_bytes(locked_pdf("1234"))
    (item,) = list_items([str(locked)], Page)
    assert item.failure is not None and "encrypted" in item.failure.message
    assert "--password" in item.failure.advice
    (item,) = list_items([str(locked)], Page, password="wrong")
    assert item.failure is not None and "does not open it" in item.failure.message
    (item,) = list_items([str(locked)], Page, password="1234")
    assert item.failure is None


def test_unsupported_files_fail_only_when_named(tmp_path: Path) -> None:
    good = png(tmp_path / "a.png")
    (tmp_path / "notes.py").write_text("hello")
    (tmp_path / "code.py").write_text("HEAD = b'%PDF-1.7'")
    assert documents(list(list_items([str(tmp_path)], Page))) == ["a.png"]
    told = failures(list(list_items([str(good), str(tmp_path / "notes.py")], Page)))
    assert told == {"notes.py": "notes.py is not of a kind that Penstock reads."}


@pytest.mark.parametrize("name", ["self.pdf", "self"])
def test_a_link_to_itself_fails_alone(tmp_path: Path, name: str) -> None:
    png(tmp_path / "a.png")
    (tmp_path / name).symlink_to(tmp_path / name)
    png(tmp_path / "z.png")
    items = list(list_items([str(tmp_path)], Page))
    assert documents(items) == ["a.png", name, "z.png"]
    assert "Too many levels of symbolic links" in failures(items)[name]
    named = list(list_items([str(tmp_path / name), str(tmp_path / "a.png")], Page))
    assert "Too many levels of symbolic links" in failures(named)[name]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_an_entry_that_cannot_be_looked_at_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A network's disk answers so; on ours only a stand-in for the system's entry can."""
    for name in ("a.png", "bad", "z.png"):
        png(tmp_path / name)
    visible, stat = inputs._visible, Path.stat

    class Stale:
        name, path = "bad", str(tmp_path / "bad")

        def is_dir(self) -> bool:
            raise OSError(number, os.strerror(number))

    def looked(path: Path, **options: bool) -> os.stat_result:
        if path.name == "bad":
            raise OSError(number, os.strerror(number))
        return stat(path, **options)

    monkeypatch.setattr(
        inputs, "_visible", lambda folder: [Stale() if e.name == "bad" else e for e in visible(folder)]
    )
    monkeypatch.setattr(Path, "stat", looked)
    items = list(list_items([str(tmp_path)], Page))
    assert documents(items) == ["a.png", "bad", "z.png"]
    assert failures(items) == {"bad": f"bad cannot be opened: {os.strerror(number)}."}


def test_what_is_left_out_of_a_folder_is_counted_by_its_ending(tmp_path: Path) -> None:
    png(tmp_path / "a.png")
    for name in ("1.svg", "2.SVG", "3.djvu", "b/4.xyz", "README", ".hidden.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"something else")
    left_out: Counter[str] = Counter()
    assert documents(list(list_items([str(tmp_path)], Page, left_out=left_out))) == ["a.png"]
    assert left_out == {".svg": 2, ".djvu": 1, ".xyz": 1, "no ending": 1}


def test_nothing_at_all_is_a_usage_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.pdf does not exist"):
        list_items([str(tmp_path / "absent.pdf")], Page)
    with pytest.raises(UsageError, match="holds no PDF, picture or dataset"):
        list_items([str(tmp_path)], Page)
    with pytest.raises(UsageError, match="matches no PDF"):
        list_items([str(tmp_path / "*.pdf")], Page)
    with pytest.raises(UsageError, match="No input"):
        list_items([], Page)


def test_a_missing_input_beside_others_fails_alone_and_in_place(tmp_path: Path) -> None:
    good = png(tmp_path / "a.png")
    (tmp_path / "empty").mkdir()
    items = list(
        list_items([str(tmp_path / "gone.pdf"), str(good), str(tmp_path / "empty"), str(good)], Page)
    )
    assert [item.document for item in items] == ["gone.pdf", "a.png", "empty"]
    assert list(failures(items)) == ["gone.pdf", "empty"]


def test_a_list_whose_beginning_is_gone_is_not_read_to_its_end_first() -> None:
    count = 10 * MAX_HELD
    stdin = io.BytesIO("".join(f"/gone/{number}.pdf\n" for number in range(count)).encode())
    items = list_items(["-"], Page, stdin=stdin)
    assert next(items).document == "0.pdf"
    assert stdin.tell() < len(stdin.getvalue()) / 5
    assert sum(item.failure is not None for item in items) == count - 1


def test_globs_name_documents_below_their_root(tmp_path: Path) -> None:
    for name in ("x/1.png", "x/y/2.png", "x/.secret/3.png"):
        png(tmp_path / name)
    assert documents(list(list_items([str(tmp_path / "x" / "**" / "*.png")], Page))) == ["1.png", "y/2.png"]
    assert documents(list(list_items([str(tmp_path / "**.png")], Page))) == ["x/1.png", "x/y/2.png"]
    assert documents(list(list_items([str(tmp_path / "x" / "[1-2].png")], Page))) == ["1.png"]


def test_lists_come_from_files_and_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    png(Path("d/a.png"))
    png(Path("e/a.png"))
    lines = "\ufeffd/a.png\r\n\ne/a.png\r\nmissing.png".encode()
    Path("list.txt").write_bytes(lines)
    for items in (
        list(list_items(["@list.txt"], Page)),
        list(list_items(["-"], Page, stdin=io.BytesIO(lines))),
    ):
        assert documents(items) == ["d/a.png", "e/a.png", "missing.png"]
        assert list(failures(items)) == ["missing.png"]


def test_a_long_list_on_standard_input_keeps_every_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"{index:03d}-with-a-longer-name.png" for index in range(150)]
    for name in names:
        png(Path(name))
    assert documents(list(list_items(["-"], Page, stdin=io.BytesIO("\n".join(names).encode())))) == names


def test_a_document_on_standard_input_is_spooled_and_keeps_its_id() -> None:
    data = pdf([text("one"), text("two")])
    first, second = (list(list_items(["-"], Page, stdin=io.BytesIO(data))) for _ in range(2))
    assert [item.id for item in first] == [item.id for item in second]
    assert len(first) == 2 and first[0].document == "stdin"
    assert Path(first[0].uri).read_bytes() == data


def test_namesakes_from_different_folders_stay_apart(tmp_path: Path) -> None:
    data = png(tmp_path / "a" / "x.png").read_bytes()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.png").write_bytes(data)
    for folder in "ab":
        os.utime(tmp_path / folder / "x.png", ns=(10, 10))
    items = list(list_items([str(tmp_path / "a" / "x.png"), str(tmp_path / "b" / "x.png")], Page))
    assert documents(items) == ["a/x.png", "b/x.png"]
    assert len({item.id for item in items}) == 2


def test_names_that_would_meet_keep_their_folders_whatever_the_order(tmp_path: Path) -> None:
    names = ["a/x.png", "b/X.jpg", "b/y.png", "deep/one/in/z.png", "deep/two/in/z.png"]
    paths = [str(png(tmp_path / name)) for name in names]
    expected = ["a/x.png", "b/X.jpg", "y.png", "one/in/z.png", "two/in/z.png"]
    assert documents(list_items(paths, Page)) == expected
    assert documents(list_items(paths[::-1], Page)) == expected[::-1]
    exported = output_names(expected, ".md").values()
    assert [str(name) for name in exported] == ["a/x.md", "b/X.md", "y.md", "one/in/z.md", "two/in/z.md"]


def test_an_ending_is_added_only_where_two_files_of_one_folder_would_meet(tmp_path: Path) -> None:
    paths = [str(png(tmp_path / name)) for name in ("a/x.png", "a/x.tif", "a/y.png")]
    found = documents(list_items(paths, Page))
    assert [str(name) for name in output_names(found, ".md").values()] == ["x.png.md", "x.tif.md", "y.md"]


def test_several_folders_keep_their_names_and_one_does_not(tmp_path: Path) -> None:
    for name in ("2023/x.png", "2024/x.png", "2024/sub/y.png"):
        png(tmp_path / name)
    both = [str(tmp_path / "2023"), str(tmp_path / "2024")]
    assert documents(list_items(both, Page)) == ["2023/x.png", "2024/sub/y.png", "2024/x.png"]
    assert documents(list_items(both[:1], Page)) == ["x.png"]


def test_a_file_that_an_earlier_run_read_keeps_its_name_and_its_ids(tmp_path: Path) -> None:
    first, second = str(png(tmp_path / "a" / "x.png")), str(png(tmp_path / "b" / "x.png"))
    [before] = list_items([first], Page)
    after = list(list_items([first, second], Page, known={"x.png": {first: "any"}}))
    assert after[0] == before
    assert documents(after) == ["x.png", "b/x.png"]


def test_a_file_named_twice_is_listed_once(tmp_path: Path) -> None:
    good = png(tmp_path / "a.png")
    other_way = tmp_path / "sub" / ".." / "a.png"
    (tmp_path / "sub").mkdir()
    assert len(list(list_items([str(tmp_path), str(good), str(other_way)], Page))) == 1


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    png(tmp_path / "a" / "x.png")
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    (tmp_path / "dangling.png").symlink_to(tmp_path / "nowhere.png")
    items = list(list_items([str(tmp_path)], Page))
    assert documents(items) == ["a/x.png", "dangling.png"]
    assert "No such file" in failures(items)["dangling.png"]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    png(tmp_path / "z.png")
    assert failures(list(list_items([str(tmp_path)], Page))) == {
        "pipe.pdf": "pipe.pdf is not a regular file."
    }


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_fails_alone(tmp_path: Path) -> None:
    png(tmp_path / "a.png").chmod(0)
    png(tmp_path / "b.png")
    assert "Permission denied" in failures(list(list_items([str(tmp_path)], Page)))["a.png"]


def test_an_output_of_ours_inside_the_folder_is_passed_by(tmp_path: Path) -> None:
    png(tmp_path / "a.png")
    png(tmp_path / "out" / "crops" / "1.png")
    (tmp_path / "out" / "items").mkdir()
    (tmp_path / "out" / "run.json").write_text("{}")
    assert documents(list(list_items([str(tmp_path)], Page))) == ["a.png"]


HOSTILE = [
    "a\nb.png",
    "x" * 240 + ".png",
    "CON.png",
    "%s%n.png",
    "- -.png",
    "가" * 80 + ".png",
    'q"<>|?*.png',
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_give_safe_ids_and_documents(tmp_path: Path, name: str) -> None:
    png(tmp_path / name)
    (item,) = list_items([str(tmp_path)], Page)
    assert item.failure is None
    assert re.fullmatch(r"[\w.\-]{1,75}/\d{5}", item.id)
    assert not re.search(r'[\x00-\x1f<>:"|?*\\]', item.document)
    assert len(item.document.encode()) <= 210 and item.document.split(".")[0].upper() != "CON"


def test_a_name_that_is_no_text_fails_alone(tmp_path: Path) -> None:
    png(tmp_path / "good.png")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.png")).write_bytes(b"\x89PNG\r\n\x1a\n")
    except OSError:
        pytest.skip("this file system holds only valid names")
    items = list(list_items([str(tmp_path)], Page))
    (told,) = failures(items).values()
    assert "not valid UTF-8" in told
    for item in items:
        f"{item.id}{item.uri}{item.document}".encode()


def test_natural_order_and_safe_names() -> None:
    assert sorted(["p10", "p9", "P1", "p"], key=natural_key) == ["p", "P1", "p9", "p10"]
    assert safe_stem("../../etc/passwd") == "etc_passwd"
    assert safe_stem("\u1112\u1161\u11ab\u1100\u1173\u11af") == "한글"  # as macOS writes it
    assert safe_stem("...") == "input"
    assert safe_document(["..", "a", "..", "b\\c.pdf"]) == "a/b_c.pdf"
    assert safe_id("line\nbreak") == "line_break" and safe_id("문서/3쪽") == "문서/3쪽"
    assert len(safe_id("x" * 1000)) == 200


def test_a_document_without_pages_is_one_failed_item(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pptx"
    empty.write_bytes(
        zipped({"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<p><sldIdLst/></p>"})
    )
    (item,) = list_items([str(empty)], Page)
    assert item.failure is not None and "it has no page" in item.failure.message


def test_an_object_store_without_its_package_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("obstore", "obstore.store", "obstore.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match="obstore") as told:
        list(list_items(["s3://bucket/a.pdf"], Page, downloads=tmp_path))
    assert "penstock-pipeline[stores]" in told.value.advice
