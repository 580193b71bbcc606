"""What the signs of a formula are called in LaTeX."""

from __future__ import annotations

import re
import unicodedata


def _named(pairs: str) -> dict[str, str]:
    """Returns the command of each sign, from signs and names in turn: "≤ leq ≥ geq"."""
    words = pairs.split()
    return {sign: f"\\{name}" for sign, name in zip(words[::2], words[1::2], strict=True)}


_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau "
    "upsilon varphi chi psi omega"
)
GREEK = {chr(0x3B1 + at): "\\" + name for at, name in enumerate(_GREEK_NAMES.split())} | {"ο": "o"}
GREEK |= _named(
    "Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ϵ epsilon ϑ vartheta "
    "ϕ phi ϱ varrho ϖ varpi ς varsigma ∆ Delta µ mu"
)
OPERATORS = {"∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "⋃": r"\bigcup", "⋂": r"\bigcap"}
OPERATORS |= {"⋁": r"\bigvee", "⋀": r"\bigwedge", "⨁": r"\bigoplus", "⨂": r"\bigotimes"}
INTEGRALS = {"∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint"}
OPENING = {"(": "(", "[": "[", "{": r"\{", "⟨": r"\langle", "〈": r"\langle", "⌊": r"\lfloor", "⌈": r"\lceil"}
CLOSING = {")": ")", "]": "]", "}": r"\}", "⟩": r"\rangle", "〉": r"\rangle", "⌋": r"\rfloor", "⌉": r"\rceil"}
RADICAL = "√"
ACCENTS = _named("ˆ hat ¯ bar ˉ bar ˜ tilde ˙ dot ¨ ddot ˇ check ˘ breve ´ acute")
ACCENTS |= _named(
    "\u0301 acute \u0302 hat \u0303 tilde \u0304 bar \u0305 bar \u0306 breve \u0307 dot \u0308 ddot "
    "\u030c check \u20d7 vec"
)
SYMBOLS = {"−": "-", "–": "-", "∗": "*", "∣": "|", "∶": ":", "°": r"^{\circ}", "\u2019": "'"}
SYMBOLS |= _named(  # operations and sets
    "± pm ∓ mp × times ÷ div · cdot ⋅ cdot ∘ circ ◦ circ • bullet ⊕ oplus ⊗ otimes ⊙ odot ∧ wedge ∨ vee "
    "∩ cap ∪ cup ¬ neg ^ wedge ∖ setminus ⋆ star † dagger ‡ ddagger ∀ forall ∃ exists ∂ partial ∇ nabla"
)
SYMBOLS |= _named(  # relations and arrows
    "≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ≃ simeq ≅ cong ∼ sim ~ sim ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ "
    "⪯ preceq ⪰ succeq ⊂ subset ⊆ subseteq ⊃ supset ⊇ supseteq ∈ in ∉ notin ∋ ni ⊥ perp ⊤ top ∥ | ‖ | "
    "→ rightarrow ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto"
)
SYMBOLS |= _named(  # letters and other signs
    "∞ infty ∅ emptyset ℓ ell ℏ hbar ℜ Re ℑ Im ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℂ mathbb{C} ℚ mathbb{Q} "
    r"△ triangle ∠ angle ′ prime ″ prime\prime … ldots ⋯ cdots ⋮ vdots ⋱ ddots "
    r"\ backslash # # $ $ % % & & _ _"
)
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
