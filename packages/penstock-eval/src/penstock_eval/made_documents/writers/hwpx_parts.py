"""The parts that every HWPX has: what is in it, and the header with fonts, styles and numberings."""

from __future__ import annotations

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>'
HANCOM = "http://www.hancom.co.kr"
SPACES = (
    f'xmlns:hp="{HANCOM}/hwpml/2011/paragraph" xmlns:hs="{HANCOM}/hwpml/2011/section" '
    f'xmlns:hc="{HANCOM}/hwpml/2011/core" xmlns:hh="{HANCOM}/hwpml/2011/head" '
    f'xmlns:hpf="{HANCOM}/schema/2011/hpf" xmlns:opf="http://www.idpf.org/2007/opf/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
LEVELS = 4  # of headings: styles 1 to 4 after the plain one
FIRST_LIST = LEVELS + 1  # of the properties of paragraphs in lists, three for each list
LANGUAGES = ("HANGUL", "LATIN", "HANJA", "JAPANESE", "OTHER", "SYMBOL", "USER")
SECTION_PROPERTIES = (
    '<hp:secPr id="" textDirection="HORIZONTAL" spaceColumns="1134" tabStop="8000" outlineShapeIDRef="1" '
    'memoShapeIDRef="0" textVerticalWidthHead="0" masterPageCnt="0">'
    '<hp:grid lineGrid="0" charGrid="0" wonggojiFormat="0"/>'
    '<hp:startNum pageStartsOn="BOTH" page="0" pic="0" tbl="0" equation="0"/>'
    '<hp:pagePr landscape="WIDELY" width="59528" height="84188" gutterType="LEFT_ONLY">'
    '<hp:margin header="4252" footer="4252" gutter="0" left="8504" right="8504" top="5668" bottom="4252"/>'
    '</hp:pagePr></hp:secPr><hp:ctrl><hp:colPr id="" type="NEWSPAPER" layout="LEFT" colCount="1" sameSz="1" '
    'sameGap="0"/></hp:ctrl>'
)


def fixed_parts() -> dict[str, str | bytes]:
    version = (
        f'{XML}<hv:HCFVersion xmlns:hv="{HANCOM}/hwpml/2011/version" tagetApplication="WORDPROCESSOR" major="5" '
        'minor="1" micro="0" buildNumber="1" os="1" xmlVersion="1.4" application="Hancom Office Hangul" '
        'appVersion="11, 0, 0, 2129 WIN32LEWindows_8"/>'
    )
    container = (
        f'{XML}<ocf:container xmlns:ocf="urn:oasis:names:tc:opendocument:xmlns:container" '
        f'xmlns:hpf="{HANCOM}/schema/2011/hpf"><ocf:rootfiles><ocf:rootfile full-path="Contents/content.hpf" '
        'media-type="application/hwpml-package+xml"/></ocf:rootfiles></ocf:container>'
    )
    manifest = f'{XML}<odf:manifest xmlns:odf="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    space = f'xmlns:ha="{HANCOM}/hwpml/2011/app"'
    settings = (
        f'{XML}<ha:HWPApplicationSetting {space}><ha:CaretPosition listIDRef="0" paraIDRef="0" pos="0"/>'
        "</ha:HWPApplicationSetting>"
    )
    return {
        "version.xml": version,
        "settings.xml": settings,
        "META-INF/container.xml": container,
        "META-INF/manifest.xml": manifest,
    }


def package_file(language: str, pictures: list[str]) -> str:
    items = [
        f'<opf:item id="{name}" href="{path}" media-type="application/xml"/>'
        for name, path in (
            ("header", "Contents/header.xml"),
            ("section0", "Contents/section0.xml"),
            ("settings", "settings.xml"),
        )
    ]
    items += [
        f'<opf:item id="{name}" href="BinData/{name}.png" media-type="image/png" isEmbeded="1"/>'
        for name in pictures
    ]
    spine = '<opf:itemref idref="header" linear="yes"/><opf:itemref idref="section0" linear="yes"/>'
    meta = f"<opf:metadata><opf:title/><opf:language>{language}</opf:language></opf:metadata>"
    return (
        f'{XML}<opf:package {SPACES} version="" unique-identifier="" id="">{meta}'
        f"<opf:manifest>{''.join(items)}</opf:manifest><opf:spine>{spine}</opf:spine></opf:package>"
    )


def header(lists: list[bool]) -> str:
    """Returns the header; each list has a numbering of its own, so that its numbers begin at 1."""
    fonts = "".join(
        f'<hh:fontface lang="{name}" fontCnt="1"><hh:font id="0" face="함초롬바탕" type="TTF" isEmbedded="0"/>'
        "</hh:fontface>"
        for name in LANGUAGES
    )
    # the outline shows no numbers: its forms are empty
    numberings = [_numbering(1, False), *(_numbering(id, True) for id in range(2, len(lists) + 2))]
    looks = [_look(0, "NONE", 0, 0)]
    looks += [_look(level, "OUTLINE", 0, level - 1) for level in range(1, LEVELS + 1)]
    for place, is_numbered in enumerate(lists):
        for depth in range(3):
            id = FIRST_LIST + 3 * place + depth
            kind, held = ("NUMBER", place + 2) if is_numbered else ("BULLET", 1)
            looks.append(_look(id, kind, held, depth))
    inner = (
        f'<hh:fontfaces itemCnt="{len(LANGUAGES)}">{fonts}</hh:fontfaces>{_borders()}'
        f'<hh:charProperties itemCnt="2">{_letters(0)}{_letters(1)}</hh:charProperties>'
        '<hh:tabProperties itemCnt="1"><hh:tabPr id="0" autoTabLeft="0" autoTabRight="0"/></hh:tabProperties>'
        f'<hh:numberings itemCnt="{len(numberings)}">{"".join(numberings)}</hh:numberings>'
        f'<hh:bullets itemCnt="1"><hh:bullet id="1" char="●" useImage="0">{_form(0, "")}</hh:bullet></hh:bullets>'
        f'<hh:paraProperties itemCnt="{len(looks)}">{"".join(looks)}</hh:paraProperties>{_styles()}'
    )
    begin = '<hh:beginNum page="1" footnote="1" endnote="1" pic="1" tbl="1" equation="1"/>'
    return (
        f'{XML}<hh:head {SPACES} version="1.4" secCnt="1">{begin}<hh:refList>{inner}</hh:refList></hh:head>'
    )


def _styles() -> str:
    rows = [("바탕글", "Normal"), *((f"개요 {level}", f"Outline {level}") for level in range(1, LEVELS + 1))]
    styles = "".join(
        f'<hh:style id="{id}" type="PARA" name="{name}" engName="{english}" paraPrIDRef="{id}" charPrIDRef="0" '
        f'nextStyleIDRef="{id}" langID="1042" lockForm="0"/>'
        for id, (name, english) in enumerate(rows)
    )
    return f'<hh:styles itemCnt="{len(rows)}">{styles}</hh:styles>'


def _look(id: int, kind: str, held: int, level: int) -> str:
    left = 1000 * (level + 1) if kind in ("NUMBER", "BULLET") else 0
    margin = "".join(
        f'<hc:{side} value="{left if side == "left" else 0}" unit="HWPUNIT"/>'
        for side in ("intent", "left", "right", "prev", "next")
    )
    return (
        f'<hh:paraPr id="{id}" tabPrIDRef="0" condense="0" fontLineHeight="0" snapToGrid="1" '
        'suppressLineNumbers="0" checked="0"><hh:align horizontal="JUSTIFY" vertical="BASELINE"/>'
        f'<hh:heading type="{kind}" idRef="{held}" level="{level}"/>'
        '<hh:breakSetting breakLatinWord="KEEP_WORD" breakNonLatinWord="KEEP_WORD" widowOrphan="0" '
        'keepWithNext="0" keepLines="0" pageBreakBefore="0" lineWrap="BREAK"/>'
        '<hh:autoSpacing eAsianEng="0" eAsianNum="0"/>'
        f'<hh:margin>{margin}</hh:margin><hh:lineSpacing type="PERCENT" value="160" unit="HWPUNIT"/>'
        '<hh:border borderFillIDRef="2" offsetLeft="0" offsetRight="0" offsetTop="0" offsetBottom="0" '
        'connect="0" ignoreMargin="0"/></hh:paraPr>'
    )


def _numbering(id: int, is_shown: bool) -> str:
    forms = "".join(_form(level, f"^{level}." if is_shown else "") for level in range(1, 8))
    return f'<hh:numbering id="{id}" start="0">{forms}</hh:numbering>'


def _form(level: int, text: str) -> str:
    return (
        f'<hh:paraHead start="1" level="{level}" align="LEFT" useInstWidth="1" autoIndent="1" widthAdjust="0" '
        f'textOffsetType="PERCENT" textOffset="50" numFormat="DIGIT" charPrIDRef="4294967295" checkable="0">'
        f"{text}</hh:paraHead>"
    )


def _letters(id: int) -> str:
    def each(tag: str, value: int) -> str:
        return f"<hh:{tag} " + " ".join(f'{name.lower()}="{value}"' for name in LANGUAGES) + "/>"

    bold = "<hh:bold/>" if id == 1 else ""
    return (
        f'<hh:charPr id="{id}" height="1000" textColor="#000000" shadeColor="none" useFontSpace="0" '
        f'useKerning="0" symMark="NONE" borderFillIDRef="2">{each("fontRef", 0)}{each("ratio", 100)}'
        f"{each('spacing', 0)}{each('relSz', 100)}{each('offset', 0)}{bold}</hh:charPr>"
    )


def _borders() -> str:
    rows = "".join(
        f'<hh:borderFill id="{id}" threeD="0" shadow="0" centerLine="NONE" breakCellSeparateLine="0">'
        '<hh:slash type="NONE" Crooked="0" isCounter="0"/><hh:backSlash type="NONE" Crooked="0" isCounter="0"/>'
        + "".join(
            f'<hh:{side}Border type="{kind}" width="0.12 mm" color="#000000"/>'
            for side in ("left", "right", "top", "bottom")
        )
        + "</hh:borderFill>"
        for id, kind in ((1, "NONE"), (2, "NONE"), (3, "SOLID"))
    )
    return f'<hh:borderFills itemCnt="3">{rows}</hh:borderFills>'
