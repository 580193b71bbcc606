"""Boxes of an OpenDocument slide: of shapes, in groups, in pixels of the slide's own size."""

from __future__ import annotations

from pathlib import Path

from penstock.engines.office.open import open_structure
from tests.engines.office.made_files import zipped
from tests.engines.office.test_sheets import SPACES, opened

LAYOUT = (
    '<style:page-layout style:name="L"><style:page-layout-properties fo:page-width="10in"'
    ' fo:page-height="19.05cm"/></style:page-layout>'
    '<style:master-page style:name="M" style:page-layout-name="L"/>'
)


def shape(text: str, settings: str = "") -> str:
    words = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
    return f"<draw:frame {settings}>{words}</draw:frame>"


def place(x: str, y: str, wide: str, high: str) -> str:
    return f'svg:x="{x}" svg:y="{y}" svg:width="{wide}" svg:height="{high}"'


def test_shapes_of_a_slide_have_boxes_in_its_own_measure(tmp_path: Path) -> None:
    group = f"<draw:g>{shape('In a group', place('72pt', '0cm', '25.4mm', '1pc'))}</draw:g>"
    titled = place("1in", "2in", "2.5in", "1in") + ' presentation:class="title"'
    turned = place("0in", "0in", "1in", "1in") + ' draw:transform="rotate(1)"'
    body = shape("Title", titled) + group + shape("Nowhere") + shape("Turned", turned)
    parts = opened("presentation", f'<draw:page draw:master-page-name="M">{body}</draw:page>')
    parts["styles.xml"] = f"<office:styles {SPACES}>{LAYOUT}</office:styles>"
    path = tmp_path / "a.odp"
    path.write_bytes(zipped(parts))
    unit = open_structure(str(path), "odp").unit(0)
    assert (unit.width, round(unit.height)) == (960, 720)
    assert {block.text: block.box for block in unit.blocks} == {
        "Title": (96, 192, 336, 288), "In a group": (96, 0, 192, 16), "Nowhere": None, "Turned": None
    }  # fmt: skip
