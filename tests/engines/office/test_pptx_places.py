"""Boxes of a slide's shapes: in groups, and from the places of its layout and master."""

from __future__ import annotations

from pathlib import Path

from penstock.box import Box
from penstock.engines.office.open import open_structure
from tests.engines.office.made_files import R, relations, zipped

SPACES = f'xmlns:r="{R}" xmlns:p="p" xmlns:a="a"'


def xfrm(x: int, y: int, wide: int, high: int, inner: str = "") -> str:
    """Returns a place in pixels."""
    x, y, wide, high = (9_525 * side for side in (x, y, wide, high))
    return f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{wide}" cy="{high}"/>{inner}</a:xfrm>'


def shape(text: str, place: str = "", holder: str = "") -> str:
    named = f"<p:nvSpPr><p:nvPr>{f'<p:ph {holder}/>' if holder else ''}</p:nvPr></p:nvSpPr>"
    words = f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody>"
    return f"<p:sp>{named}<p:spPr>{place}</p:spPr>{words}</p:sp>"


def tree(shapes: str) -> str:
    return f"<p:sld {SPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"


def boxes(folder: Path, slide: str, layout: str = "", master: str = "") -> dict[str, Box | None]:
    path = folder / "a.pptx"
    path.write_bytes(zipped({
        "ppt/presentation.xml": f'<p:presentation {SPACES}><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst>'
                                "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(r1="slide|slides/s.xml"),
        "ppt/slides/s.xml": tree(slide),
        "ppt/slides/_rels/s.xml.rels": relations(l="slideLayout|../layouts/l.xml"),
        "ppt/layouts/l.xml": tree(layout),
        "ppt/layouts/_rels/l.xml.rels": relations(m="slideMaster|../masters/m.xml"),
        "ppt/masters/m.xml": tree(master),
    }))  # fmt: skip
    return {block.text: block.box for block in open_structure(str(path), "pptx").unit(0).blocks}


def test_a_placeholder_without_a_place_has_that_of_its_layout_or_master(tmp_path: Path) -> None:
    slide = (
        shape("Title", holder='type="ctrTitle"') + shape("By number", holder='idx="7"')
        + shape("Own", xfrm(1, 2, 3, 4), 'idx="7"') + shape("Nowhere", holder='type="chart"')
    )  # fmt: skip
    layout = shape("", xfrm(10, 20, 30, 40), 'type="body" idx="7"') + shape("", holder='type="ctrTitle"')
    master = shape("", xfrm(5, 6, 100, 50), 'type="title"')
    assert boxes(tmp_path, slide, layout, master) == {
        "Title": (5, 6, 105, 56), "By number": (10, 20, 40, 60), "Own": (1, 2, 4, 6), "Nowhere": None
    }  # fmt: skip


def test_shapes_of_groups_are_where_their_group_is(tmp_path: Path) -> None:
    inner = '<a:chOff x="0" y="0"/><a:chExt cx="952500" cy="952500"/>'  # 100 by 100
    outer = f"<p:grpSpPr>{xfrm(200, 100, 50, 200, inner)}</p:grpSpPr>"
    moved = f"<p:grpSpPr>{xfrm(20, 10, 10, 10, inner.replace('952500', '95250'))}</p:grpSpPr>"
    group = (
        f"<p:grpSp>{outer}{shape('a', xfrm(10, 10, 20, 20))}<p:grpSp>{moved}{shape('b', xfrm(0, 5, 10, 5))}"
    )
    assert boxes(tmp_path, f"{group}</p:grpSp></p:grpSp>") == {
        "a": (205, 120, 215, 160), "b": (210, 130, 215, 140)
    }  # fmt: skip
