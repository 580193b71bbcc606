"""What the signs of a formula are called in LaTeX."""

from __future__ import annotations

import re
import unicodedata

_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau "
    "upsilon varphi chi psi omega"
)
GREEK = {chr(0x3B1 + at): "\\" + name for at, name in enumerate(_GREEK_NAMES.split())}
GREEK |= {
    "Γ": r"\Gamma",
    "Δ": r"\Delta",
    "Θ": r"\Theta",
    "Λ": r"\Lambda",
    "Ξ": r"\Xi",
    "Π": r"\Pi",
    "Σ": r"\Sigma",
    "Υ": r"\Upsilon",
    "Φ": r"\Phi",
    "Ψ": r"\Psi",
    "Ω": r"\Omega",
    "ϵ": r"\epsilon",
    "ϑ": r"\vartheta",
    "ϕ": r"\phi",
    "ϱ": r"\varrho",
    "ϖ": r"\varpi",
    "ς": r"\varsigma",
    "ο": "o",
    "∆": r"\Delta",
    "µ": r"\mu",
}
OPERATORS = {"∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "⋃": r"\bigcup", "⋂": r"\bigcap"}
OPERATORS |= {"⋁": r"\bigvee", "⋀": r"\bigwedge", "⨁": r"\bigoplus", "⨂": r"\bigotimes"}
INTEGRALS = {"∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint"}
OPENING = {"(": "(", "[": "[", "{": r"\{", "⟨": r"\langle", "〈": r"\langle", "⌊": r"\lfloor", "⌈": r"\lceil"}
CLOSING = {")": ")", "]": "]", "}": r"\}", "⟩": r"\rangle", "〉": r"\rangle", "⌋": r"\rfloor", "⌉": r"\rceil"}
RADICAL = "√"
ACCENTS = {
    "ˆ": r"\hat",
    "¯": r"\bar",
    "ˉ": r"\bar",
    "˜": r"\tilde",
    "˙": r"\dot",
    "¨": r"\ddot",
    "ˇ": r"\check",
    "˘": r"\breve",
    "´": r"\acute",
    "⃗": r"\vec",
}
SYMBOLS = {
    "−": "-",
    "–": "-",
    "±": r"\pm",
    "∓": r"\mp",
    "×": r"\times",
    "÷": r"\div",
    "·": r"\cdot",
    "⋅": r"\cdot",
    "∗": "*",
    "∘": r"\circ",
    "◦": r"\circ",
    "•": r"\bullet",
    "⊕": r"\oplus",
    "⊗": r"\otimes",
    "⊙": r"\odot",
    "∧": r"\wedge",
    "∨": r"\vee",
    "∩": r"\cap",
    "∪": r"\cup",
    "¬": r"\neg",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "≡": r"\equiv",
    "≃": r"\simeq",
    "≅": r"\cong",
    "∼": r"\sim",
    "∝": r"\propto",
    "≪": r"\ll",
    "≫": r"\gg",
    "⊂": r"\subset",
    "⊆": r"\subseteq",
    "⊃": r"\supset",
    "⊇": r"\supseteq",
    "∈": r"\in",
    "∉": r"\notin",
    "∋": r"\ni",
    "⊥": r"\perp",
    "⊤": r"\top",
    "≺": r"\prec",
    "≻": r"\succ",
    "⪯": r"\preceq",
    "⪰": r"\succeq",
    "△": r"\triangle",
    "∠": r"\angle",
    "⋆": r"\star",
    "∥": r"\|",
    "‖": r"\|",
    "→": r"\rightarrow",
    "←": r"\leftarrow",
    "↔": r"\leftrightarrow",
    "⇒": r"\Rightarrow",
    "⇐": r"\Leftarrow",
    "⇔": r"\Leftrightarrow",
    "↦": r"\mapsto",
    "∀": r"\forall",
    "∃": r"\exists",
    "∂": r"\partial",
    "∇": r"\nabla",
    "∞": r"\infty",
    "∅": r"\emptyset",
    "ℓ": r"\ell",
    "ℏ": r"\hbar",
    "ℜ": r"\Re",
    "ℑ": r"\Im",
    "ℝ": r"\mathbb{R}",
    "ℕ": r"\mathbb{N}",
    "ℤ": r"\mathbb{Z}",
    "ℂ": r"\mathbb{C}",
    "ℚ": r"\mathbb{Q}",
    "′": r"\prime",
    "″": r"\prime\prime",
    "…": r"\ldots",
    "⋯": r"\cdots",
    "⋮": r"\vdots",
    "⋱": r"\ddots",
    "†": r"\dagger",
    "‡": r"\ddagger",
    "∣": "|",
    "∶": ":",
    "°": r"^{\circ}",
    "∖": r"\setminus",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "~": r"\sim",
    "^": r"\wedge",
    "\\": r"\backslash",
    "\u2019": "'",
}
SYMBOLS |= GREEK | OPERATORS | INTEGRALS | OPENING | CLOSING | {RADICAL: r"\surd"}
_FUNCTION_NAMES = (
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp min max sup inf lim "
    "limsup liminf arg det dim ker deg gcd hom Pr"
)
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
WITH_LIMITS = frozenset(("min", "max", "sup", "inf", "lim", "limsup", "liminf", "argmin", "argmax"))
# TeX's font of tall signs calls none of them by a name that readers know: its own codes (OMX encoding)
TALL_FONT = re.compile("^CMEX|^LMMathExtension|^MTEX", re.IGNORECASE)
TALL_CODES = {
    **dict.fromkeys("\x00\x10\x12 ", "("),
    **dict.fromkeys("\x01\x11\x13!", ")"),
    **dict.fromkeys('\x02\x14"h', "["),
    **dict.fromkeys("\x03\x15#i", "]"),
    **dict.fromkeys("\x08\x1a(n", "{"),
    **dict.fromkeys("\t\x1b)o", "}"),
    **dict.fromkeys("\n\x1c*D", "⟨"),
    **dict.fromkeys("\x0b\x1d+E", "⟩"),
    **dict.fromkeys("PX", "∑"),
    **dict.fromkeys("QY", "∏"),
    **dict.fromkeys("RZ", "∫"),
    **dict.fromkeys("HI", "∮"),
    **dict.fromkeys("S[", "⋃"),
    **dict.fromkeys("T\\", "⋂"),
    **dict.fromkeys("pqrst", RADICAL),
}
# TeX's font of symbols has capitals for script letters; its other codes that readers take for letters (OMS)
SYMBOL_FONT = re.compile("^CMSY|^LMMathSymbols", re.IGNORECASE)
SYMBOL_CODES = dict(zip(">?khibcdefgjpr0123789", "⊤⊥‖⟨⟩⌊⌋⌈⌉{}|√∇′∞∈∋↦∀∃", strict=True))
STYLED_FONTS = (
    (re.compile("^MSBM|^BBold|DoubleStruck", re.IGNORECASE), r"\mathbb"),
    (re.compile("^CMSY|^LMMathSymbols|^RSFS|^EUSM|Script", re.IGNORECASE), r"\mathcal"),
    (re.compile("^EUFM|Fraktur", re.IGNORECASE), r"\mathfrak"),
)
TOKEN = re.compile(r"[A-Za-z]+|\d+(?:[.,]\d+)*|.", re.DOTALL)
HANGUL_HAN_KANA = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]+")


class UnknownSign(ValueError):
    """A sign whose meaning the font does not tell. Guessing would be worse than a picture."""


def in_plain_letters(text: str, font: str) -> str:
    """The text with the codes of TeX's tall signs and the letters of mathematical alphabets made plain."""
    if TALL_FONT.search(font):
        return "".join(TALL_CODES.get(code, "\ufffd") for code in text)
    if SYMBOL_FONT.search(font):
        text = "".join(SYMBOL_CODES.get(code, code) for code in text)
    return "".join(
        unicodedata.normalize("NFKC", one) if 0x1D400 <= ord(one) <= 0x1D7FF or one in "ﬀﬁﬂﬃﬄ" else one
        for one in text
    )


def as_latex(text: str, font: str, *, italic: bool, bold: bool) -> str:
    """Signs of one font on one baseline. Raises UnknownSign."""
    style = next((name for pattern, name in STYLED_FONTS if pattern.search(font)), "")
    return " ".join(_token(token, style, italic, bold) for token in _tokens(text))


def _tokens(text: str) -> list[str]:
    parts = HANGUL_HAN_KANA.split(text), HANGUL_HAN_KANA.findall(text)
    found: list[str] = []
    for number, plain in enumerate(parts[0]):
        found += TOKEN.findall(plain)
        found += parts[1][number : number + 1]
    return [token for token in found if not token.isspace()]


def _token(token: str, style: str, italic: bool, bold: bool) -> str:
    if HANGUL_HAN_KANA.match(token):
        return rf"\text{{{token}}}"
    if token.isascii() and token.isalpha():
        return _letters(token, style, italic, bold)
    if token in ACCENTS:
        return ACCENTS[token]
    if token in SYMBOLS:
        name = SYMBOLS[token]
        return rf"\boldsymbol{{{name}}}" if bold and token in GREEK else name
    if token.isascii() and token.isprintable():
        return rf"\mathbf{{{token}}}" if bold and token[0].isdigit() else token
    if token.isalpha() and token.isprintable():
        return rf"\text{{{token}}}"
    raise UnknownSign(token)


def _letters(token: str, style: str, italic: bool, bold: bool) -> str:
    if style:
        return f"{style}{{{token}}}"
    if bold:
        return rf"\mathbf{{{token}}}"
    if not italic and token in FUNCTIONS:
        return "\\" + token
    if not italic and len(token) > 1:
        return rf"\mathrm{{{token}}}"
    return " ".join(token)
