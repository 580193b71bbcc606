"""Whole formulas: the shapes that papers, textbooks and exam papers fill with letters."""

from __future__ import annotations

from dataclasses import dataclass

from pieces import Pieces, line, tex
from themes import UPPER

ELEMENTS = "H O C N Na Cl Fe Cu K Ca S P Mg Al Zn Ag Br I Mn Si F Li Ba Pb He".split()
UNITS = "m s kg cm mm km K J N W Hz V A Pa mol g mL L eV MeV GeV nm min h C rad dB kHz T".split()


@dataclass(frozen=True)
class EquationNumber:
    """A number at the right of a formula: what is drawn, and what the label says."""

    drawn: str = ""
    label: str = ""


class Shapes(Pieces):
    """Makes one formula. Each method below is a shape that a theme may name."""

    def formula(self) -> tuple[str, EquationNumber]:
        """Returns LaTeX to render and the number that may stand at its right."""
        kind = self.dice.random()
        if kind < 0.13:
            made = self.short()
        elif kind < 0.2:
            made = self.sprinkled()
        else:
            made = self.shape()
            while len(made) < 40 and self.chance(0.5):
                made = f"{made} {self.relation()} {self.expression(3)}"
        if self.chance(0.12) and len(made) < 250:
            made += line(self.pick(",", r"\quad", r", \quad", r" \qquad "), self.ending())
        if self.chance(0.22):
            made += self.pick(",", ".", ".", ",", ";")
        return made, self.equation_number() if self.chance(0.05) else EquationNumber()

    def shape(self) -> str:
        """One shape of the theme, or now and then of any theme."""
        name = self.one_of(self.theme.forms)
        if self.chance(0.1):
            name = self.pick(
                "equation", "aligned", "matrix", "cases", "set", "integral", "fraction", "braces", "stacked"
            )
        made: str = getattr(self, name)()
        return made

    def equation_number(self) -> EquationNumber:
        number = self.pick(
            str(self.dice.randint(1, 60)),
            f"{self.dice.randint(1, 9)}.{self.dice.randint(1, 40)}",
            f"{self.dice.randint(1, 9)}a",
        )
        gap = r"\qquad" * self.dice.randint(1, 5)
        return EquationNumber(rf"{gap}\mathrm{{({number})}}", rf"\tag{{{number}}}")

    def ending(self) -> str:
        """What follows an equation: a condition in words or signs."""
        letter = self.letter()
        kind = self.dice.random()
        if kind < 0.35:
            return tex(
                r"\forall # \in #",
                letter,
                self.pick("X", r"\mathbb{R}", r"\Omega", r"\mathbb{N}", self.letter()),
            )
        if kind < 0.6:
            return tex(
                "# = #, #, #, #",
                letter,
                self.pick("0", "1"),
                self.pick("1", "2"),
                self.pick(r"\ldots", r"\dots", r"\cdots"),
                self.letter(),
            )
        return line(self.word(), self.pick("", r"\ ", r"\;"), self.flat(), self.relation(), self.flat())

    # --- general

    def short(self) -> str:
        return self.pick(
            self.atom(),
            self.term(),
            self.call(),
            f"{self.atom()} {self.relation()} {self.atom()}",
            self.fraction(),
        )

    def sprinkled(self) -> str:
        """Signs in no sensible order, so that the reader looks instead of guessing."""
        parts = [self.atom() if self.chance(0.6) else self.styled() for _ in range(self.dice.randint(2, 9))]
        signs = [self.pick("", "", self.operator(), self.relation(), ",") for _ in parts]
        return " ".join(f"{part} {sign}" for part, sign in zip(parts, signs, strict=True))

    def equation(self) -> str:
        made = f"{self.expression(2)} {self.relation()} {self.expression(5)}"
        if self.chance(0.2):
            made += f" {self.relation()} {self.expression(3)}"
        return made

    def stacked(self) -> str:
        above = self.pick(r"\overset", r"\stackrel", r"\underset")
        return f"{self.expression(2)} {above}{{{self.flat()}}}{{{self.relation()}}} {self.expression(2)}"

    def braces(self) -> str:
        if self.chance(0.5):
            return rf"{self.atom()} = \underbrace{{{self.expression(3)}}}_{{{self.pick(self.word(), self.flat())}}} + {self.term()}"
        return rf"\overbrace{{{self.expression(3)}}}^{{{self.pick(self.word(), self.flat())}}} {self.relation()} {self.term()}"

    def aligned(self) -> str:
        count = self.dice.choice([2, 2, 2, 3, 3, 4])
        most = 5 if count == 2 else 3
        lines = [f"{self.expression(2)} &{self.relation()} {self.expression(most)}"]
        for _ in range(count - 1):
            left = self.expression(1) + " " if self.chance(0.25) else ""
            kind = self.relation() if self.chance(0.85) else r"\quad " + self.pick("+", "-")
            lines.append(f"{left}&{kind} {self.expression(most)}")
        name = self.pick("aligned", "aligned", "align*", "split")
        name = "aligned" if name == "align*" else name
        if self.chance(0.12):
            body = r" \\ ".join(line.replace("&", "") for line in lines)
            return rf"\begin{{array}}{{l}} {body} \end{{array}}"
        return tex(r"\begin{#} # \end{#}", name, r" \\ ".join(lines), name)

    def cases(self) -> str:
        rows = []
        for _ in range(self.dice.choice([2, 2, 2, 3, 4])):
            where = self.pick(self.word(), r"\text{if }", r"\text{if }", "", r"\text{for }")
            rows.append(
                tex(
                    "## & # # # #",
                    self.expression(2),
                    self.pick("", ",", ","),
                    where,
                    self.flat(),
                    self.relation(),
                    self.flat(),
                )
            )
        if self.chance(0.3):
            rows[-1] = rows[-1].split("&")[0] + r"& \text{otherwise}" + self.pick("", ".")
        body = r" \\ ".join(rows)
        if self.chance(0.3):
            return rf"{self.call()} = \left\{{ \begin{{array}}{{ll}} {body} \end{{array}} \right."
        return rf"{self.call()} = \begin{{cases}} {body} \end{{cases}}"

    def system(self) -> str:
        rows = [
            f"{self.expression(3)} {self.relation()} {self.expression(1)}" + self.pick("", ",")
            for _ in range(self.dice.choice([2, 2, 3]))
        ]
        return tex(r"\begin{cases} # \end{cases}", r" \\ ".join(rows))

    def matrix(self) -> str:
        rows, columns = self.dice.choice([1, 2, 2, 2, 3, 3, 4]), self.dice.choice([1, 2, 2, 3, 3, 4])
        if self.chance(0.2):
            letter = self.letter()
            grid = [
                [f"{letter}_{{11}}", r"\cdots", f"{letter}_{{1n}}"],
                [r"\vdots", r"\ddots", r"\vdots"],
                [f"{letter}_{{m1}}", r"\cdots", f"{letter}_{{mn}}"],
            ]
        else:
            cell = self.dice.choice([self.number, self.number, self.atom, self.term])
            grid = [[cell() for _ in range(columns)] for _ in range(rows)]
        body = r" \\ ".join(" & ".join(row) for row in grid)
        name = self.pick(
            "pmatrix", "pmatrix", "bmatrix", "bmatrix", "bmatrix", "vmatrix", "matrix", "Bmatrix", "Vmatrix"
        )
        made = rf"\begin{{{name}}} {body} \end{{{name}}}"
        if name == "matrix" or self.chance(0.2):
            opening, closing = self.dice.choice([("(", ")"), ("[", "]"), ("|", "|")])
            made = tex(
                r"\left# \begin{array}{#} # \end{array} \right#", opening, "c" * len(grid[0]), body, closing
            )
        made += self.pick("", "", "", "^{T}", "^{-1}", f"_{{{self.index()}}}")
        return self.pick(
            f"{self.atom()} = {made}",
            made,
            f"{made} {self.atom()} = {self.atom()}",
            f"{self.atom()} = {made} {self.operator()} {self.term()}",
        )

    def determinant(self) -> str:
        return line(self.pick(r"\det", ""), self.matrix())

    # --- calculus

    def integral(self) -> str:
        made = self.bounded_integral(self.pick(r"\int", r"\int", r"\int", r"\iint", r"\oint", r"\iiint"))
        if self.chance(0.3):
            made = f"{self.term()} {self.relation()} {made}"
        return f"{made} {self.relation()} {self.expression(3)}" if self.chance(0.75) else made

    def derivative(self) -> str:
        d = self.pick("d", "d", r"\partial", r"\partial", r"\mathrm{d}")
        order = self.pick("", "", "", "2", "n", "k")
        power = f"^{{{order}}}" if order else ""
        top = tex("## #", d, power, self.pick(self.letter(), self.letter(), ""))
        bottom = (
            f"{d} {self.letter()}{power}" if self.chance(0.85) else f"{d} {self.letter()} {d} {self.letter()}"
        )
        after = self.bracketed(self.expression(2)) if self.chance(0.15) else ""
        made = rf"\frac{{{top}}}{{{bottom}}} {after}"
        if self.chance(0.12):
            made = rf"\left. {made} \right|_{{{self.letter()}={self.number()}}}"
        return f"{made} {self.relation()} {self.expression(3)}"

    def differential(self) -> str:
        parts = [
            self.derivative().split(" = ")[0] if self.chance(0.4) else self.subscript_derivative()
            for _ in range(self.dice.randint(1, 2))
        ]
        return line(self.joined([*parts, self.term()]), self.relation(), self.pick("0", self.expression(2)))

    def subscript_derivative(self) -> str:
        return self.pick(
            rf"\frac{{\partial {self.letter()}}}{{\partial {self.letter()}}}",
            rf"\partial_{{{self.index()}}} {self.letter()}",
            tex("#_{#}", self.letter(), self.pick("xx", "t", "x_i x_j", "tt", "xy")),
            rf"\nabla^{{2}} {self.letter()}",
            rf"\Delta {self.letter()}",
            rf"\frac{{\partial^{{2}} {self.letter()}}}{{\partial {self.letter()}^{{2}}}}",
        )

    def limit(self) -> str:
        name = self.pick(r"\lim", r"\lim", r"\lim", r"\limsup", r"\liminf")
        to = self.pick("0", r"\infty", r"\infty", "a", "1", r"0^{+}", r"-\infty", self.letter())
        return tex(
            "##_{# # #} # # #",
            name,
            self.pick("", r"\limits"),
            self.letter(),
            self.pick(r"\to", r"\rightarrow"),
            to,
            self.term(),
            self.relation(),
            self.expression(2),
        )

    def series(self) -> str:
        dots = self.pick(r"\cdots", r"\cdots", r"\ldots", r"\dots")
        if self.chance(0.4):
            return f"{self.term()} {self.relation()} {self.term()} + {self.term()} + {dots} + {self.term()}"
        return f"{self.term()} {self.relation()} {self.big()} {self.relation()} {self.expression(2)}"

    def sequence(self) -> str:
        name, dots = self.letter(), self.pick(r"\ldots", r"\cdots", r"\dots")
        parts = tex("#_{1}, #_{2}, #, #_{#}", name, name, dots, name, self.pick("n", "m", "k", "N"))
        return self.pick(parts, rf"\{{ {parts} \}}", f"({parts})") + (
            f" {self.relation()} {self.expression(2)}" if self.chance(0.5) else ""
        )

    def supremum(self) -> str:
        name = self.pick(r"\sup", r"\inf", r"\max", r"\min")
        return tex(
            "#_{# # #} # # #",
            name,
            self.letter(),
            self.pick(r"\in", ">", r"\geq"),
            self.pick(self.letter(), "0", r"\mathbb{R}"),
            self.term(),
            self.relation(),
            self.expression(3),
        )

    # --- school

    def polynomial(self) -> str:
        x = self.letter()
        parts = [
            tex("# #^{#}", self.pick("", self.number()), x, power)
            for power in range(self.dice.randint(2, 5), 1, -1)
        ]
        return line(
            self.joined([*parts, self.number() + x, self.number()]),
            self.relation(),
            self.pick("0", self.expression(2)),
        )

    def trigonometry(self) -> str:
        names = r"\sin \cos \tan \cot \sec \csc \sinh \cosh \tanh \coth \arcsin \arccos \arctan"
        parts = []
        for _ in range(self.dice.randint(2, 4)):
            name = self.one_of(names) + self.pick("", "", "", "^{2}", "^{-1}")
            angle = self.pick(
                self.letter(),
                r"\theta",
                r"\alpha",
                r"2x",
                self.bracketed(self.expression(2), ("(", ")")),
                r"\frac{\pi}{" + self.pick("2", "3", "4", "6") + "}",
                r"30^{\circ}",
                r"60^\circ",
            )
            parts.append(f"{name} {angle}")
        return f"{self.joined(parts[:-1])} {self.relation()} {parts[-1]}"

    def logarithm(self) -> str:
        base = self.pick("", tex("_{#}", self.pick("2", "a", "10", "3", "b")))
        return tex(
            r"\log# # # # # # #",
            base,
            self.pick(self.atom(), self.bracketed(self.expression(2), ("(", ")"))),
            self.operator(),
            self.pick(r"\ln", r"\lg", r"\log" + base),
            self.atom(),
            self.relation(),
            self.expression(2),
        )

    def numbers(self) -> str:
        parts = [
            self.pick(
                self.number(),
                self.number(),
                rf"\frac{{{self.number()}}}{{{self.number()}}}",
                rf"\sqrt{{{self.number()}}}",
            )
            for _ in range(self.dice.randint(2, 5))
        ]
        unit = rf"\,\mathrm{{{self.dice.choice(UNITS)}}}" if self.chance(0.3) else ""
        return tex(
            "# # ###",
            self.joined(parts),
            self.pick("=", r"\approx", "=", r"\leq"),
            self.number(),
            unit,
            self.pick("", "", r"\%"),
        )

    def geometry(self) -> str:
        points = self.dice.sample(UPPER, 4)
        return self.pick(
            rf"\angle {points[0]}{points[1]}{points[2]} = {self.dice.randint(10, 170)}^{{\circ}}",
            tex(
                r"\triangle ### # \triangle ###",
                points[0],
                points[1],
                points[2],
                self.pick(r"\cong", r"\sim"),
                points[1],
                points[2],
                points[3],
            ),
            tex("## # ##", points[0], points[1], self.pick(r"\perp", r"\parallel"), points[2], points[3]),
            rf"S_{{\triangle {points[0]}{points[1]}{points[2]}}} = \frac{{1}}{{2}} {points[0]}{points[1]} \cdot {points[2]}{points[3]}",
            rf"\overrightarrow{{{points[0]}{points[1]}}} \cdot \overrightarrow{{{points[2]}{points[3]}}} = {self.expression(2)}",
            rf"\because {self.equation()}, \therefore {self.expression(1)} = {self.number()}",
            rf"\frac{{{points[0]}{points[1]}}}{{{points[2]}{points[3]}}} = {self.fraction()}",
        )

    def vectors(self) -> str:
        mark = self.pick(r"\vec", r"\overrightarrow", r"\mathbf", r"\boldsymbol")
        first, second = (tex("#{#}", mark, self.one_of("a b c v u w F E B r p n x y")) for _ in range(2))
        return line(
            first,
            self.pick(r"\cdot", r"\times", "+", "-", r"\wedge"),
            second,
            self.relation(),
            self.pick(
                self.expression(3),
                rf"|{first}| |{second}| \cos \theta",
                f"({self.number()}, {self.number()})",
            ),
        )

    # --- probability, learning

    def expectation(self) -> str:
        name = self.pick(
            r"\mathbb{E}",
            r"\mathbb{E}",
            "E",
            r"\mathrm{E}",
            r"\mathbb{P}",
            "P",
            r"\Pr",
            r"\mathrm{Var}",
            r"\operatorname{Cov}",
        )
        under = (
            tex(
                "_{# # #}",
                self.letter(),
                self.pick(r"\sim", ",", "|"),
                self.pick("p", "q", r"\mathcal{D}", r"p(x)", self.letter()),
            )
            if self.chance(0.4)
            else ""
        )
        inside = self.expression(2) + (
            tex(" # #", self.pick(r"\mid", "|", r"\,|\,", r"\geq", "="), self.expression(1))
            if self.chance(0.4)
            else ""
        )
        made = tex("## #", name, under, self.bracketed(inside, self.dice.choice([("[", "]"), ("(", ")")])))
        return f"{made} {self.relation()} {self.expression(3)}"

    def density(self) -> str:
        x = self.letter()
        return self.pick(
            tex(
                r"# = \frac{1}{\sqrt{2\pi#}} ##{-\frac{(#-\mu)^{2}}{2\sigma^{2}}}",
                self.call(),
                self.pick("", r"\sigma^2"),
                self.pick(r"e", r"\exp"),
                self.pick("^", "^"),
                x,
            ),
            tex(
                r"# \sim \mathcal{N} #",
                x,
                self.bracketed(
                    self.pick(
                        r"\mu, \sigma^{2}", "0, 1", r"0, \sigma^2 I", r"\boldsymbol{\mu}, \boldsymbol{\Sigma}"
                    ),
                    ("(", ")"),
                ),
            ),
            rf"{self.call()} = \frac{{{self.call()} {self.call()}}}{{{self.big()}}}",
            tex(r"# \propto \exp #", self.call(), self.bracketed("-" + self.expression(2), ("(", ")"))),
        )

    def estimate(self) -> str:
        name = self.pick(
            r"\hat{\theta}",
            r"\bar{X}",
            r"\hat{\mu}",
            r"\hat{\sigma}^{2}",
            "S^{2}",
            r"\hat{\beta}",
            r"\widehat{\sigma}",
        )
        n = self.pick("n", "N", "n-1", "m")
        return tex(
            r"## = \frac{1}{#} \sum_{i=1}^{#} # #",
            name,
            self.pick("", "_{n}"),
            n,
            n[0],
            self.pick(self.term(), r"(x_i - \bar{x})^2", "X_{i}"),
            self.pick("", self.relation() + " " + self.expression(2)),
        )

    def hypothesis(self) -> str:
        return tex(
            "H_{#}: # # #", self.pick("0", "1"), self.atom(), self.relation(), self.pick("0", self.atom())
        )

    def binomial(self) -> str:
        n, k = self.pick("n", "m", "N", "n+1"), self.pick("k", "r", "i", "j")
        made = rf"\binom{{{n}}}{{{k}}}"
        return self.pick(
            rf"{made} = \frac{{{n}!}}{{{k}!({n}-{k})!}}",
            rf"\sum_{{{k}=0}}^{{{n}}} {made} {self.term()} = {self.expression(2)}",
            f"{made} p^{{{k}}} (1-p)^{{{n}-{k}}}",
            f"C_{{{n}}}^{{{k}}} = {self.term()}",
        )

    def loss(self) -> str:
        name = self.pick(r"\mathcal{L}", r"\mathcal{L}", "L", "J", r"\ell", r"\mathcal{J}") + self.pick(
            "",
            tex(r"_{\text{#}}", self.one_of("total cls reg rec adv KL CE MSE train task aux")),
            r"(\theta)",
            f"_{{{self.index()}}}",
        )
        parts = [
            self.pick(
                self.big(),
                self.term(),
                tex(
                    r"\lambda_{#} \mathcal{L}_{\mathrm{#}}",
                    self.index(),
                    self.one_of("rec adv reg cls GAN sim"),
                ),
                rf"\frac{{1}}{{N}} {self.big()}",
                self.norm_of(),
            )
            for _ in range(self.dice.randint(1, 3))
        ]
        return tex("# = # #", name, self.pick("", "-"), self.joined(parts))

    def argmax(self) -> str:
        name = self.pick(
            r"\arg\max",
            r"\arg\min",
            r"\operatorname*{arg\,max}",
            r"\operatorname*{arg\,min}",
            r"\min",
            r"\max",
            r"\underset{\theta}{\arg\min}",
            r"\mathop{\mathrm{argmin}}",
        )
        under = (
            tex("_{##}", self.letter(), self.pick("", r" \in " + self.letter()))
            if not name.startswith(r"\underset")
            else ""
        )
        return f"{self.atom()} = {name}{under} {self.expression(3)}"

    def softmax(self) -> str:
        e = self.pick(r"\exp(", "e^{")
        close = ")" if "(" in e else "}"
        return tex(
            r"# = \frac{###}{\sum_{j#}^{#} ###}",
            self.call(),
            e,
            self.flat(),
            close,
            self.pick("", "=1"),
            self.pick("K", "N", "n"),
            e,
            self.flat(),
            close,
        )

    def attention(self) -> str:
        return tex(
            r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax} # V #",
            self.bracketed(tex(r"\frac{Q K^{#}}{\sqrt{d_{k}}}", self.pick("T", r"\top")), ("(", ")")),
            self.pick("", self.operator() + " " + self.term()),
        )

    def gradient(self) -> str:
        return tex(
            r"# # # - \eta \nabla_{#} #",
            self.atom(),
            self.pick(r"\leftarrow", "=", ":="),
            self.atom(),
            self.letter(),
            self.call(),
        )

    def norm_of(self) -> str:
        mark = self.pick(r"\|", r"\Vert", r"\|", "|")
        inside = self.expression(2)
        tall = r"\frac" in inside or r"\sum" in inside or r"\int" in inside
        made = (
            rf"\left{mark} {inside} \right{mark}" if tall or self.chance(0.4) else f"{mark} {inside} {mark}"
        )
        return made + self.pick(
            "",
            "^{2}",
            "_{2}",
            "_{2}^{2}",
            "_{1}",
            "_{F}",
            r"_{\infty}",
            r"_{L^{2}(\Omega)}",
            "_{H^{1}}",
            "_{p}^{p}",
        )

    def norm(self) -> str:
        return line(
            self.norm_of(),
            self.relation(),
            self.pick("C", "", "", self.term()),
            self.norm_of(),
            self.pick("", self.operator() + " " + self.norm_of()),
        )

    # --- physics

    def braket(self) -> str:
        bra, ket = self.letter(), self.pick(self.letter(), "0", r"\psi", "n")
        middle = self.pick("", tex("#{#} |", self.pick("", chr(92) + "hat"), self.dice.choice(UPPER)))
        return tex(
            r"\langle # | # # \rangle # # #",
            bra,
            middle,
            ket,
            self.relation(),
            self.expression(2),
            self.pick("", rf"| {ket} \rangle", rf"| {ket} \rangle \langle {bra} |"),
        )

    def commutator(self) -> str:
        left, right = self.pick("[", "[", r"\{"), ""
        right = "]" if left == "[" else r"\}"
        return tex(
            "## = # #",
            self.bracketed(f"{self.atom()}, {self.atom()}", (left, right)),
            self.pick("", "", "_{+}"),
            self.pick(r"i \hbar", "", "-", "i"),
            self.term(),
        )

    def tensor(self) -> str:
        greek = r"\mu \nu \alpha \beta \rho \sigma \lambda i j k"
        parts = []
        for _ in range(self.dice.randint(2, 4)):
            low = " ".join(self.one_of(greek) for _ in range(self.dice.randint(1, 3)))
            high = " ".join(self.one_of(greek) for _ in range(self.dice.randint(1, 3)))
            base = self.pick(
                self.letter(), "g", "R", r"\Gamma", "T", "F", r"\partial", r"\varepsilon", r"\delta", r"\eta"
            )
            parts.append(
                self.pick(
                    f"{base}_{{{low}}}",
                    f"{base}^{{{high}}}",
                    f"{base}_{{{low}}}^{{{high}}}",
                    f"{base}^{{{high}}}{{}}_{{{low}}}",
                )
            )
        cut = self.dice.randint(1, len(parts) - 1)
        return line(" ".join(parts[:cut]), self.relation(), self.joined(parts[cut:]))

    def nabla(self) -> str:
        nabla = self.pick(r"\nabla", r"\nabla", r"\boldsymbol{\nabla}", r"\vec{\nabla}")
        parts = [
            line(nabla, self.pick(r"\cdot", r"\times", "", r"\otimes"), self.atom())
            for _ in range(self.dice.randint(1, 2))
        ]
        return f"{self.joined(parts)} {self.relation()} {self.expression(3)}"

    def exponential(self) -> str:
        return tex(
            "# = # e^{##} #",
            self.call(),
            self.atom(),
            self.pick("-", "", "i"),
            self.pick(self.flat(), self.fraction(), r"i \omega t", r"\mathbf{k} \cdot \mathbf{r}"),
            self.pick("", self.operator() + " " + self.term()),
        )

    def units(self) -> str:
        unit = tex(r"\mathrm{#}#", self.dice.choice(UNITS), self.pick("", "", "^{2}", "^{-1}", "^{3}"))
        if self.chance(0.3):
            unit += self.pick(r" \cdot ", "/", r"\,") + tex(
                r"\mathrm{#}#", self.dice.choice(UNITS), self.pick("", "^{-1}")
            )
        return line(
            self.atom(),
            self.pick("=", "=", r"\approx", r"\sim"),
            self.number(),
            self.pick("", r"\pm " + self.number()),
            self.pick(r"\,", "~", r"\ "),
            unit,
        )

    # --- algebra, sets, logic

    def set(self) -> str:
        x = self.atom()
        condition = ", ".join(
            f"{self.expression(1)} {self.relation()} {self.expression(2)}"
            for _ in range(self.dice.choice([1, 1, 2]))
        )
        inside = line(
            x,
            self.pick("", r"\in " + self.letter(), r"\in \mathbb{R}"),
            self.pick(r"\mid", ":", "|", r"\,:\,"),
            condition,
        )
        return line(
            self.atom(),
            self.pick("=", "=", ":=", r"\subset", r"\in"),
            self.bracketed(inside, (chr(92) + "{", chr(92) + "}")),
        )

    def arrow(self) -> str:
        kind = self.pick(
            r"\to",
            r"\rightarrow",
            r"\mapsto",
            r"\longrightarrow",
            r"\hookrightarrow",
            r"\Rightarrow",
            rf"\xrightarrow{{{self.flat()}}}",
            rf"\xleftarrow{{{self.flat()}}}",
            r"\rightharpoonup",
            r"\longmapsto",
        )
        first = (
            tex("#: # #", self.letter(), self.atom(), self.pick("", r"\times " + self.atom()))
            if self.chance(0.6)
            else self.term()
        )
        return line(first, kind, self.atom(), self.pick("", kind + " " + self.atom()))

    def modular(self) -> str:
        return tex(
            r"# \equiv # #{#}",
            self.expression(2),
            self.expression(1),
            self.pick(r"\pmod", r"\pmod", r"\bmod"),
            self.pick("p", "n", "m", self.number()),
        )

    def group(self) -> str:
        return tex(
            "# # # / # # #",
            self.term(),
            self.pick(r"\cong", "=", r"\simeq"),
            self.pick(r"\mathbb{Z}", self.letter()),
            self.atom(),
            self.pick(r"\oplus", r"\times", r"\otimes"),
            self.term(),
        )

    def quotient(self) -> str:
        return f"{self.atom()} / {self.atom()} {self.relation()} {self.expression(2)}"

    def transpose(self) -> str:
        t = self.pick("^{T}", r"^{\top}", r"^{\mathrm{T}}", "^{-1}", "^{*}", r"^{\dagger}", "^{H}")
        parts = [self.letter() + (t if self.chance(0.5) else "") for _ in range(self.dice.randint(2, 5))]
        return line(" ".join(parts), self.relation(), self.expression(3))

    def quantified(self) -> str:
        parts = [
            line(
                self.pick(r"\forall", r"\exists", r"\exists !", r"\nexists"),
                self.letter(),
                self.pick("", r"\in " + self.letter(), "> 0"),
            )
            for _ in range(self.dice.randint(1, 2))
        ]
        body = f"{self.expression(1)} {self.relation()} {self.expression(2)}"
        if self.chance(0.5):
            body += tex(
                " # # # #",
                self.pick(r"\Rightarrow", r"\wedge", r"\vee", r"\Leftrightarrow", r"\implies", r"\iff"),
                self.expression(1),
                self.relation(),
                self.expression(1),
            )
        return tex(
            "## #",
            ", ".join(parts),
            self.pick(", ", ": ", " "),
            self.pick(body, body, r"\neg " + self.bracketed(body, ("(", ")"))),
        )

    def complexity(self) -> str:
        return line(
            self.pick("O", r"\mathcal{O}", r"\Theta", r"\Omega", "o"),
            self.bracketed(self.expression(2), ("(", ")")),
            self.pick("", self.relation() + " " + self.expression(1)),
        )

    # --- chemistry

    def reaction(self) -> str:
        arrow = self.pick(
            r"\rightarrow",
            r"\longrightarrow",
            "=",
            r"\rightleftharpoons",
            r"\xrightarrow{\Delta}",
            r"\uparrow",
            r"\to",
        )
        left = " + ".join(self.compound() for _ in range(self.dice.randint(1, 2)))
        right = " + ".join(self.compound() for _ in range(self.dice.randint(1, 3)))
        return tex("# # ##", left, arrow, right, self.pick("", "", r"\uparrow", r"\downarrow"))

    def compound(self) -> str:
        made = self.pick("", "", "", "2", "3", "4")
        for _ in range(self.dice.randint(1, 3)):
            made += rf"\mathrm{{{self.dice.choice(ELEMENTS)}}}" + self.pick("", "", "_{2}", "_{3}", "_{4}")
        if self.chance(0.25):
            made += tex("^{#}", self.pick("+", "-", "2+", "2-", "3+"))
        return made
