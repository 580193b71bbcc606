"""The inventory and the report of photos: names, totals, words."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from penstock.agents.answers import things_answer
from penstock.errors import Failure
from penstock.exports.inventory import (
    handling,
    inventory,
    is_thing_unsure,
    likely,
    object_row,
    photo_name,
)
from penstock.exports.photo_phrases import NOTES, both, language_of, name_of, notes_of
from penstock.exports.photo_report import report
from penstock.passes.photos import naming_advice
from penstock.photo import Photo
from penstock.photos import notes
from penstock.photos.furniture import UNKNOWN, Furniture
from penstock.photos.moving import KG, truck
from penstock.recipes.photos import photos
from penstock.store.out import Out
from tests.support.things import photo, thing


def test_a_photo_is_called_by_its_file_and_a_page_by_its_number() -> None:
    item = Photo(id="a", uri="a.jpg", document="a.jpg", media="image")
    assert photo_name(item) == "a.jpg"
    assert photo_name(replace(item, document="a.pdf", media="pdf")) == "a.pdf page 1"
    assert photo_name(replace(item, document="a.tif", part=2)) == "a.tif page 3"
    assert photo_name(replace(item, document="rooms", media="parquet")) == "rooms row 1"


def test_the_report_names_things_in_both_languages() -> None:
    assert name_of(thing(label="소파", kind="sofa")) == ("sofa", "소파")
    assert name_of(thing(label="couch", kind="sofa")) == ("couch", "소파")
    assert name_of(thing(label="가야금", kind="object")) == ("가야금", "가야금")
    assert language_of([thing(label="소파")]) == "ko"
    assert language_of([thing(label="sofa")]) == "en"
    noted = thing(cut=("left", "top"), note="Turned boxes differ: check its size.", movable=False)
    assert [korean for _, korean in notes_of(noted, None, 3)] == [
        "3번과 비슷합니다. 같은 물품입니까?", "옮기지 않습니다.", "사진의 왼쪽, 위쪽에서 잘렸습니다.",
        "비스듬히 놓여 확인이 필요합니다.",
    ]  # fmt: skip
    assert both(("<b>", "<b>")) == "&lt;b&gt;"


def test_the_same_thing_in_two_photos_of_a_room_is_counted_once_when_asked() -> None:
    pages = [photo("a", objects=(thing(),)), photo("b", objects=(thing(mask_path="masks/b.png"),))]
    two = inventory(pages, same_room=False)
    assert two.boxes.cbm == pytest.approx(2.88, rel=0.02)
    assert [line.looks_like for line in two.lines] == [None, 1]  # said, not silently counted twice
    one = inventory(pages, same_room=True)
    assert one.boxes.cbm == pytest.approx(1.44, rel=0.005)
    assert [object_row(line)["same_as"] for line in one.lines] == [None, 1]


def test_the_same_file_given_twice_counts_once() -> None:
    pages = [photo("a", objects=(thing(),)), photo("copy of a", objects=(thing(),))]
    found = inventory(pages, same_room=False)
    assert [line.same_as for line in found.lines] == [None, 1]
    assert [line.looks_like for line in found.lines] == [None, None]
    assert found.boxes.cbm == pytest.approx(1.44, rel=0.005)


def test_things_of_one_photo_share_the_error_of_its_camera() -> None:
    def widths(shared: float) -> float:
        things = [thing(n, mask_path=f"masks/{n}.png", shared=shared) for n in range(5)]
        found = inventory([photo(objects=tuple(things))], same_room=False).boxes
        return found.high / found.low

    assert widths(0.9) > 1.3 * widths(0.1)


def test_the_report_tells_how_a_thing_was_measured() -> None:
    noted = notes_of(
        thing(cut=(), note="", measurement_notes=(notes.LABEL_NOT_SEEN, notes.NOT_ON_FLOOR)), None, None
    )
    assert [english for english, _ in noted] == [
        "Label given, not seen: please check that it is one.",
        "Not on the floor: usual size of its kind.",
    ]
    assert set(NOTES) >= {word for name, word in vars(notes).items() if name.isupper()} - {notes.CUT}
    found = inventory([photo(objects=(thing(measurement_notes=(notes.LENS_GUESSED,)),))], same_room=False)
    assert object_row(found.lines[0])["measurement_notes"] == ["lens guessed"]


def test_what_stays_is_not_moved() -> None:
    found = inventory([photo(objects=(thing(movable=False), thing(1)))], same_room=False)
    assert found.moving.cbm == pytest.approx(1.4, rel=0.005)
    assert found.boxes.cbm == pytest.approx(2.88, rel=0.02)


def test_movers_get_weight_cartons_and_a_truck() -> None:
    shelf = thing(
        kind="bookcase", size=(0.9, 0.36, 1.79), bbox_cbm=0.58, moving_cbm=0.58, low_cbm=0.5, high_cbm=0.7
    )
    found = inventory([photo(objects=(shelf, thing(1, kind="toilet", movable=False)))], same_room=False)
    row = object_row(found.lines[0])
    assert (row["weight_kg"], row["comes_apart"], row["cartons"]) == (45, True, 4)
    assert handling(found) == {"weight_kg": 45, "cartons": 4, "truck": "1 t"}
    assert [truck(cbm) for cbm in (6.1, 20, 57)] == ["2.5 t", "5 t", "3 x 5 t"]
    assert set(KG) | {UNKNOWN, "door", "a4_sheet"} == set(Furniture.open().kinds)


def test_a_range_that_is_too_wide_is_called_unsure_in_units() -> None:
    wide = thing(label="object", kind="object", bbox_cbm=0.5, low_cbm=0.4, high_cbm=6.47, moving_cbm=0.5)
    found = inventory([photo(objects=(wide,))], same_room=False)
    row = object_row(found.lines[0])
    assert row["unsure"] and row["range_cbm"] == [0.4, 6.47]
    assert (likely(wide), found.moving.is_unsure) == ("0.40 to 6.47", True)
    said = things_answer(found)
    assert "likely 0.40 to 6.47, unsure" in said and "%" not in said
    assert not is_thing_unsure(thing(low_cbm=1.0, high_cbm=3.9))


def test_advice_is_given_only_where_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    unnamed = inventory([photo(objects=(thing(label=UNKNOWN, finder="saliency"),))], same_room=False)
    named = inventory([photo(objects=(thing(finder="saliency"),))], same_room=False)
    for is_there in (True, False):
        monkeypatch.setattr("penstock.passes.photos.has_nanodet", lambda is_there=is_there: is_there)
        assert naming_advice(named, photos(detector="saliency")) == ""
        assert "models fetch" not in naming_advice(unnamed, photos(detector="nanodet"))  # it saw nothing
        assert ("models fetch" in naming_advice(unnamed, photos(detector="saliency"))) is not is_there
        assert ("--detector nanodet" in naming_advice(unnamed, photos(detector="saliency"))) is is_there


class Tags(HTMLParser):
    """Collects the names of a page's tags and attributes, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_names_and_labels_with_markup_are_inert_in_the_report(tmp_path: Path) -> None:
    evil = "</td></title></style><script>document.title='owned'</script><img src=x onerror='1'>\" onload=\"1"
    failure = Failure(stage="detect", kind="BadInput", message=evil, advice=evil)
    name = f"{evil.replace('/', '')}{{{{rows}}}}.png"
    Image.new("RGB", (60, 50)).save(tmp_path / name)
    shown = Photo(
        id="a", uri=str(tmp_path / name), document=name, width=60, height=50,
        objects=(thing(label=evil, kind="object", note=evil), thing(1, label=evil, failure=failure)),
    )  # fmt: skip
    broken, empty = photo(id="b", document=evil, failure=failure), photo(id="c", document=evil)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text('{"plan": [], "format": 1}', "utf-8")
    found = Tags()
    found.feed(report(Out(tmp_path / "out"), [shown, broken, empty]))
    assert found.tags & {"script", "iframe", "object", "a"} == set()
    assert not {one for one in found.attributes if one.startswith("on")}
    assert found.text.count("<script>") >= 5  # shown as the words they are
    assert "{{rows}}" in found.text
