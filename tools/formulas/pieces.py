"""The small parts of a formula: letters, numbers, scripts, terms, brackets. `shapes.py` puts them together."""

from __future__ import annotations

import random
import re

from themes import (
    ACCENTS,
    LOWER,
    RARE_BIG,
    RARE_OPERATORS,
    RARE_RELATIONS,
    RARE_SYMBOLS,
    THEMES,
    UPPER,
    WORDS,
)

_COMMAND_AT_END = re.compile(r"\\[a-zA-Z]+$")
BRACKETS = [("(", ")")] * 8 + [("[", "]")] * 3 + [(r"\{", r"\}")] * 2
BRACKETS += [
    ("|", "|"),
    (r"\langle", r"\rangle"),
    (r"\lfloor", r"\rfloor"),
    (r"\lceil", r"\rceil"),
    (r"\|", r"\|"),
]
SIZES = ("",) * 17 + (r"\big", r"\Big", r"\bigg")
THIN = ("", "", "", r"\,", r"\;", r"\ ")


def tex(pattern: str, *parts: object) -> str:
    """The pattern with its holes, written #, filled in order."""
    pieces = pattern.split("#")
    made = pieces[0]
    for part, piece in zip(parts, pieces[1:], strict=True):
        made = _beside(_beside(made, str(part)), piece)
    return made


def _beside(before: str, after: str) -> str:
    """The two joined, with a space where a command would swallow a letter."""
    gap = " " if after[:1].isalpha() and _COMMAND_AT_END.search(before) else ""
    return before + gap + after


def line(*parts: str) -> str:
    return " ".join(parts)


class Pieces:
    """Draws parts of one formula. It keeps to a theme and to a handful of letters."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        names = list(THEMES)
        self.theme = THEMES[dice.choices(names, [THEMES[name].weight for name in names])[0]]
        own = self.theme.letters.split()
        self.letters = [dice.choice(own) for _ in range(dice.randint(3, 7))]
        if dice.random() < 0.25:
            self.letters.append(dice.choice(LOWER + UPPER))
        self.indices = [dice.choice(self.theme.indices.split()) for _ in range(3)]
        self.left_right = dice.random() < 0.8  # the author writes \left and \right
        self.scripted = dice.uniform(0.15, 0.6)  # share of letters with scripts
        self.depth = 0

    def chance(self, share: float) -> bool:
        return self.dice.random() < share

    def pick(self, *choices: str) -> str:
        return self.dice.choice(choices)

    def one_of(self, words: str) -> str:
        return self.dice.choice(words.split())

    # --- glyphs

    def letter(self) -> str:
        if self.chance(0.03):
            return self.dice.choice(RARE_SYMBOLS)
        if self.chance(0.07):
            return self.dice.choice(LOWER + UPPER)
        return self.dice.choice(self.letters)

    def styled(self) -> str:
        """A letter in another alphabet."""
        style, pool = self.dice.choice(
            [
                (r"\mathbf", UPPER + LOWER),
                (r"\mathbf", UPPER + LOWER),
                (r"\boldsymbol", UPPER + LOWER),
                (r"\mathbb", "RNZQCEPFDHKTSIBA"),
                (r"\mathbb", "RRNZQCEP"),
                (r"\mathcal", UPPER),
                (r"\mathcal", "LNDFHXYSMTAOP"),
                (r"\mathscr", UPPER),
                (r"\mathfrak", UPPER + LOWER),
                (r"\mathsf", UPPER + LOWER),
                (r"\mathrm", UPPER + LOWER),
                (r"\mathtt", UPPER + LOWER),
            ]
        )
        if style == r"\boldsymbol" and self.chance(0.6):
            greek = r"\alpha \beta \theta \mu \Sigma \lambda \phi \omega \xi \epsilon \eta \sigma \pi \Phi \tau \gamma \delta \Omega"
            return rf"\boldsymbol{{{self.one_of(greek)}}}"
        return f"{style}{{{self.dice.choice(pool)}}}"

    def number(self) -> str:
        kind = self.dice.random()
        if kind < 0.6:
            return str(self.dice.randint(0, 9))
        if kind < 0.8:
            return str(self.dice.randint(10, 999))
        if kind < 0.93:
            return f"{self.dice.randint(0, 99)}.{self.dice.randint(0, 999)}"
        if kind < 0.96:
            return f"{self.dice.randint(1, 99)},{self.dice.randint(0, 999):03d}"
        return tex(
            r"#.# \times 10^{##}",
            self.dice.randint(1, 9),
            self.dice.randint(0, 99),
            self.pick("", "-"),
            self.dice.randint(1, 30),
        )

    def word(self) -> str:
        count = self.dice.choice([1, 1, 1, 2, 2, 3])
        pool = self.theme.words.split() if self.chance(0.6) else WORDS
        text = " ".join(self.dice.choice(pool).replace("~", " ") for _ in range(count))
        text = text.capitalize() if self.chance(0.06) else text
        return tex("#{#}", self.pick(chr(92) + "text", chr(92) + "text", chr(92) + "mathrm"), text).replace(
            r"\mathrm{" + text, r"\mathrm{" + text.replace(" ", "~")
        )

    def accented(self) -> str:
        inside = self.dice.choice(self.letters) if self.chance(0.8) else self.styled()
        plain = (
            inside
            if not inside.startswith((r"\hat", r"\bar", r"\vec", r"\dot", r"\ddot", r"\tilde"))
            else "x"
        )
        if self.chance(0.15):
            wide = self.pick(
                r"\overline", r"\widehat", r"\widetilde", r"\overrightarrow", r"\underline", r"\overline"
            )
            return f"{wide}{{{plain} {self.letter()}}}" if self.chance(0.7) else f"{wide}{{{self.term()}}}"
        return f"{self.dice.choice(ACCENTS)}{{{plain}}}"

    # --- scripts

    def index(self) -> str:
        """What stands in a subscript."""
        kind = self.dice.random()
        if kind < 0.55:
            return self.dice.choice(self.indices)
        if kind < 0.65:
            return tex(
                "###", self.dice.choice(self.indices), self.pick("", ","), self.dice.choice(self.indices)
            )
        if kind < 0.72:
            return tex("###", self.one_of("i j k n t m"), self.pick("+", "-"), self.pick("1", "1", "2", "k"))
        if kind < 0.80:
            return tex(r"\#{#}", self.pick("mathrm", "text"), self.dice.choice(WORDS).replace(".", ""))
        if kind < 0.86:
            return str(self.dice.randint(0, 20))
        if kind < 0.93:
            return f"{self.letter()}_{{{self.dice.choice(self.indices)}}}"
        return self.flat()

    def exponent(self) -> str:
        kind = self.dice.random()
        if kind < 0.45:
            return self.pick(
                "2", "2", "2", "3", "n", "-1", "-1", "T", "k", r"\top", "*", "4", r"\ast", r"\dagger"
            )
        if kind < 0.6:
            return self.dice.choice(self.indices)
        if kind < 0.7:
            return f"({self.dice.choice(self.indices)})"
        if kind < 0.8:
            return f"-{self.term()}" if self.chance(0.4) else tex("##1", self.letter(), self.pick("+", "-"))
        if kind < 0.87:
            return self.pick(
                r"\frac{1}{2}", "1/2", r"\frac{n}{2}", "-1/2", rf"\frac{{{self.letter()}}}{{2}}", "2n"
            )
        if kind < 0.93:
            return self.pick(
                r"\circ", "+", "-", r"\perp", r"\prime", r"\infty", r"\star", r"\mathrm{T}", r"\times"
            )
        return self.flat()

    def with_scripts(self, base: str) -> str:
        """The base with a subscript, a superscript or both, in the order that authors choose."""
        kind = self.dice.random()
        prime = self.pick("'", "''", "^{\\prime}") if self.chance(0.1) else ""
        if kind < 0.5:
            return base + ("'" if prime else "") + f"_{{{self.index()}}}"
        if kind < 0.82:
            return base + (prime or f"^{{{self.exponent()}}}")
        sub, sup = f"_{{{self.index()}}}", f"^{{{self.exponent()}}}"
        return base + (sub + sup if self.chance(0.8) else sup + sub)

    def atom(self) -> str:
        kind = self.dice.random()
        if kind < 0.09:
            base = self.accented()
        elif kind < 0.15:
            base = self.styled()
        elif kind < 0.24:
            return self.number()
        else:
            base = self.letter()
        return self.with_scripts(base) if self.chance(self.scripted) else base

    # --- terms

    def flat(self) -> str:
        """A short expression without anything tall."""
        count = self.dice.choice([1, 2, 2, 2, 3])
        parts = [self.letter() if self.chance(0.7) else self.number() for _ in range(count)]
        return self.joined(parts)

    def operator(self) -> str:
        if self.chance(0.03):
            return self.dice.choice(RARE_OPERATORS)
        return self.one_of(self.theme.binary)

    def relation(self) -> str:
        if self.chance(0.06):
            return self.dice.choice(RARE_RELATIONS)
        return self.one_of(self.theme.relations)

    def joined(self, parts: list[str]) -> str:
        made = parts[0]
        for part in parts[1:]:
            made += f" {self.operator()} {part}"
        return made

    def call(self) -> str:
        """A function of something."""
        name = self.one_of(self.theme.functions)
        if self.chance(0.3):
            name += f"_{{{self.index()}}}" if self.chance(0.6) else f"^{{{self.exponent()}}}"
        elif self.chance(0.06):
            name += self.pick("'", "''", r"^{\prime}")
        if (
            name.startswith("\\")
            and self.chance(0.35)
            and name in (r"\sin", r"\cos", r"\tan", r"\log", r"\ln", r"\lg")
        ):
            return f"{name} {self.atom()}"
        arguments = self.pick(", ", ", ", r" \mid ", "; ").join(
            self.atom() if self.chance(0.75) else self.term()
            for _ in range(self.dice.choice([1, 1, 1, 2, 2, 3]))
        )
        brackets = ("(", ")") if self.chance(0.85) else ("[", "]")
        return f"{name} {self.bracketed(arguments, brackets)}"

    def term(self) -> str:
        """A product of a few things; deep ones stay small."""
        self.depth += 1
        kind = self.dice.random()
        if self.depth > 3 or kind < 0.42:
            made = self.atom()
        elif kind < 0.6:
            made = self.pick("", "", "-", self.number()) + " " + self.atom() + self.gap() + self.atom()
        elif kind < 0.75:
            made = self.call()
        elif kind < 0.84:
            made = self.fraction()
        elif kind < 0.88:
            made = self.root()
        elif kind < 0.94:
            made = self.bracketed(self.expression(3))
            if self.chance(0.4):
                made += f"^{{{self.exponent()}}}"
        else:
            made = self.big()
        self.depth -= 1
        return made

    def gap(self) -> str:
        """What stands between two factors: mostly nothing."""
        return " " + self.dice.choice(THIN) + " "

    def expression(self, most: int = 4) -> str:
        count = self.dice.randint(1, most)
        made = self.joined([self.term() for _ in range(count)])
        return "-" + made if self.chance(0.07) else made

    def fraction(self) -> str:
        name = self.pick(r"\frac", r"\frac", r"\frac", r"\frac", r"\dfrac", r"\tfrac")
        if self.chance(0.35):
            return f"{name}{{{self.atom()}}}{{{self.atom()}}}"
        if self.chance(0.2):
            return tex(
                "#{#}{#}",
                name,
                self.pick("1", "1", "2", "3", "n"),
                self.pick("2", "3", "4", "n", "N", self.letter()),
            )
        return f"{name}{{{self.expression(3)}}}{{{self.expression(2)}}}"

    def root(self) -> str:
        order = tex("[#]", self.pick("3", "3", "n", "4", "k", "5")) if self.chance(0.15) else ""
        return rf"\sqrt{order}{{{self.expression(2)}}}"

    def bracketed(self, inside: str, brackets: tuple[str, str] | None = None) -> str:
        opening, closing = brackets or self.dice.choice(BRACKETS)
        tall = any(
            word in inside for word in (r"\frac", r"\dfrac", r"\sum", r"\int", r"\prod", r"\begin", r"\big")
        )
        if tall and (self.left_right or opening in ("|", r"\|")):
            return rf"\left{opening} {inside} \right{closing}"
        size = self.dice.choice(SIZES)
        if size and not tall:
            return f"{size}l{opening} {inside} {size}r{closing}"
        return f"{opening} {inside} {closing}"

    def big(self) -> str:
        """A big operator with what it works on."""
        name = self.dice.choice(RARE_BIG) if self.chance(0.05) else self.one_of(self.theme.big)
        if name == r"\lim":
            return tex(
                r"\lim_{# \to #} #",
                self.letter(),
                self.pick("0", r"\infty", "1", "a", r"+\infty"),
                self.term(),
            )
        if "int" in name:
            return self.bounded_integral(name)
        index = self.one_of("i j k n m t l s")
        lower = self.pick(
            f"{index}=1", f"{index}=1", f"{index}=0", index, rf"{index} \in {self.letter()}", f"{index},j"
        )
        if self.chance(0.08):
            lower = rf"\substack{{{lower} \\ {index} \neq {self.letter()}}}"
        upper = (
            self.pick("n", "n", "N", r"\infty", "m", "k", "T", "n-1", "K", "M", "d") if "=" in lower else ""
        )
        limits = self.pick("", "", "", r"\limits")
        made = f"{name}{limits}" + (f"_{{{lower}}}" if self.chance(0.93) else "")
        return made + (f"^{{{upper}}}" if upper and self.chance(0.92) else "") + " " + self.term()

    def bounded_integral(self, name: str) -> str:
        lower = self.pick(
            "0",
            "a",
            r"-\infty",
            r"\Omega",
            "0",
            "D",
            "S",
            r"\mathbb{R}^{n}",
            "C",
            "1",
            "t_0",
            r"\partial \Omega",
            "U",
        )
        upper = (
            self.pick(r"\infty", "1", "b", "x", "t", "T", r"2\pi", r"\pi")
            if lower in ("0", "a", r"-\infty", "1", "t_0")
            else ""
        )
        made = name + (f"_{{{lower}}}" if self.chance(0.8) else "")
        made += f"^{{{upper}}}" if upper and "_" in made else ""
        variable = self.pick("x", "t", "y", "s", r"\theta", r"\mu", "u", r"\mathbf{x}", "z", self.letter())
        measure = self.pick("d", "d", "d", r"\mathrm{d}", r"\mathrm{d}") + " " + variable
        return line(made, self.term(), self.pick("", r"\,", r"\,", r"\;"), measure)
