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
    "\u0301": r"\acute",
    "\u0302": r"\hat",
    "\u0303": r"\tilde",
    "\u0304": r"\bar",
    "\u0305": r"\bar",
    "\u0306": r"\breve",
    "\u0307": r"\dot",
    "\u0308": r"\ddot",
    "\u030c": r"\check",
    "\u20d7": r"\vec",
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
# words in the names of Unicode's mathematical alphabets; an italic letter is LaTeX's own
ALPHABETS = {
    "SCRIPT": r"\mathcal",
    "FRAKTUR": r"\mathfrak",
    "BLACK-LETTER": r"\mathfrak",
    "DOUBLE-STRUCK": r"\mathbb",
    "BOLD": r"\mathbf",
    "SANS-SERIF": r"\mathsf",
    "MONOSPACE": r"\mathtt",
}
LETTERLIKE = {sign: unicodedata.name(sign) for sign in "ℬℰℱℋℐℒℳℛℭℌℨℙ"} | {"ℎ": "MATHEMATICAL ITALIC SMALL H"}
SYMBOL_FORMS = {
    "EPSILON SYMBOL": r"\epsilon",
    "THETA SYMBOL": r"\vartheta",
    "PHI SYMBOL": r"\phi",
    "RHO SYMBOL": r"\varrho",
    "PI SYMBOL": r"\varpi",
}
LIGATURE = re.compile("[\ufb00-\ufb04]")
VARIATION = re.compile("[\ufe00-\ufe0f]")  # which of two forms of a letter is meant
TOKEN = re.compile(r"[A-Za-z]+|\d+(?:[.,]\d+)*|.", re.DOTALL)
HANGUL_HAN_KANA = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]+")


class UnknownSign(ValueError):
    """A sign whose meaning the font does not tell. Guessing would be worse than a picture."""


def in_plain_signs(text: str, font: str) -> str:
    """The text with the codes of TeX's own encodings, and ligatures, made the signs that they mean."""
    if TALL_FONT.search(font):
        return "".join(TALL_CODES.get(code, "\ufffd") for code in text)
    if SYMBOL_FONT.search(font):
        text = "".join(SYMBOL_CODES.get(code, code) for code in text)
    return VARIATION.sub("", LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text))


def as_latex(text: str, font: str, *, italic: bool, bold: bool) -> str:
    """Signs of one font on one baseline. Raises UnknownSign."""
    style = next((name for pattern, name in STYLED_FONTS if pattern.search(font)), "")
    found: list[str] = []
    for token in _tokens(text):
        if unicodedata.combining(token[0]) and token in ACCENTS and found:
            found[-1] = f"{ACCENTS[token]}{{{found[-1]}}}"
        else:
            found.append(_token(token, style, italic, bold))
    return " ".join(found)


def _tokens(text: str) -> list[str]:
    parts = HANGUL_HAN_KANA.split(text), HANGUL_HAN_KANA.findall(text)
    found: list[str] = []
    for number, plain in enumerate(parts[0]):
        found += TOKEN.findall(plain)
        found += parts[1][number : number + 1]
    return [token for token in found if not token.isspace()]


def _token(token: str, style: str, italic: bool, bold: bool) -> str:
    if token in LETTERLIKE or 0x1D400 <= ord(token[0]) <= 0x1D7FF:
        return _of_an_alphabet(token)
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


def _of_an_alphabet(sign: str) -> str:
    """A letter of one of Unicode's mathematical alphabets, which say their style themselves."""
    name: str = LETTERLIKE[sign] if sign in LETTERLIKE else unicodedata.name(sign, "")
    for ending, latex in SYMBOL_FORMS.items():
        if name.endswith(ending):
            return latex
    plain = unicodedata.normalize("NFKC", sign)
    style = next((command for word, command in ALPHABETS.items() if word in name), "")
    if plain in GREEK:
        return rf"\boldsymbol{{{GREEK[plain]}}}" if style == r"\mathbf" else GREEK[plain]
    plain = SYMBOLS.get(plain, plain)
    if not plain.isascii():
        raise UnknownSign(sign)
    return f"{style}{{{plain}}}" if style else plain


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
