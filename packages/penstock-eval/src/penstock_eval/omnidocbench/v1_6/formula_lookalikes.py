"""Decides which text looks like a formula, a caption beside one, or only a label.

Rules and limits are the official program's; they decide which pieces of text may stand for a formula.
"""

from __future__ import annotations

import re

from penstock_eval.omnidocbench.v1_6.latex import latex_to_text

_OPERATOR = re.compile(
    r"\\frac|\\sqrt|\\sum|\\int|\\prod|\\times|\\div|\\square|\\cdots|\\left|\\right|\\approx|"
    r"\\xrightarrow|\\rightarrow|\\longrightarrow|=|<|>|≤|≥|≈|÷|×|±|∑|∫|√|→|\^|_|□|△|…|%|/|\+|-"
)
_CJK = re.compile(r"[\u4e00-\u9fff]")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")
_INLINE = re.compile(r"\$(.*?)\$|\\\((.*?)\\\)")
_DISPLAY = re.compile(r"\$\$(.*?)\$\$|\\\[(.*?)\\\]", re.DOTALL)
_WRAPPERS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (r"\$\$(.*?)\$\$", r"\\\[(.*?)\\\]", r"\\\((.*?)\\\)", r"\$(.*?)\$")
)
_MATH_SIGN = re.compile(r"\\[A-Za-z]+|[=<>≤≥÷×±∑∫√\^_□△…%/()+\-]")
_FRACTION = re.compile(r"\d+\s*/\s*\d+")
_ARROWS = ("\\xrightarrow", "\\longrightarrow")
_STRONG = (
    "=", "<", ">", "≤", "≥", "≈", "≠", "^", "+", "-", "/", "\\cdot", "\\frac", "\\sqrt", "\\sum", "\\int",
    "\\times", "\\div", "\\approx", "\\neq", "\\leq", "\\geq", *_ARROWS,
)  # fmt: skip
_SPELLED = (
    ("……", " \\cdots \\cdots "), ("…", " \\cdots "), ("×", " \\times "), ("÷", " \\div "), ("≤", " \\leq "),
    ("≥", " \\geq "), ("≠", " \\neq "), ("≈", " \\approx "), ("□", " \\square "), ("△", " \\triangle "),
    ("（", "("), ("）", ")"), ("［", "["), ("］", "]"), ("｛", "{"), ("｝", "}"),
)  # fmt: skip
_ARROW = re.compile(r"(?P<left>.*?)\\xrightarrow\s*\{(?P<label>[^{}]+)\}(?P<right>.*)")
_REDOX = "氧化还原反应"  # a reaction's name under its arrow
_LABEL = re.compile(r"[A-Za-z0-9._,-]+|[ΓγλμνxyzuvwMNOabcABC0-9._,-]+")
_NOT_ARITHMETIC = re.compile(
    r"\\begin\{|\\end\{|\\(mathbf|left|right|cdot|lambda|Gamma|varGamma|text|matrix|pmatrix|bmatrix)"
)


def one_line(text: str) -> str:
    return " ".join(text.split())


def unwrapped(text: str) -> str:
    """Returns text with spaces in place of the delimiters of its formulas."""
    for wrapper in _WRAPPERS:
        text = wrapper.sub(lambda found: f" {found[1]} ", text)
    return text


def looks_like_formula(text: str) -> bool:
    """Whether the text is short, with operators and digits and few words."""
    text = one_line(text)
    if not text or len(text) > 220:
        return False
    inside = unwrapped(text)
    compact = re.sub(r"\s+", "", inside)
    if not compact:
        return False
    operators, words, ideographs = (len(p.findall(inside)) for p in (_OPERATOR, _LONG_WORD, _CJK))
    formulas = len(_INLINE.findall(text)) + len(_DISPLAY.findall(text))
    rest = re.sub(r"\s+", "", re.sub(r"\d", " ", _MATH_SIGN.sub(" ", inside)))
    boxed = "□" in inside or "\\square" in inside
    arrow = any(sign in inside for sign in (*_ARROWS, "→"))
    return (
        (formulas > 0 and len(rest) <= 18 and operators >= 1)
        or (boxed and operators >= 1 and words <= 1 and len(compact) <= 80)
        or (arrow and ideographs <= 24 and len(compact) <= 120)
        or (
            operators >= 2
            and re.search(r"\d", inside) is not None
            and words <= 2
            and ideographs <= 12
            and len(compact) <= 100
        )
        or (operators >= 3 and words == 0 and ideographs <= 18 and len(compact) <= 80)
    )


def as_formula(text: str) -> str:
    """Writes text that looks like a formula as a display formula; "" if nothing is left."""
    text = unwrapped(one_line(text.replace("\u3000", " ")))
    for sign, latex in _SPELLED:
        text = text.replace(sign, latex)
    text = _with_arrow(text)
    text = re.sub(r"(?<!\\)([%&])", r"\\\1", text)
    text = re.sub(r"\s+", " ", text).strip()
    if not text or text.startswith(("\\begin{", "$$", "\\[")):
        return text
    return f"\\[ {text} \\]"


def _with_arrow(text: str) -> str:
    arrow = _ARROW.search(text)
    if arrow is None:
        return text
    left, label, right = (arrow[name].strip() for name in ("left", "label", "right"))
    label = f"\\text{{{label}}}" if label and "\\" not in label else label
    if right.endswith(_REDOX):
        below = right[: -len(_REDOX)].strip()
        return f"{left} \\underset{{{_REDOX}}}{{\\xrightarrow{{{label}}}}} {below}".strip()
    return f"{left} \\xrightarrow{{{label}}} {right}".strip()


def is_formula_cell(text: str) -> bool:
    """Whether a table cell may be a formula of the page."""
    text = one_line(text)
    if not text or len(text) > 120 or not looks_like_formula(text):
        return False
    signs = ("=", "+", "-", "×", "÷", "/", "≈", "\\times", "\\div", "\\approx")
    if not any(sign in text for sign in signs):
        return False
    return len(re.findall(r"\d", text)) >= 2 or "\\frac" in text or _FRACTION.search(text) is not None


def is_arithmetic(text: str) -> bool:
    """Whether the text may be one of several small equations side by side in one formula."""
    text = one_line(text)
    if not text or len(text) > 160 or _NOT_ARITHMETIC.search(text):
        return False
    if not any(sign in text for sign in ("=", "\\approx", "≈", "\\neq", "≠", "\\leq", "≤", "\\geq", "≥")):
        return False
    return len(re.findall(r"\d", text)) >= 2 or "\\frac" in text or _FRACTION.search(text) is not None


def text_line(latex: str) -> str:
    """Returns a fragment of LaTeX as plain text on one line."""
    return re.sub(r"\s+", " ", latex_to_text(latex.strip()).replace("\xa0", " ")).strip()


def is_caption(latex: str) -> bool:
    """Whether these are words beside a formula and not part of it; a number alone is not."""
    latex = latex.strip()
    plain = text_line(latex) if latex else ""
    if not plain:
        return False
    core = plain[1:-1].strip() if plain.startswith("(") and plain.endswith(")") else plain
    if re.fullmatch(r"[0-9IVXivx]+", core.replace(" ", "")):
        return False
    letters, words = len(re.findall(r"[A-Za-z]", plain)), len(re.findall(r"[A-Za-z]{2,}", plain))
    signs = len(re.findall(r"(\\[A-Za-z]+|[=<>≤≥÷×±∑∫√_^{}])", latex))
    has_digits = re.search(r"\d", plain) is not None
    return (letters >= 10 and words >= 2 and signs <= 6) or (letters >= 14 and not has_digits and signs <= 3)


def is_label(latex: str) -> bool:
    """Whether an inline formula is only a name or a number, such as `$x$`: it never counts as a formula."""
    latex = latex.strip()
    if not latex:
        return False
    core = unwrapped(latex)
    compact = re.sub(r"\s+", "", core)
    if compact.startswith(_ARROWS):
        return True
    if not compact or len(compact) > 24 or any(sign in core for sign in _STRONG):
        return False
    return _LABEL.fullmatch(compact) is not None
