"""The parts that every PPTX has: a theme, a master and a layout for slides, a master for notes."""

from __future__ import annotations

from penstock_eval.made_documents.writers.archive import OFFICE, XML, Relations

MAIN = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.presentationml"
THEME = "application/vnd.openxmlformats-officedocument.theme+xml"
SPACES = f'xmlns:a="{DRAWING}" xmlns:r="{OFFICE}" xmlns:p="{MAIN}"'
COLOURS = (
    '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" '
    'accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
)
GROUP = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
NAMES = ("dk1", "lt1", "dk2", "lt2", *(f"accent{n}" for n in range(1, 7)), "hlink", "folHlink")


def fixed_parts() -> tuple[dict[str, str | bytes], dict[str, str]]:
    """Returns the parts and their content types."""
    root, master, layout, notes = Relations(), Relations(), Relations(), Relations()
    root.add("officeDocument", "ppt/presentation.xml")
    held = master.add("slideLayout", "../slideLayouts/slideLayout1.xml")
    master.add("theme", "../theme/theme1.xml")
    layout.add("slideMaster", "../slideMasters/slideMaster1.xml")
    notes.add("theme", "../theme/theme2.xml")
    parts: dict[str, str | bytes] = {
        "_rels/.rels": root.xml(),
        "ppt/theme/theme1.xml": _theme(),
        "ppt/theme/theme2.xml": _theme(),
        "ppt/slideMasters/slideMaster1.xml": _master(held),
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": master.xml(),
        "ppt/slideLayouts/slideLayout1.xml": _layout(),
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": layout.xml(),
        "ppt/notesMasters/notesMaster1.xml": _notes_master(),
        "ppt/notesMasters/_rels/notesMaster1.xml.rels": notes.xml(),
    }
    kinds = {
        "ppt/theme/theme1.xml": THEME,
        "ppt/theme/theme2.xml": THEME,
        "ppt/slideMasters/slideMaster1.xml": f"{KIND}.slideMaster+xml",
        "ppt/slideLayouts/slideLayout1.xml": f"{KIND}.slideLayout+xml",
        "ppt/notesMasters/notesMaster1.xml": f"{KIND}.notesMaster+xml",
    }
    return parts, kinds


def _placeholder(id: int, name: str, kind: str, top: int, tall: int) -> str:
    frame = f'<a:xfrm><a:off x="457200" y="{top}"/><a:ext cx="8229600" cy="{tall}"/></a:xfrm>'
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{id}" name="{name}"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr>'
        f"<p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr>"
        f'<p:spPr>{frame}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        '<p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:endParaRPr lang="en-US"/></a:p></p:txBody></p:sp>'
    )


def _shapes() -> str:
    title = _placeholder(2, "Title 1", 'type="title"', 274638, 914400)
    return GROUP + title + _placeholder(3, "Body 2", 'type="body" idx="1"', 1600200, 4525963)


def _master(layout: str) -> str:
    levels = "".join(
        f'<a:lvl{level}pPr marL="{342900 * level}" indent="-342900"><a:buChar char="•"/><a:defRPr sz="1800"/>'
        f"</a:lvl{level}pPr>"
        for level in range(1, 6)
    )
    styles = (
        '<p:txStyles><p:titleStyle><a:lvl1pPr><a:buNone/><a:defRPr sz="3200"/></a:lvl1pPr></p:titleStyle>'
        f"<p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles>"
    )
    held = f'<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="{layout}"/></p:sldLayoutIdLst>'
    return (
        f"{XML}<p:sldMaster {SPACES}><p:cSld><p:spTree>{_shapes()}</p:spTree></p:cSld>"
        f"{COLOURS}{held}{styles}</p:sldMaster>"
    )


def _layout() -> str:
    return (
        f'{XML}<p:sldLayout {SPACES} type="obj" preserve="1"><p:cSld name="Title and Content">'
        f"<p:spTree>{_shapes()}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
    )


def _notes_master() -> str:
    shape = _placeholder(2, "Notes Placeholder 1", 'type="body" idx="1"', 4400550, 3600450)
    return f"{XML}<p:notesMaster {SPACES}><p:cSld><p:spTree>{GROUP}{shape}</p:spTree></p:cSld>{COLOURS}</p:notesMaster>"


def _theme() -> str:
    def colour(place: int, name: str) -> str:
        shade = ("000000", "FFFFFF")[place] if place < 2 else f"{place * 20:02X}{255 - place * 20:02X}80"
        return f'<a:{name}><a:srgbClr val="{shade}"/></a:{name}>'

    colours = "".join(colour(place, name) for place, name in enumerate(NAMES))
    font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>' * 3
    line = '<a:ln w="9525"><a:solidFill><a:schemeClr val="phClr"/></a:solidFill></a:ln>' * 3
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>" * 3
    return (
        f'{XML}<a:theme xmlns:a="{DRAWING}" name="Office"><a:themeElements>'
        f'<a:clrScheme name="Office">{colours}</a:clrScheme><a:fontScheme name="Office">'
        f"<a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>"
        f'<a:fmtScheme name="Office"><a:fillStyleLst>{fill}</a:fillStyleLst><a:lnStyleLst>{line}</a:lnStyleLst>'
        f"<a:effectStyleLst>{effect}</a:effectStyleLst><a:bgFillStyleLst>{fill}</a:bgFillStyleLst></a:fmtScheme>"
        "</a:themeElements></a:theme>"
    )
