# ruff: noqa: E501
# ruff: noqa: B023, E731
# fmt: off
# the lines are HTML and CSS: cut up they read worse
"""Pages in designs drawn by lot: HTML whose look, kind and language come from a number alone.

Kinds: running text in one to four columns, newspapers, magazines, slides, forms with boxes to tick, invoices,
textbooks with formulas and boxes, exam papers, tables, vertical Japanese and Chinese, letters, cards.
"""

from __future__ import annotations

import base64
import html
import random
from collections.abc import Callable
from dataclasses import dataclass, field

SERIF = {
    "zh": "'Noto Serif CJK SC'", "ja": "'Noto Serif CJK JP'", "ko": "'Nanum Myeongjo','Noto Serif CJK KR'",
}  # fmt: skip
SANS = {"zh": "'Noto Sans CJK SC'", "ja": "'Noto Sans CJK JP'", "ko": "'Nanum Gothic','Noto Sans CJK KR'"}
LATIN = (
    "'EB Garamond'", "'Liberation Serif'", "'Liberation Sans'", "'DejaVu Serif'", "'Lato'", "'Roboto'", "'Open Sans'",
    "'Liberation Sans Narrow'", "'DejaVu Sans'", "'Noto Serif'",
)  # fmt: skip
LANGUAGES = (
    ["zh-CN"] * 14 + ["zh-TW"] * 3 + ["en-US"] * 12 + ["en-guide"] * 8 + ["ko"] * 10 + ["ja"] * 7
    + ["de", "fr", "es", "it", "ru", "el", "hi", "vi", "tr", "pl", "pt-BR", "ar", "ar", "fa", "bg", "bn", "hu", "ta"]
)  # fmt: skip
COLOURS = ("#1a3c6e", "#7a1f1f", "#1f6e3c", "#444", "#a85c00", "#5b2a86", "#00707a", "#c2185b", "#000", "#000", "#222")
TINTS = ("#eef3fa", "#faf1e6", "#f0f0f0", "#fdf6d8", "#e8f5ec", "#f6eaf7", "#fff", "#e3e8f0")
PAPERS = ("A4",) * 6 + ("letter",) * 3 + ("A5", "B5", "A3", "210mm 280mm", "170mm 240mm", "260mm 370mm")


@dataclass
class Dice:
    """What a document draws from: its own random numbers, texts of its language, pictures."""

    random: random.Random
    language: str
    paragraphs: list[str]
    headings: list[str]
    pictures: list[bytes]
    numbers: dict[str, int] = field(default_factory=dict)

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def text(self, least: int = 1, most: int = 3) -> str:
        cjk = self.language[:2] in ("zh", "ja")
        parts = [self.random.choice(self.paragraphs) for _ in range(self.random.randint(least, most))]
        return html.escape(("" if cjk else " ").join(parts))

    def short(self, most: int = 60) -> str:
        return html.escape(self.random.choice(self.paragraphs)[:most].rsplit(" ", 1)[0])

    def heading(self) -> str:
        return html.escape(self.random.choice(self.headings))

    def number(self) -> str:
        r = self.random
        return r.choice([f"{r.randint(0, 999)}", f"{r.uniform(0, 100):.2f}", f"{r.randint(1, 99)},{r.randint(0, 999):03}",
                         f"{r.uniform(-9, 99):.1f} %", f"{r.uniform(0, 1):.3f}", "–", f"$ {r.randint(1, 9999)}.00"])  # fmt: skip

    def count(self, name: str) -> int:
        self.numbers[name] = self.numbers.get(name, 0) + 1
        return self.numbers[name]


def picture(d: Dice, style: str) -> str:
    data = base64.b64encode(d.random.choice(d.pictures)).decode()
    return f'<img style="{style};object-fit:cover" src="data:image/jpeg;base64,{data}">'


def chart(d: Dice) -> str:
    r = d.random
    wide, high, kind = r.randint(260, 420), r.randint(150, 260), r.choice(("bars", "lines", "pie", "dots", "boxes"))
    inner = [f'<rect width="{wide}" height="{high}" fill="{d.of("#fff", "#fff", *TINTS)}"/>']
    colours = [f"hsl({r.randint(0, 360)},{r.randint(0, 70)}%,{r.randint(25, 65)}%)" for _ in range(5)]
    label = lambda x, y, t: f'<text x="{x}" y="{y}" font-size="9">{t}</text>'
    if kind == "pie":
        at = 0.0
        import math

        for c in colours:
            step = r.uniform(0.5, 1.6)
            x0, y0 = wide / 3 + 60 * math.cos(at), high / 2 + 60 * math.sin(at)
            x1, y1 = wide / 3 + 60 * math.cos(at + step), high / 2 + 60 * math.sin(at + step)
            inner.append(f'<path d="M{wide / 3},{high / 2} L{x0},{y0} A60,60 0 0 1 {x1},{y1} Z" fill="{c}" stroke="#fff"/>')
            inner.append(label(wide / 3 + 80, high / 2 - 50 + 22 * colours.index(c), d.short(14)))
            at += step
    elif kind == "boxes":
        for i in range(r.randint(3, 6)):
            x, y = 15 + (i % 3) * wide / 3, 20 + (i // 3) * high / 2
            inner.append(f'<rect x="{x}" y="{y}" width="{wide / 4}" height="34" fill="{d.of(*TINTS)}" stroke="{colours[0]}"/>')
            inner.append(label(x + 4, y + 20, d.short(10)))
            inner.append(f'<path d="M{x + wide / 4},{y + 17} h{wide / 12}" stroke="#333" fill="none"/>')
    else:
        for i in range(5):
            y = 15 + i * (high - 40) / 4
            inner.append(f'<path d="M35,{y} H{wide - 8}" stroke="#ccc"/>' + label(6, y + 3, 100 - i * 25))
        inner.append(f'<path d="M35,10 V{high - 24} H{wide - 8}" stroke="#222" fill="none"/>')
        count = r.randint(4, 12)
        for series in range(1 if kind == "bars" else r.randint(1, 3)):
            heights = [r.uniform(10, high - 50) for _ in range(count)]
            step = (wide - 55) / count
            if kind == "bars":
                inner += [f'<rect x="{40 + i * step}" y="{high - 24 - h}" width="{step * 0.6}" height="{h}" fill="{colours[0]}"/>'
                          for i, h in enumerate(heights)]  # fmt: skip
            elif kind == "lines":
                points = " ".join(f"{40 + i * step},{high - 24 - h}" for i, h in enumerate(heights))
                inner.append(f'<polyline points="{points}" fill="none" stroke="{colours[series]}" stroke-width="1.6"/>')
            else:
                inner += [f'<circle cx="{40 + r.uniform(0, 1) * (wide - 60)}" cy="{high - 24 - h}" r="2.5" fill="{colours[series]}"/>'
                          for h in heights * 4]  # fmt: skip
        inner += [label(40 + i * (wide - 55) / 4, high - 10, 2000 + i * 5) for i in range(4)]
    return f'<svg width="{d.of("100%", "80%", "60%")}" viewBox="0 0 {wide} {high}" style="max-width:420px">{"".join(inner)}</svg>'


def figure(d: Dice, high: int = 160) -> str:
    body = chart(d) if d.maybe(0.45) else picture(d, f"width:{d.of('100%', '100%', '70%')};height:{d.random.randint(high // 2, high * 2)}px")
    name = {"zh": "图", "ja": "図", "ko": "그림"}.get(d.language[:2], "Figure ")
    caption = f"<figcaption>{name}{d.count('figure')}{d.of('.', ':', ' ')} {d.short(110)}</figcaption>" if d.maybe(0.75) else ""
    return f"<figure>{caption}{body}</figure>" if d.maybe(0.1) else f"<figure>{body}{caption}</figure>"


def table(d: Dice, least: int = 3, most: int = 9) -> str:
    r = d.random
    columns, rows = r.randint(2, 7), r.randint(least, most)
    style = d.of("grid", "three", "rows", "none", "zebra", "head", "box")
    words = r.randint(8, 40)
    head = "".join(f"<th>{d.short(16)}</th>" for _ in range(columns))
    body = []
    for _ in range(rows):
        first = f"<td>{d.short(words)}</td>"
        body.append("<tr>" + first + "".join(f"<td>{d.short(words) if d.maybe(0.25) else d.number()}</td>" for _ in range(columns - 1)) + "</tr>")
    name = {"zh": "表", "ja": "表", "ko": "표 "}.get(d.language[:2], "Table ")
    caption = f'<div class="caption">{name}{d.count("table")}{d.of(".", ":", "")} {d.short(90)}</div>' if d.maybe(0.65) else ""
    note = f'<div class="tablenote">{d.of("* ", "Note: ", "注：", "a ")}{d.short(80)}</div>' if d.maybe(0.25) else ""
    whole = f'<table class="t-{style}"><tr>{head}</tr>{"".join(body)}</table>'
    return (whole + caption if d.maybe(0.2) else caption + whole) + note


TERMS: tuple[Callable[[random.Random], str], ...] = (
    lambda r: f"<mi>{r.choice('abcfgxyzknmtuvαβλμσφ')}</mi>",
    lambda r: f"<msup><mi>{r.choice('xyzabtn')}</mi><mn>{r.randint(2, 9)}</mn></msup>",
    lambda r: f"<msub><mi>{r.choice('xyzabtn')}</mi><mi>{r.choice('ijkn0')}</mi></msub>",
    lambda r: f"<mfrac><mrow>{term(r)}<mo>+</mo>{term(r)}</mrow><mrow>{term(r)}</mrow></mfrac>",
    lambda r: f"<msqrt><mrow>{term(r)}<mo>−</mo>{term(r)}</mrow></msqrt>",
    lambda r: f"<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>{term(r)}",
    lambda r: f"<msubsup><mo>∫</mo><mn>0</mn><mi>∞</mi></msubsup>{term(r)}<mi>d</mi><mi>x</mi>",
    lambda r: f"<mrow><mo>(</mo>{term(r)}<mo>,</mo>{term(r)}<mo>)</mo></mrow>",
    lambda r: f"<mn>{r.randint(2, 99)}</mn>",
)


def term(r: random.Random, depth: list[int] | None = None) -> str:
    return r.choice(TERMS[:3] + TERMS[8:] if r.random() < 0.6 else TERMS)(r)


def math(r: random.Random, least: int, most: int) -> str:
    parts = [term(r)]
    for _ in range(r.randint(least, most)):
        parts.append(f"<mo>{r.choice('+−=<≤→∈·')}</mo>{term(r)}")
    return "".join(parts)


def formula(d: Dice) -> str:
    rows = d.random.choice((1, 1, 1, 2, 3))
    lines = "".join(f"<div><math display='block'>{math(d.random, 2, 6)}</math></div>" for _ in range(rows))
    number = f"<span class='eqno'>({d.count('eq')})</span>" if d.maybe(0.5) else ""
    return f"<div class='eq'>{lines}{number}</div>"


def paragraph(d: Dice, least: int = 1, most: int = 3) -> str:
    text = d.text(least, most)
    if d.maybe(0.15):
        at = text.find(" ", len(text) // 2)
        text = text[:at] + f" <math>{math(d.random, 0, 2)}</math> " + text[at:] if at > 0 else text
    if d.maybe(0.1):
        text = f"<b>{d.heading()}</b> {text}"
    return f"<p>{text}</p>"


def listing(d: Dice) -> str:
    tag = d.of("ul", "ol")
    return f"<{tag}>" + "".join(f"<li>{d.text(1, 1)}</li>" for _ in range(d.random.randint(2, 6))) + f"</{tag}>"


def code(d: Dice) -> str:
    r = d.random
    names = ("load", "page", "read", "value", "items", "text", "open", "write", "size", "index")
    lines = []
    for _ in range(r.randint(3, 12)):
        a, b, c = (r.choice(names) for _ in range(3))
        pad = "    " * r.randint(0, 2)
        lines.append(pad + r.choice((f"{a} = {b}({c})", f"for {a} in {b}:", f"if {a} > {r.randint(0, 9)}:", f"return {a}.{b}", f"# {d.short(30)}", f"$ {a} --{b} {c}")))
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def sidebar(d: Dice) -> str:
    return f"<div class='box'><h4>{d.heading()}</h4>{paragraph(d, 1, 2)}{listing(d) if d.maybe(0.4) else ''}</div>"


def references(d: Dice) -> str:
    count = d.random.randint(5, 18)
    items = "".join(
        f"<div class='ref'>[{i + 1}] {d.short(30)}, {d.of('A.', 'B.', 'J. K.')} {d.short(70)}. {d.random.randint(1970, 2024)}, {d.number()}.</div>" for i in range(count)
    )
    title = {"zh": "参考文献", "ja": "参考文献", "ko": "참고 문헌"}.get(d.language[:2], "References")
    return f"<h2>{title}</h2>{items}"


def notes(d: Dice) -> str:
    return "<div class='notes'>" + "".join(f"<div><sup>{i + 1}</sup> {d.short(120)}</div>" for i in range(d.random.randint(1, 3))) + "</div>"


BLOCKS: dict[str, Callable[[Dice], str]] = {
    "p": paragraph, "list": listing, "table": table, "figure": figure, "eq": formula, "code": code, "box": sidebar,
    "h2": lambda d: f"<h2>{d.heading()}</h2>{paragraph(d)}", "h3": lambda d: f"<h3>{d.heading()}</h3>{paragraph(d)}",
    "notes": notes,
}  # fmt: skip


def blocks(d: Dice, count: int, weights: dict[str, float]) -> str:
    names = list(weights)
    return "".join(BLOCKS[d.random.choices(names, [weights[n] for n in names])[0]](d) for _ in range(count))


def front(d: Dice) -> str:
    parts = [f"<h1>{d.heading()}</h1>"]
    if d.maybe(0.6):
        parts.append(f"<div class='authors'>{d.short(40)}</div><div class='authors small'>{d.short(60)}</div>")
    if d.maybe(0.5):
        name = {"zh": "摘要", "ja": "概要", "ko": "초록"}.get(d.language[:2], "Abstract")
        parts.append(f"<div class='abstract'><b>{name}</b> {d.text(2, 4)}</div>")
    return "<header class='front'>" + "".join(parts) + "</header>"


def contents(d: Dice) -> str:
    rows = "".join(
        f"<div class='toc'><span>{i + 1} {d.heading()}</span><span class='dots'></span><span>{i * 7 + 3}</span></div>" for i in range(d.random.randint(10, 26))
    )
    return f"<h1>{ {'zh': '目录', 'ja': '目次', 'ko': '차례'}.get(d.language[:2], 'Contents') }</h1>{rows}<div class='break'></div>"


def article(d: Dice) -> str:
    weights = {"p": 5, "h2": 2, "h3": 1.2, "list": 0.8, "table": d.random.uniform(0, 1.2), "figure": d.random.uniform(0, 1.5),
               "eq": d.random.choice((0, 0, 1.5, 3)), "code": d.random.choice((0, 0, 0.8)), "box": d.random.choice((0, 0.5)), "notes": 0.3}  # fmt: skip
    start = contents(d) if d.maybe(0.06) else ""
    end = references(d) if d.maybe(0.35) else ""
    return f"{start}{front(d)}<div class='columns'>{blocks(d, d.random.randint(16, 34), weights)}{end}</div>"


def newspaper(d: Dice) -> str:
    pages = []
    for _ in range(2):
        items = []
        for i in range(d.random.randint(4, 9)):
            columns, span = d.random.randint(1, 4), d.random.randint(1, 3)
            pic = picture(d, f"width:100%;height:{d.random.randint(70, 200)}px") + (f"<div class='caption'>{d.short(60)}</div>" if d.maybe(0.7) else "") if d.maybe(0.4) else ""
            lead = f"<p class='lead'>{d.short(110)}</p>" if d.maybe(0.3) else ""
            body = "".join(paragraph(d, 1, 2) for _ in range(d.random.randint(2, 7)))
            by = f"<div class='by'>{d.short(22)}</div>" if d.maybe(0.4) else ""
            items.append(
                f"<section style='grid-column:span {span};border-bottom:{d.of('none', '1px solid #555')};padding-bottom:4px'>"
                f"<h2 style='font-size:{d.random.randint(13, 30)}px'>{d.heading()}</h2>{lead}{by}<div style='columns:{min(columns, span + 1)};column-gap:10px'>{pic if i % 2 else ''}{body}</div>{'' if i % 2 else pic}</section>"
            )
        mast = f"<div class='mast'><span>{d.short(20)}</span><b>{d.short(22)}</b><span>{d.number()}</span></div>" if d.maybe(0.6) else ""
        pages.append(f"{mast}<div class='news' style='grid-template-columns:repeat({d.random.randint(3, 6)},1fr)'>{''.join(items)}</div>")
    return "<div class='sheet'>" + "</div><div class='break'></div><div class='sheet'>".join(pages) + "</div>"


def magazine(d: Dice) -> str:
    pages = []
    for _ in range(3):
        columns = d.random.randint(2, 3)
        hero = picture(d, f"width:100%;height:{d.random.randint(150, 420)}px") if d.maybe(0.6) else ""
        quote = f"<blockquote>{d.short(100)}</blockquote>" if d.maybe(0.5) else ""
        body = blocks(d, d.random.randint(6, 10), {"p": 6, "h3": 1, "box": 0.6, "figure": 0.7})
        title = f"<h1>{d.heading()}</h1><p class='lead'>{d.short(140)}</p>"
        pages.append((hero + title if d.maybe(0.5) else title + hero) + f"<div style='columns:{columns}' class='drop'>{body[: len(body) // 2]}{quote}{body[len(body) // 2 :]}</div>")
    return "".join(f"<div class='sheet'>{page}</div><div class='break'></div>" for page in pages)


def slides(d: Dice) -> str:
    pages = []
    for i in range(d.random.randint(5, 8)):
        title = f"<h1>{d.heading()}</h1>"
        lists = lambda n: "<ul>" + "".join(f"<li>{d.short(d.random.randint(30, 90))}</li>" for _ in range(n)) + "</ul>"
        body = d.random.choice((
            lambda: lists(d.random.randint(2, 6)), lambda: f"<div class='two'><div>{lists(4)}</div><div>{figure(d, 140)}</div></div>", lambda: table(d, 2, 5),
            lambda: f"<div class='two'>{sidebar(d)}{sidebar(d)}</div>", lambda: f"<div class='three'>{sidebar(d)}{sidebar(d)}{sidebar(d)}</div>", lambda: figure(d, 180), lambda: formula(d) + lists(3),
            lambda: f"<p>{d.short(200)}</p>{lists(2)}",
        ))()  # fmt: skip
        if i == 0:
            body = f"<h2>{d.heading()}</h2><p>{d.short(40)}</p>"
        foot = f"<div class='slidefoot'><span>{d.short(30)}</span><span>{i + 1}</span></div>" if d.maybe(0.7) else ""
        pages.append(f"<div class='slide'>{title}{body}{foot}</div>")
    return "".join(pages)


def tick(d: Dice) -> str:
    return f"<a href='https://tick.example/{d.count('tick')}'>{d.of('☐', '☑', '☒', '□', '☐')}</a>"


def form(d: Dice) -> str:
    parts = [f"<h1>{d.heading()}</h1>", f"<p class='small'>{d.text(1, 1)}</p>"]
    for _ in range(d.random.randint(5, 10)):
        parts.append(f"<h3>{d.heading()}</h3>" if d.maybe(0.7) else "")
        kind = d.random.randint(0, 4)
        if kind == 0:
            parts.append("<div class='fields'>" + "".join(f"<div><small>{d.short(18)}</small><i></i></div>" for _ in range(d.random.randint(2, 6))) + "</div>")
        elif kind == 1:
            parts.append("<table class='t-grid'>" + "".join(f"<tr><td>{d.short(20)}</td><td style='width:50%'>{d.of('', d.short(14))}</td></tr>" for _ in range(d.random.randint(2, 6))) + "</table>")
        elif kind == 2:
            parts.append("".join(f"<div>{tick(d)} {d.short(70)}</div>" for _ in range(d.random.randint(2, 6))))
        elif kind == 3:
            parts.append("<div>" + " &nbsp; ".join(f"{tick(d)} {d.short(12)}" for _ in range(d.random.randint(2, 5))) + "</div>")
        else:
            parts.append(f"<div>{d.short(30)}: ____________________ &nbsp; {d.short(12)}: ____________</div>")
    return "".join(parts)


def invoice(d: Dice) -> str:
    rows = "".join(f"<tr><td>{i + 1}</td><td>{d.short(36)}</td><td>{d.random.randint(1, 20)}</td><td>{d.number()}</td><td>{d.number()}</td></tr>" for i in range(d.random.randint(3, 14)))
    logo = picture(d, "width:110px;height:50px") if d.maybe(0.5) else f"<b style='font-size:26px'>{d.short(10)}</b>"
    address = "".join(f"<div>{d.short(26)}</div>" for _ in range(4))
    return (
        f"<div class='two'><div>{logo}</div><div style='text-align:right'>{address}</div></div><div style='margin:20px 0'>{address}</div><h1>{d.of('Invoice', 'Rechnung', '发票', '請求書', '거래명세서')} {d.random.randint(1000, 99999)}</h1>"
        f"<p>{d.text(1, 1)}</p><table class='t-{d.of('grid', 'rows', 'zebra', 'head', 'none')}'><tr>{''.join(f'<th>{d.short(12)}</th>' for _ in range(5))}</tr>{rows}</table>"
        f"<div style='text-align:right;margin:12px 0'><div>{d.short(12)}: {d.number()}</div><div><b>{d.short(12)}: {d.number()}</b></div></div><p>{d.text(1, 2)}</p><div class='small' style='margin-top:40px;columns:3'>{address}{address}{address}</div>"
    )


def textbook(d: Dice) -> str:
    parts = [f"<h1>{d.heading()}</h1>"]
    for _ in range(d.random.randint(10, 18)):
        kind = d.random.randint(0, 9)
        if kind < 3:
            parts.append(paragraph(d))
        elif kind == 3:
            parts.append(f"<div class='aside'>{d.short(60)}</div>{paragraph(d, 2, 3)}")
        elif kind == 4:
            parts.append(sidebar(d))
        elif kind == 5:
            parts.append(formula(d))
        elif kind == 6:
            parts.append(figure(d))
        elif kind == 7:
            parts.append(f"<h2>{d.heading()}</h2>{paragraph(d)}{formula(d)}")
        elif kind == 8:
            parts.append(f"<div class='two'><div>{paragraph(d)}</div>{figure(d, 110)}</div>")
        else:
            parts.append("<ol>" + "".join(f"<li>{d.short(60)} <math>{math(d.random, 1, 3)}</math></li>" for _ in range(4)) + "</ol>")
    return "".join(parts)


def exam(d: Dice) -> str:
    parts = [f"<h1>{d.heading()}</h1><div class='small'>{d.short(40)} ________ {d.short(10)} ________</div>"]
    for i in range(d.random.randint(8, 16)):
        parts.append(f"<p><b>{i + 1}.</b> {d.text(1, 2)} {'<math>' + math(d.random, 1, 3) + '</math>' if d.maybe(0.4) else ''}</p>")
        if d.maybe(0.25):
            parts.append(figure(d, 90))
        options = [f"{letter} {d.short(22)}" for letter in d.random.choice((("(A)", "(B)", "(C)", "(D)"), ("①", "②", "③", "④"), ("a)", "b)", "c)", "d)")))]
        parts.append(f"<div class='{d.of('opts', 'optr')}'>" + "".join(f"<div>{o}</div>" for o in options) + "</div>" if d.maybe(0.7) else "<div style='height:50px'></div>")
    return f"<div class='columns'>{''.join(parts)}</div>"


def letter(d: Dice) -> str:
    lines = "".join(f"<div>{d.short(28)}</div>" for _ in range(4))
    return f"<div style='text-align:{d.of('right', 'left')}'>{lines}</div><div style='margin:30px 0'>{lines}</div><p><b>{d.heading()}</b></p>{''.join(paragraph(d) for _ in range(5))}<div style='margin-top:30px'>{d.short(20)}</div><div>{d.short(20)}</div>"


def cards(d: Dice) -> str:
    count = d.random.randint(8, 24)
    body = "".join(f"<div class='card'>{picture(d, 'width:100%;height:70px') if d.maybe(0.3) else ''}<h4>{d.heading()}</h4><p>{d.short(90)}</p></div>" for _ in range(count))
    return f"<h1>{d.heading()}</h1><div class='cards' style='grid-template-columns:repeat({d.random.randint(2, 4)},1fr)'>{body}</div>"


def sheets(d: Dice) -> str:
    return "".join(f"<h2>{d.heading()}</h2>{paragraph(d) if d.maybe(0.5) else ''}{table(d, 8, 24)}" for _ in range(4))


def vertical(d: Dice) -> str:
    return f"<div class='vertical'>{front(d) if d.maybe(0.4) else ''}{blocks(d, 14, {'p': 6, 'h2': 1.5, 'figure': 0.5})}</div>"


KINDS: tuple[tuple[Callable[[Dice], str], float], ...] = (
    (article, 30), (newspaper, 12), (magazine, 9), (slides, 12), (form, 6), (invoice, 4), (textbook, 12), (exam, 7), (letter, 2),
    (cards, 4), (sheets, 5), (vertical, 5),
)  # fmt: skip


def style(d: Dice, kind: str) -> str:
    r = d.random
    group = d.language[:2]
    family = r.choice((SERIF, SANS)).get(group, "") or ("'Noto Serif','Noto Sans'" if group in ("hi", "bn", "ta", "ar", "fa") else r.choice(LATIN))
    if group in SERIF and d.maybe(0.5):
        family = r.choice(LATIN) + "," + family
    head = family if d.maybe(0.5) else (SANS.get(group) or r.choice(LATIN))
    size = r.choice((8, 9, 9, 10, 10, 11, 12, 14)) if kind != "newspaper" else r.choice((7, 8, 9))
    paper = r.choice(PAPERS) if kind != "newspaper" else d.of("A4", "A3", "260mm 370mm", "A4")
    paper = d.of("254mm 143mm", "254mm 190mm", "A4 landscape") if kind == "slides" else paper
    if kind not in ("slides",) and d.maybe(0.05) and paper in ("A4", "letter", "A3"):
        paper += " landscape"
    margins = "0" if kind == "slides" else f"{r.randint(10, 28)}mm {r.randint(10, 26)}mm {r.randint(12, 26)}mm {r.randint(10, 26)}mm"
    colour, tint = r.choice(COLOURS), r.choice(TINTS)
    columns = r.choice((1, 1, 1, 2, 2, 2, 3)) if kind != "exam" else r.choice((1, 2))
    boxes = []
    if kind != "slides":
        where = [("@top-left", d.short(34)), ("@top-right", d.heading()), ("@top-center", d.heading())]
        r.shuffle(where)
        boxes += [f"{at}{{content:'{t[:50].replace(chr(39), '')}';font-size:{size - 1.5}pt;{'border-bottom:1px solid #555' if d.maybe(0.3) else ''}}}" for at, t in where[: r.choice((0, 1, 1, 2))]]
        number = d.of("counter(page)", "counter(page)", "'- ' counter(page) ' -'", f"'{r.randint(1, 300)}'")
        boxes.append(f"{d.of('@bottom-center', '@bottom-right', '@bottom-left', '@bottom-center', '@top-right')}{{content:{number};font-size:{size - 1}pt}}" if d.maybe(0.8) else "")
        if d.maybe(0.2):
            boxes.append(f"@bottom-left{{content:'{d.short(44).replace(chr(39), '')}';font-size:{size - 2}pt}}")
        if d.maybe(0.12):
            boxes.append(f"{d.of('@left-middle', '@right-middle')}{{content:'{d.heading().replace(chr(39), '')}';writing-mode:vertical-rl;font-size:{size - 1}pt}}")
    align = d.of("justify", "justify", "left")
    indent = d.of("0", "0", "1.5em", "2em")
    return f"""@page{{size:{paper};margin:{margins};{''.join(boxes)}}}
html{{font-family:{family},serif;font-size:{size}pt;line-height:{r.uniform(1.1, 1.75):.2f}}} body{{margin:0;{f'background:{tint}' if d.maybe(0.1) else ''}}}
p{{margin:{d.of('0', '.5em 0', '.8em 0')};text-align:{align};text-indent:{indent}}} h1{{font-size:{r.uniform(1.5, 2.8):.1f}em;line-height:1.15}} h2{{font-size:{r.uniform(1.1, 1.6):.2f}em}} h3{{font-size:{r.uniform(1, 1.2):.2f}em}}
h1,h2,h3,h4{{font-family:{head},sans-serif;color:{colour};font-weight:{d.of('700', '700', '400')};margin:.7em 0 .35em;break-after:avoid;text-align:{d.of('left', 'left', 'center')};{f'background:{tint};padding:2px 6px' if d.maybe(0.12) else ''}}}
h2{{{f'border-bottom:1px solid {colour}' if d.maybe(0.15) else ''}}} .columns{{columns:{columns};column-gap:{r.randint(5, 11)}mm;{'column-rule:1px solid #999' if d.maybe(0.15) else ''}}}
.authors{{text-align:center;margin:.3em}} .front{{{'text-align:center' if d.maybe(0.5) else ''}}} .abstract{{margin:1em {r.randint(0, 14)}mm;font-size:.92em;text-align:justify}} .small,small{{font-size:.82em}}
figure{{margin:.8em {d.of('0', '0', '2em')};text-align:center;break-inside:avoid}} figcaption,.caption{{font-size:.88em;text-align:{d.of('center', 'left')};margin:.3em 0;{'font-style:italic' if d.maybe(0.2) else ''}}} .tablenote{{font-size:.8em;text-align:left}}
table{{border-collapse:collapse;width:{d.of('100%', '100%', 'auto')};margin:.5em auto;font-size:{r.uniform(0.78, 1):.2f}em;line-height:1.25}} td,th{{padding:{r.randint(1, 6)}px {r.randint(3, 9)}px;text-align:{d.of('left', 'center', 'right')}}} td:first-child{{text-align:left}}
.t-grid td,.t-grid th{{border:1px solid #444}} .t-three{{border-top:2px solid;border-bottom:2px solid}} .t-three tr:first-child th{{border-bottom:1px solid}} .t-rows td,.t-rows th{{border-bottom:1px solid #999}} .t-zebra tr:nth-child(even){{background:{tint}}} .t-head th{{background:{colour};color:#fff}} .t-box{{border:1px solid #333}} .t-box th{{border-bottom:1px solid}}
pre{{font-family:'DejaVu Sans Mono',monospace;font-size:.78em;line-height:1.3;white-space:pre-wrap;{d.of('background:#f3f3f3;padding:6px', 'border:1px solid #aaa;padding:6px', '', 'margin-left:2em')}}}
.box{{border:{d.of('1px solid ' + colour, 'none', '2px solid #888')};background:{tint};padding:6px 10px;margin:.8em 0;break-inside:avoid;{'border-radius:8px' if d.maybe(0.3) else ''}}} .eq{{margin:.7em 0;position:relative;text-align:center;break-inside:avoid}} .eqno{{position:absolute;right:0;top:30%}}
.notes{{border-top:1px solid #777;font-size:.8em;margin-top:1em;padding-top:3px}} .ref{{font-size:.88em;padding-left:1.6em;text-indent:-1.6em;margin:2px 0}} .toc{{display:flex}} .dots{{flex:1;border-bottom:1px dotted #666;margin:0 5px 4px}} .break{{break-after:page}}
.news{{display:grid;gap:{r.randint(6, 14)}px;{'direction:rtl' if group in ('ar', 'fa') else ''}}} .mast{{display:flex;justify-content:space-between;border-bottom:3px double;font-size:1.2em}} .lead{{font-size:1.2em;font-weight:600}} .by{{font-size:.85em;font-style:italic}} .sheet{{overflow:hidden;max-height:{r.choice((900, 1000, 1250, 1400))}px}}
blockquote{{font-size:1.5em;color:{colour};border-left:4px solid {colour};margin:.6em;padding-left:.6em}} {'.drop>p:first-child::first-letter{float:left;font-size:3.1em;line-height:.9}' if d.maybe(0.6) else ''} .aside{{float:{d.of('right', 'left')};width:26%;font-size:.78em;margin:0 8px;color:{colour}}}
.slide{{height:{142 if '143' in paper else 189}mm;box-sizing:border-box;padding:9mm 12mm;break-after:page;position:relative;overflow:hidden;background:{d.of('#fff', '#fff', tint, colour if colour != '#000' else '#fff')};{'color:#fff' if False else ''}font-size:1.25em}} .slide h1{{margin-top:0}} .slidefoot{{position:absolute;bottom:4mm;left:12mm;right:12mm;display:flex;justify-content:space-between;font-size:.6em}}
.two{{display:grid;grid-template-columns:1fr 1fr;gap:14px}} .three{{display:grid;grid-template-columns:1fr 1fr 1fr;gap:10px}} .fields{{display:grid;grid-template-columns:1fr 1fr;gap:6px}} .fields i{{display:block;border-bottom:1px solid #333;height:1.5em}} .fields div{{{'border:1px solid #666;padding:2px' if d.maybe(0.5) else ''}}}
.opts{{display:grid;grid-template-columns:1fr 1fr;margin-left:1.5em}} .optr>div{{margin-left:1.5em}} .cards{{display:grid;gap:8px}} .card{{{d.of('border:1px solid #999;padding:5px', 'background:' + tint + ';padding:5px', '')}}} a{{color:inherit;text-decoration:none}} .vertical{{writing-mode:vertical-rl;height:{r.randint(170, 240)}mm;{'columns:2' if d.maybe(0.5) else ''}}}"""


def document(seed: int, texts: dict[str, tuple[list[str], list[str]]], pictures: list[bytes]) -> str:
    """Returns the HTML of document number `seed`."""
    r = random.Random(seed)
    make = r.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0]
    language = r.choice(LANGUAGES) if make is not vertical else r.choice(("ja", "ja", "zh-TW", "zh-CN"))
    # a document uses few of the texts, so that few letters of a large typeface travel with it
    paragraphs, headings = texts[language]
    few = r.randrange(max(1, len(paragraphs) - 60))
    d = Dice(r, language, paragraphs[few : few + 60], r.sample(headings, min(30, len(headings))), r.sample(pictures, 4))
    body = make(d)
    direction = "rtl" if language in ("ar", "fa") else "ltr"
    return f"<!doctype html><html lang='{language[:2]}' dir='{direction}'><meta charset='utf-8'><style>{style(d, make.__name__)}</style><body>{body}</body></html>"
