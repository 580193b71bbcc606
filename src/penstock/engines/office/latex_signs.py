"""Letters and signs of formulas as LaTeX."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

SIGNS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ϵ": "epsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "ϑ": "vartheta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu",
    "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "ς": "varsigma", "τ": "tau", "υ": "upsilon", "φ":
    "varphi",
    "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda",
    "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
    "±": "pm", "∓": "mp", "×": "times", "÷": "div", "·": "cdot", "⋅": "cdot", "∗": "ast", "∘": "circ",
    "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "≡": "equiv", "∼": "sim", "≅": "cong", "∝": "propto",
    "≪": "ll", "≫": "gg", "∈": "in", "∉": "notin", "∋": "ni", "⊂": "subset", "⊆": "subseteq", "⊃": "supset",
    "⊇": "supseteq", "∪": "cup", "∩": "cap", "∅": "emptyset", "∀": "forall", "∃": "exists", "¬": "neg",
    "∧": "wedge", "∨": "vee", "→": "to", "←": "leftarrow", "↔": "leftrightarrow", "⇒": "Rightarrow",
    "⇐": "Leftarrow", "⇔": "Leftrightarrow", "↦": "mapsto", "∂": "partial", "∇": "nabla", "∞": "infty",
    "∫": "int", "∑": "sum", "∏": "prod", "√": "sqrt", "…": "ldots", "⋯": "cdots", "⋮": "vdots", "⋱": "ddots",
    "∠": "angle", "⊥": "perp", "∥": "parallel", "△": "triangle", "ℏ": "hbar", "ℓ": "ell", "ℜ": "Re", "ℑ":
    "Im",
    "⊕": "oplus", "⊗": "otimes", "†": "dagger", "∎": "blacksquare", "ℵ": "aleph", "∴": "therefore",
    "∵": "because", "⟨": "langle", "⟩": "rangle",
}  # fmt: skip
FUNCTIONS = frozenset({
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "coth", "log", "ln", "lg", "exp", "lim", "limsup", "liminf", "max", "min", "sup", "inf", "det",
    "dim", "ker", "deg", "gcd", "arg", "hom", "Pr",
})  # fmt: skip
ESCAPED = {"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "_": r"\_"}
ALPHABETS = {
    "DOUBLE-STRUCK": "mathbb",
    "SCRIPT": "mathcal",
    "FRAKTUR": "mathfrak",
    "BLACK-LETTER": "mathfrak",
}


def letters_of(text: str) -> str:
    """Returns letters and signs as LaTeX; a command is set apart from a letter that follows it."""
    parts: list[str] = []
    for char in text:
        part = _sign(char)
        if parts and part[:1].isalpha() and parts[-1].startswith("\\") and parts[-1][-1].isalpha():
            parts.append(" ")
        parts.append(part)
    return "".join(parts)


def glued(parts: Iterable[str]) -> str:
    """Puts parts together: a command and the letter after it need a space."""
    text = ""
    for part in parts:
        slash = text.rfind("\\")
        gap = " " if slash >= 0 and text[slash + 1 :].isalpha() and part[:1].isalpha() else ""
        text += gap + part
    return text


def as_base(text: str) -> str:
    """Returns what bears a script: one letter or command as it is, all else as a group."""
    return text if len(text) == 1 or (text.startswith("\\") and text[1:].isalpha()) else f"{{{text}}}"


def _sign(char: str) -> str:
    if char in ESCAPED:
        return ESCAPED[char]
    if char in SIGNS:
        return "\\" + SIGNS[char]
    if char == "\u2212":
        return "-"
    if char == "\u2061" or char == "\u2062":  # invisible: the application of a function, a product
        return ""
    if ord(char) < 0x2100:
        return char
    return _mathematical(char)


def _mathematical(char: str) -> str:
    """Returns a letter of Unicode's mathematical alphabets as the plain one; some have a command."""
    plain = unicodedata.normalize("NFKC", char)
    if plain == char or len(plain) != 1:
        return char
    name = unicodedata.name(char, "")
    command = next((word for alphabet, word in ALPHABETS.items() if alphabet in name), "")
    bold = " BOLD " in f" {name} " and plain.isascii()
    letter = "\\" + SIGNS[plain] if plain in SIGNS else plain
    if command:
        return rf"\{command}{{{letter}}}"
    return rf"\mathbf{{{letter}}}" if bold and "ITALIC" not in name else letter


def named_function(words: str) -> str:
    r"""Returns a function's name as LaTeX has it: "sin" is \sin, and "rank" is \operatorname{rank}."""
    if words in FUNCTIONS:
        return "\\" + words
    for start in sorted(FUNCTIONS, key=len, reverse=True):
        if words.startswith(start) and words[len(start) : len(start) + 1] in ("_", "^"):
            return "\\" + words
    return rf"\operatorname{{{words}}}" if words.isalpha() and len(words) > 1 else words
