"""Brings LaTeX into the one spelling that the recogniser learns and is scored by.

`normal_tokens` parses a formula into a small tree and writes the tree again: braces around every argument,
subscript before superscript, one name for each glyph, no spacing. What the picture does not show (the
author's choice of \\le or \\leq, \\left( around a flat term) does not survive. Two sources of one picture
should become the same tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from spellings import (
    ACCENTS,
    DROPPED,
    ENVIRONMENT_NAMES,
    FUNCTION_WORDS,
    HIDDEN,
    INFIX,
    ONE,
    RELATION_MARKS,
    SAME,
    SPACES,
    STYLES,
    SWITCHES,
    TALL,
    TWO,
    UNICODE,
    WIDE,
)

MAX_DEPTH = 40
WORD_GAP = "word gap"  # written ~
_TOKEN = re.compile(r"\\begin\s*\{[^{}]*\}|\\end\s*\{[^{}]*\}|\\[a-zA-Z]+\*?|\\.|\S", re.DOTALL)
_TEXT = re.compile(r"\\(?:text|textrm|textnormal|mbox|hbox|textbf|textit)\s*\{[^{}]*\}")
_DELIMITED = re.compile(r"^\s*(?:\$\$|\\\[|\\\(|\$)(.*?)(?:\$\$|\\\]|\\\)|\$)\s*$", re.DOTALL)
_LENGTH = re.compile(r"(\\\\\s*)\[[^\]]*(?:pt|em|ex|mm|cm)\s*\]")
_MATRICES = {"(": "pmatrix", "[": "bmatrix", "|": "vmatrix", r"\|": "Vmatrix", r"\{": "Bmatrix"}
_CLOSES = {
    "(": ")",
    "[": "]",
    r"\{": r"\}",
    r"\langle": r"\rangle",
    r"\lfloor": r"\rfloor",
    r"\lceil": r"\rceil",
}


class BadFormula(ValueError):
    """The LaTeX cannot be parsed: braces or environments do not match."""


@dataclass
class Node:
    """One glyph, command, fence or environment, with its scripts.

    `arguments` of a fence are its one body; of an environment, its cells row by row (`rows` holds them).
    """

    name: str
    arguments: list[list[Node]] = field(default_factory=list)
    option: list[Node] = field(default_factory=list)
    sub: list[Node] = field(default_factory=list)
    sup: list[Node] = field(default_factory=list)
    rows: list[list[list[Node]]] = field(default_factory=list)
    closing: str = ""  # of a fence

    @property
    def bare(self) -> bool:
        return not self.sub and not self.sup


def normal_form(latex: str) -> str:
    """Returns the formula in its normal form, tokens apart by spaces. Raises BadFormula."""
    return " ".join(normal_tokens(latex))


def normal_tokens(latex: str) -> list[str]:
    """Returns the tokens of the normal form. Raises BadFormula."""
    reader = _Reader(_source_tokens(latex))
    nodes = reader.sequence(())
    return list(_written(_tidy(nodes)))


def for_scoring(tokens: list[str]) -> list[str]:
    """The tokens that two readers of one picture must agree on: no gaps, no alignment marks, no number."""
    kept: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == r"\tag":
            while at < len(tokens) and tokens[at] != "}":
                at += 1
        elif tokens[at] not in (r"\quad", "&", "~"):
            kept.append(tokens[at])
        at += 1
    return kept


def _source_tokens(latex: str) -> list[str]:
    inside = _DELIMITED.match(latex)
    latex = inside[1] if inside else latex
    latex = _LENGTH.sub(r"\1", latex)
    latex = _TEXT.sub(lambda found: found[0].replace(" ", "~").replace("$", ""), latex)
    for sign, name in UNICODE.items():
        latex = latex.replace(sign, f" {name} " if name.startswith("\\") else name)
    return [re.sub(r"\s", "", token) if len(token) > 2 else token for token in _TOKEN.findall(latex)]


class _Reader:
    """Reads nodes from the tokens of a formula."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def sequence(self, ends: tuple[str, ...]) -> list[Node]:
        """Reads up to one of `ends`, which is not taken, or to the end when there are none."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadFormula("The formula is nested too deeply.")
        nodes: list[Node] = []
        while not self._reached(ends):
            token = self._take()
            if token in INFIX:
                rest = self.sequence(ends)
                nodes = [_infix(INFIX[token], nodes, rest)]
            elif token in SWITCHES and self._peek() != "{":
                nodes.append(Node(SWITCHES[token], [self.sequence(ends)]))
            else:
                self._read(token, nodes)
        self._depth -= 1
        return nodes

    def _reached(self, ends: tuple[str, ...]) -> bool:
        token = self._peek()
        if token is None:
            if ends:
                raise BadFormula(f"The formula ends before {ends[0]}.")
            return True
        return token in ends or (bool(ends) and "\\end" in ends and token.startswith("\\end{"))

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> str:
        token = self._peek()
        if token is None:
            raise BadFormula("The formula ends in the middle of a command.")
        self._at += 1
        return token

    def _read(self, token: str, nodes: list[Node]) -> None:
        """Reads the node that starts with `token`, or adds a script to the last one."""
        if token in ("^", "_"):
            self._script(token, nodes)
        elif token == "'":
            _last(nodes).sup[:0] = [Node(r"\prime")]
        elif token == "°":
            _last(nodes).sup.append(Node(r"\circ"))
        elif token == "{":
            nodes += self._rest_of_group()
        elif token in ("}", r"\right") or token.startswith("\\end{"):
            raise BadFormula(f"{token} closes what was not opened.")
        elif token == r"\left":
            nodes.append(self._fence())
        elif token.startswith("\\begin{"):
            nodes += self._environment(token[7:-1])
        else:
            nodes += self._command(token)

    def _rest_of_group(self) -> list[Node]:
        nodes = self.sequence(("}",))
        self._take()
        return nodes

    def _script(self, token: str, nodes: list[Node]) -> None:
        found = self._argument()
        node = _last(nodes)
        (node.sub if token == "_" else node.sup).extend(found)

    def _argument(self) -> list[Node]:
        token = self._take()
        while token in DROPPED or token in SPACES:
            token = self._take()
        if token == "{":
            return self._rest_of_group()
        if token in ("}", "^", "_", "&"):
            raise BadFormula(f"{token} stands where an argument is needed.")
        nodes: list[Node] = []
        self._read(token, nodes)
        return nodes

    def _fence(self) -> Node:
        opening = self._delimiter()
        body = self.sequence((r"\right",))
        self._take()
        return Node("fence " + opening, [body], closing=self._delimiter())

    def _delimiter(self) -> str:
        token = self._take()
        token = SAME.get(token, token)
        return {"<": r"\langle", ">": r"\rangle"}.get(token, token)

    def _command(self, token: str) -> list[Node]:
        token = SAME.get(token, token)
        if token == ":=":
            return [Node(":"), Node("=")]
        if token in DROPPED:
            return []
        if token in HIDDEN:
            if self._peek() == "{":
                self._argument()
            return []
        if token == "~" or token == "\\ ":
            return [Node("~")]
        if token in SPACES:
            return [Node(r"\quad")]
        option = self._option() if token in (r"\sqrt", r"\xrightarrow", r"\xleftarrow") else []
        count = 2 if token in TWO else 1 if token in ONE else 0
        arguments = [self._argument() for _ in range(count)]
        if token == r"\mathrm":
            arguments = [[_gap_of_words(node) for node in arguments[0]]]
        return _special(Node(token, arguments, option))

    def _option(self) -> list[Node]:
        if self._peek() != "[":
            return []
        self._take()
        nodes = self.sequence(("]",))
        self._take()
        return nodes

    def _environment(self, written: str) -> list[Node]:
        name = ENVIRONMENT_NAMES.get(written)
        if name is None:
            raise BadFormula(f"The environment {written} is not known.")
        columns = ""
        if written in ("array", "tabular", "alignedat", "alignat", "alignat*"):
            columns = "".join(node.name for node in self._argument()) if self._peek() == "{" else ""
        rows: list[list[list[Node]]] = [[[]]]
        while True:
            rows[-1][-1] = self.sequence(("&", r"\\", r"\cr", "\\end"))
            token = self._take()
            if token == "&":
                rows[-1].append([])
            elif token in (r"\\", r"\cr"):
                rows.append([[]])
            else:
                break
        return _table(name, columns, rows)


def _last(nodes: list[Node]) -> Node:
    """The node that a script belongs to."""
    if not nodes or nodes[-1].name in ("~", r"\quad", "&"):
        nodes.append(Node(""))  # a script before anything, as in {}_n C_k
    return nodes[-1]


def _gap_of_words(node: Node) -> Node:
    """Gaps between words stay; those between signs do not."""
    return Node(WORD_GAP) if node.name == "~" else node


def _infix(name: str, before: list[Node], after: list[Node]) -> Node:
    if name == r"\substack":
        return Node(name, [[*before, Node(r"\\"), *after]])
    return Node(name, [before, after])


def _special(node: Node) -> list[Node]:
    """Commands that are short for others."""
    if node.name == r"\pmod":
        word = Node(r"\mathrm", [[Node(letter) for letter in "mod"]])
        return [Node("("), word, *node.arguments[0], Node(")")]
    if node.name in (r"\bmod", r"\mod"):
        return [Node(r"\mathrm", [[Node(letter) for letter in "mod"]])]
    if node.name == r"\not":
        inner = node.arguments[0][0].name if node.arguments[0] else ""
        return [
            Node({"=": r"\neq", r"\in": r"\notin", r"\exists": r"\nexists", "|": r"\nmid"}.get(inner, inner))
        ]
    return [node]


def _table(name: str, columns: str, rows: list[list[list[Node]]]) -> list[Node]:
    rows = [row for row in rows if any(row)]
    if name == "array":
        name = "aligned" if columns in ("l", "rcl", "rl", "r", "lcl") and _has_relations(rows) else "matrix"
    if name == "aligned":
        if len(rows) <= 1:
            return [node for row in rows for cell in row for node in cell]
        rows = _realigned(rows)
    return [Node("table " + name, rows=rows)]


def _has_relations(rows: list[list[list[Node]]]) -> bool:
    return any(node.name in RELATION_MARKS for row in rows for cell in row for node in cell)


def _realigned(rows: list[list[list[Node]]]) -> list[list[list[Node]]]:
    """Puts one alignment mark before the first relation of each row, where there were marks at all."""
    lines = [[node for cell in row for node in cell] for row in rows]
    if all(len(row) == 1 for row in rows):
        return [[line] for line in lines]
    return [_aligned_line(line, first=number == 0) for number, line in enumerate(lines)]


def _aligned_line(line: list[Node], first: bool) -> list[list[Node]]:
    marks = [at for at, node in enumerate(line) if node.name in RELATION_MARKS]
    at = marks[0] if marks else 0
    if not marks and first:
        return [line]
    return [line[:at], line[at:]]


def _tidy(nodes: list[Node]) -> list[Node]:
    """Returns the nodes of one sequence in normal form, and those inside them."""
    for node in nodes:
        node.arguments = [_tidy(inside) for inside in node.arguments]
        node.option, node.sub, node.sup = _tidy(node.option), _tidy(node.sub), _tidy(node.sup)
        node.rows = [[_tidy(cell) for cell in row] for row in node.rows]
    nodes = [better for node in nodes for better in _renamed(node)]
    nodes = _fenced(_merged(_with_dots(nodes)))
    return [named for node in nodes for named in _flat_fence(node)]


def _renamed(node: Node) -> list[Node]:
    """The node under the name that its content asks for; styles without content vanish."""
    inside = node.arguments[0] if node.arguments else []
    if node.name in ACCENTS or node.name in WIDE:
        short = WIDE.get(node.name, node.name)
        single = len(inside) == 1 and inside[0].bare and not inside[0].name.startswith("fence")
        node.name = short if single else ACCENTS[short]
    if node.name in STYLES:
        return _styled(node)
    if node.name == "" and node.bare:
        return []
    return [node]


def _styled(node: Node) -> list[Node]:
    """Scripts leave the style's braces; digits, signs and what has no such style leave the style."""
    inside, scripts = node.arguments[0], (node.sub, node.sup)
    made: list[Node] = []
    for child in inside:
        if child.name in ACCENTS and len(child.arguments[0]) == 1:
            child.arguments[0] = _styled(Node(node.name, [child.arguments[0]]))
            made.append(child)
        elif child.name in STYLES or not _takes_style(child.name, node.name):
            made.append(child)
        else:
            made.append(Node(node.name, [[Node(child.name)]], sub=child.sub, sup=child.sup))
    if made and (scripts[0] or scripts[1]):
        made[-1].sub, made[-1].sup = made[-1].sub + scripts[0], made[-1].sup + scripts[1]
    return made


def _takes_style(name: str, style: str) -> bool:
    letter = len(name) == 1 and name.isalpha()
    if style == r"\mathrm":
        return letter or name == WORD_GAP
    if style == r"\boldsymbol":
        return letter or (name.startswith("\\") and name[1:].isalpha() and name[1:] not in FUNCTION_WORDS)
    if style == r"\mathbf":
        return letter or name == r"\nabla" or (len(name) == 1 and name.isdigit())
    return letter or (style == r"\mathbb" and name == "1")


def _with_dots(nodes: list[Node]) -> list[Node]:
    """Three full stops are \\ldots."""
    made: list[Node] = []
    for node in nodes:
        made.append(node)
        if len(made) >= 3 and all(last.name == "." and last.bare for last in made[-3:]):
            made[-3:] = [Node(r"\ldots")]
    return made


def _merged(nodes: list[Node]) -> list[Node]:
    """Letters of one style that follow each other share its braces; gaps stay only between upright words."""
    made: list[Node] = []
    for node in nodes:
        if node.name == "~":
            continue
        last = made[-1] if made else None
        if last is not None and last.name == node.name and node.name in STYLES and last.bare:
            last.arguments[0] += node.arguments[0]
            last.sub, last.sup = node.sub, node.sup
        else:
            made.append(node)
    return [word for node in made for word in _word(node)]


def _word(node: Node) -> list[Node]:
    """\\mathrm{sin} is \\sin, and upright words end without a gap."""
    if node.name != r"\mathrm":
        return [node]
    letters = node.arguments[0]
    while letters and letters[-1].name == WORD_GAP:
        letters.pop()
    while letters and letters[0].name == WORD_GAP:
        letters.pop(0)
    spelled = "".join(letter.name for letter in letters if letter.name != WORD_GAP)
    if spelled in ("argmax", "argmin"):
        return [Node(r"\arg"), Node("\\" + spelled[3:], sub=node.sub, sup=node.sup)]
    word = FUNCTION_WORDS.get(spelled)
    return [Node(word, sub=node.sub, sup=node.sup)] if word else [node] if letters or not node.bare else []


def _fenced(nodes: list[Node]) -> list[Node]:
    """Plain brackets around something tall become a fence, as \\left and \\right would make."""
    made: list[Node] = []
    opened: list[int] = []
    for node in nodes:
        made.append(node)
        if node.name in _CLOSES and node.bare:
            opened.append(len(made) - 1)
        elif opened and node.name == _CLOSES[made[opened[-1]].name]:
            start = opened.pop()
            body = made[start + 1 : -1]
            if _tall(body):
                fence = Node(
                    "fence " + made[start].name, [body], sub=node.sub, sup=node.sup, closing=node.name
                )
                made[start:] = [fence]
    return made


def _tall(nodes: list[Node]) -> bool:
    return any(
        node.name in TALL or node.rows or any(_tall(inside) for inside in node.arguments) for node in nodes
    )


def _flat_fence(node: Node) -> list[Node]:
    """A fence around a matrix is the matrix's own; one around something flat is plain brackets."""
    if not node.name.startswith("fence "):
        return [node]
    opening, body = node.name[6:], node.arguments[0]
    if len(body) == 1 and body[0].name in ("table matrix", "table aligned") and body[0].bare:
        name = _MATRICES.get(opening)
        if opening == r"\{" and node.closing == ".":
            name = "cases"
            if body[0].name == "table aligned":
                body[0].rows = [[[one for cell in row for one in cell]] for row in body[0].rows]
        elif _CLOSES.get(opening, opening) != node.closing:
            name = None
        if name:
            return [Node("table " + name, rows=body[0].rows, sub=node.sub, sup=node.sup)]
    if _tall(body):
        return [node]
    before = [] if opening == "." else [Node(opening)]
    after = [] if node.closing == "." else [Node(node.closing)]
    flat = [*before, *body, *after]
    if flat and not node.bare:
        flat[-1].sub, flat[-1].sup = flat[-1].sub + node.sub, flat[-1].sup + node.sup
    return flat


def _written(nodes: list[Node]) -> Iterator[str]:
    for node in nodes:
        yield from _head(node)
        if node.sub:
            yield from ("_", "{", *_written(node.sub), "}")
        if node.sup:
            yield from ("^", "{", *_written(node.sup), "}")


def _head(node: Node) -> Iterator[str]:
    if node.name.startswith("fence "):
        yield from (r"\left" + node.name[6:], *_written(node.arguments[0]), r"\right" + node.closing)
    elif node.name.startswith("table "):
        yield from _written_table(node.name[6:], node.rows)
    elif node.name:
        yield "~" if node.name == WORD_GAP else node.name
        if node.option:
            yield from ("[", *_written(node.option), "]")
        for inside in node.arguments:
            yield from ("{", *_written(inside), "}")


def _written_table(name: str, rows: list[list[list[Node]]]) -> Iterator[str]:
    yield f"\\begin{{{name}}}"
    for number, row in enumerate(rows):
        if number:
            yield r"\\"
        for column, cell in enumerate(row):
            if column:
                yield "&"
            yield from _written(cell)
    yield f"\\end{{{name}}}"
