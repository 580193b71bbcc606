"""Hancom's equation script as LaTeX: `{a} over {b}` is a fraction, `sqrt {x}` a root."""

from __future__ import annotations

import re

from penstock.engines.office.latex_signs import FUNCTIONS, glued, letters_of

MAX_TOKENS = 5_000
_TOKEN = re.compile(r'"[^"]*"|[A-Za-z]+|\d+(?:\.\d+)?|<=|>=|!=|==|\+-|-\+|->|<-|\\.|\S')
WORDS = {
    "times": r"\times", "cdot": r"\cdot", "div": r"\div", "inf": r"\infty", "infty": r"\infty",
    "partial": r"\partial", "image": r"\fallingdotseq", "reimage": r"\risingdotseq",
    "leq": r"\leq", "le": r"\leq", "geq": r"\geq", "ge": r"\geq", "neq": r"\neq", "ne": r"\neq",
    "sum": r"\sum",
    "prod": r"\prod", "int": r"\int", "oint": r"\oint", "dint": r"\iint", "tint": r"\iiint", "lim": r"\lim",
    "cdots": r"\cdots", "ldots": r"\ldots", "dots": r"\dots", "in": r"\in", "notin": r"\notin",
    "cup": r"\cup",
    "cap": r"\cap", "subset": r"\subset", "emptyset": r"\emptyset", "forall": r"\forall", "exist": r"\exists",
    "therefore": r"\therefore", "because": r"\because", "angle": r"\angle", "bot": r"\perp",
    "approx": r"\approx",
    "sim": r"\sim", "equiv": r"\equiv", "propto": r"\propto", "rarrow": r"\rightarrow",
    "larrow": r"\leftarrow",
    "RARROW": r"\Rightarrow", "LARROW": r"\Leftarrow", "pm": r"\pm", "mp": r"\mp", "nabla": r"\nabla",
    "deg": r"^\circ",
    "prime": "'", "triangle": r"\triangle", "union": r"\cup", "inter": r"\cap", "smallsum": r"\sum",
    "it": "", "rm": "", "bold": "", "~": r"\ ", "`": r"\,", "#": r" \\ ", "<=": r"\leq", ">=": r"\geq",
    "!=": r"\neq", "==": r"\equiv", "+-": r"\pm", "-+": r"\mp", "->": r"\to", "<-": r"\leftarrow", "&": " & ",
}  # fmt: skip
GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "varepsilon",
    "vartheta", "varphi",
})  # fmt: skip
ACCENTED = {"vec": "vec", "bar": "bar", "hat": "hat", "tilde": "tilde", "dot": "dot", "ddot": "ddot",
            "under": "underline", "overline": "overline"}  # fmt: skip
TABLES = {"matrix": "matrix", "pmatrix": "pmatrix", "bmatrix": "bmatrix", "dmatrix": "vmatrix",
          "cases": "cases",
          "eqalign": "aligned", "pile": "matrix", "lpile": "matrix", "rpile": "matrix"}  # fmt: skip


def latex_of_script(script: str) -> str:
    """Returns the LaTeX of an equation script. What is not known stays as it is written."""
    tokens = _TOKEN.findall(script)[:MAX_TOKENS]
    return _Script(tokens).read().strip()


class _Script:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def read(self, end: str = "") -> str:
        """Returns the LaTeX up to a closing brace, or up to the end."""
        parts: list[str] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token == "}" and end:
                break
            if token.lower() in ("over", "atop"):
                self._at += 1
                under = self._term()
                over = parts.pop() if parts else ""
                command = "frac" if token.lower() == "over" else "genfrac{}{}{0pt}{}"
                parts.append(f"\\{command}{{{_bare(over)}}}{{{_bare(under)}}}")
            elif token in ("^", "_") or token.lower() in ("sup", "sub"):
                self._at += 1
                sign = "^" if token in ("^",) or token.lower() == "sup" else "_"
                base = parts.pop() if parts else ""
                parts.append(f"{base}{sign}{{{_bare(self._term())}}}")
            else:
                parts.append(self._term())
        return glued(parts)

    def _term(self) -> str:
        """Returns one letter, word, group or construction."""
        if self._at >= len(self._tokens):
            return ""
        token = self._tokens[self._at]
        self._at += 1
        word = token.lower()
        if token == "{":
            return self._group()
        if token.startswith('"'):
            return rf"\text{{{token.strip(chr(34))}}}"
        if word == "sqrt":
            return rf"\sqrt{{{_bare(self._term())}}}"
        if word == "root":
            return self._root()
        if word in ACCENTED:
            return rf"\{ACCENTED[word]}{{{_bare(self._term())}}}"
        if word in TABLES:
            return rf"\begin{{{TABLES[word]}}} {_bare(self._term())} \end{{{TABLES[word]}}}"
        if word in ("left", "right"):
            fence = self._tokens[self._at] if self._at < len(self._tokens) else "."
            self._at += 1
            return f"\\{word}" + (f"\\{fence}" if fence in "{}" else fence)
        return _word(token)

    def _group(self) -> str:
        self._depth += 1
        if self._depth > 100:  # a group that is nested so deep is no formula
            return ""
        inner = self.read("}")
        self._at += 1
        self._depth -= 1
        return f"{{{inner}}}"

    def _root(self) -> str:
        degree = self._term()
        if self._at < len(self._tokens) and self._tokens[self._at].lower() == "of":
            self._at += 1
        return rf"\sqrt[{_bare(degree)}]{{{_bare(self._term())}}}"


def _word(token: str) -> str:
    word = token.lower()
    if token in WORDS or word in WORDS:
        return WORDS.get(token, WORDS.get(word, ""))
    if word in GREEK:
        return "\\" + (word.capitalize() if token[0].isupper() else word)
    if token in FUNCTIONS:
        return "\\" + token
    return letters_of(token)


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("{") and text.endswith("}") and text.count("{") == 1 else text
