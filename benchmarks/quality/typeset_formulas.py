"""Scores formulas set by Typst in New Computer Modern Math: read from the text layer, and from pictures.

    python benchmarks/quality/typeset_formulas.py [--out OUT]

Needs the package `typst`. A formula is right when its LaTeX is the truth's but for spaces, braces and whether
brackets grow. The last 20 were written before they were first read. Pictures are the pages at 150 dpi; the
network was trained on this font, set by MathJax. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from penstock.documents.formulas import layer_formula
from penstock.engines.formula.reader import FormulaReader
from penstock.engines.formula.weights import formula_weights
from penstock.engines.pdf.file import PdfFile

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import REPOSITORY

DPI = 150
HEAD = "#set page(width: 400pt, height: 200pt, margin: 40pt)\n"
PAIRS = [  # Typst, LaTeX
    ("x = (-b plus.minus sqrt(b^2 - 4 a c)) / (2 a)", r"x = \frac{- b \pm \sqrt{b^{2} - 4 a c}}{2 a}"),
    ("sum_(i=1)^n i = (n (n + 1)) / 2", r"\sum_{i = 1}^{n} i = \frac{n ( n + 1 )}{2}"),
    (
        "integral_0^infinity e^(-x^2) dif x = sqrt(pi) / 2",
        r"\int_{0}^{\infty} e^{- x^{2}} d x = \frac{\sqrt{\pi}}{2}",
    ),
    ("E = m c^2", "E = m c^{2}"),
    ("a_(i j) = b_i + c_j^2", "a_{i j} = b_{i} + c_{j}^{2}"),
    (
        "lim_(n -> infinity) (1 + 1/n)^n = e",
        r"\lim_{n \rightarrow \infty} \left( 1 + \frac{1}{n} \right)^{n} = e",
    ),
    (
        "nabla times bold(E) = - (partial bold(B)) / (partial t)",
        r"\nabla \times \mathbf{E} = - \frac{\partial \mathbf{B}}{\partial t}",
    ),
    (
        "f(x) = 1/(sigma sqrt(2 pi)) e^(-(x - mu)^2 / (2 sigma^2))",
        r"f ( x ) = \frac{1}{\sigma \sqrt{2 \pi}} e^{- \frac{( x - \mu )^{2}}{2 \sigma^{2}}}",
    ),
    ("P(A|B) = (P(B|A) P(A)) / P(B)", r"P ( A | B ) = \frac{P ( B | A ) P ( A )}{P ( B )}"),
    (
        "cal(L)(theta) = product_(i=1)^N p(x_i | theta)",
        r"\mathcal{L} ( \theta ) = \prod_{i = 1}^{N} p ( x_{i} | \theta )",
    ),
    ("x in RR, n >= 1, y != 0", r"x \in \mathbb{R} , n \geq 1 , y \neq 0"),
    ("sin^2 theta + cos^2 theta = 1", r"\sin^{2} \theta + \cos^{2} \theta = 1"),
    ("hat(y) = W^top x + b", r"\hat{y} = W^{\top} x + b"),
    ("norm(x)_2 = sqrt(sum_(i=1)^d x_i^2)", r"\| x \|_{2} = \sqrt{\sum_{i = 1}^{d} x_{i}^{2}}"),
    ("Delta E <= planck omega", r"\Delta E \leq \hbar \omega"),
    ("max_(x in X) f(x)", r"\max_{x \in X} f ( x )"),
    ("(a/b)/(c/d) = (a d)/(b c)", r"\frac{\frac{a}{b}}{\frac{c}{d}} = \frac{a d}{b c}"),
    ("log_2 (x y) = log_2 x + log_2 y", r"\log_{2} ( x y ) = \log_{2} x + \log_{2} y"),
    (
        "alpha beta gamma delta epsilon.alt lambda mu pi rho sigma phi.alt psi omega",
        r"\alpha \beta \gamma \delta \epsilon \lambda \mu \pi \rho \sigma \phi \psi \omega",
    ),
    ("overline(z) = a - b i", r"\overline{z} = a - b i"),
    ("A union B subset.eq C inter D", r"A \cup B \subseteq C \cap D"),
    (
        "f'(x) = lim_(h -> 0) (f(x + h) - f(x)) / h",
        r"f^{\prime} ( x ) = \lim_{h \rightarrow 0} \frac{f ( x + h ) - f ( x )}{h}",
    ),
    ("root(3, x + 1)", r"\sqrt[3]{x + 1}"),
    ("x^(y^z) + a_(b_c)", "x^{y^{z}} + a_{b_{c}}"),
    ("1 + 1/(1 + 1/(1 + x))", r"1 + \frac{1}{1 + \frac{1}{1 + x}}"),
    ("integral.cont bold(F) dot dif bold(r) = 0", r"\oint \mathbf{F} \cdot d \mathbf{r} = 0"),
    ('"rate" = "distance" / "time"', r"\mathrm{rate} = \frac{\mathrm{distance}}{\mathrm{time}}"),
    ("forall epsilon > 0 exists delta > 0", r"\forall \varepsilon > 0 \exists \delta > 0"),
    ("T(n) = 2 T(n/2) + n log n", r"T ( n ) = 2 T \left( \frac{n}{2} \right) + n \log n"),
    (r"a x + b y &= c \ d x + e y &= f", r"\begin{aligned} a x + b y = c \\ d x + e y = f \end{aligned}"),
    ("bold(A) bold(x) = lambda bold(x)", r"\mathbf{A} \mathbf{x} = \lambda \mathbf{x}"),
    ("(dif y) / (dif x) + P(x) y = Q(x)", r"\frac{d y}{d x} + P ( x ) y = Q ( x )"),
    ("F = G (m_1 m_2) / r^2", r"F = G \frac{m_{1} m_{2}}{r^{2}}"),
    ("p_k = binom(n, k) q^k", r"p_{k} = \binom{n}{k} q^{k}"),
    ("abs(x - y) <= abs(x) + abs(y)", r"| x - y | \leq | x | + | y |"),
    (
        "Gamma(z) = integral_0^infinity t^(z - 1) e^(-t) dif t",
        r"\Gamma ( z ) = \int_{0}^{\infty} t^{z - 1} e^{- t} d t",
    ),
    ("x_(n + 1) = x_n - f(x_n) / (f'(x_n))", r"x_{n + 1} = x_{n} - \frac{f ( x_{n} )}{f^{\prime} ( x_{n} )}"),
    (
        "pi/4 = sum_(k=0)^infinity (-1)^k / (2 k + 1)",
        r"\frac{\pi}{4} = \sum_{k = 0}^{\infty} \frac{( - 1 )^{k}}{2 k + 1}",
    ),
    (
        "vec(a, b) = mat(1, 2; 3, 4)",
        r"\begin{pmatrix} a \\ b \end{pmatrix} = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    ),
    (
        "overline(A union B) = overline(A) inter overline(B)",
        r"\overline{A \cup B} = \overline{A} \cap \overline{B}",
    ),
    ("H = - sum_i p_i log p_i", r"H = - \sum_{i} p_{i} \log p_{i}"),
    (
        "sigma = sqrt(1/N sum_(i=1)^N (x_i - mu)^2)",
        r"\sigma = \sqrt{\frac{1}{N} \sum_{i = 1}^{N} ( x_{i} - \mu )^{2}}",
    ),
    ("hat(beta) = (X^top X)^(-1) X^top y", r"\hat{\beta} = ( X^{\top} X )^{- 1} X^{\top} y"),
    ("v = v_0 + a t, s = v_0 t + 1/2 a t^2", r"v = v_{0} + a t , s = v_{0} t + \frac{1}{2} a t^{2}"),
    ("tan alpha = (sin alpha) / (cos alpha)", r"\tan \alpha = \frac{\sin \alpha}{\cos \alpha}"),
    (
        "ZZ subset QQ subset RR subset CC",
        r"\mathbb{Z} \subset \mathbb{Q} \subset \mathbb{R} \subset \mathbb{C}",
    ),
    (
        "integral_a^b f(x) dif x approx (b - a)/6 [f(a) + 4 f((a + b)/2) + f(b)]",
        r"\int_{a}^{b} f ( x ) d x \approx \frac{b - a}{6} \left[ f ( a ) + 4 f "
        r"\left( \frac{a + b}{2} \right) + f ( b ) \right]",
    ),
    (
        "(partial^2 u) / (partial x^2) = 1/c^2 (partial^2 u) / (partial t^2)",
        r"\frac{\partial^{2} u}{\partial x^{2}} = \frac{1}{c^{2}} \frac{\partial^{2} u}{\partial t^{2}}",
    ),
    ("e^(i pi) + 1 = 0", r"e^{i \pi} + 1 = 0"),
    (
        "min_theta 1/n sum_(i=1)^n ell(f_theta (x_i), y_i)",
        r"\min_{\theta} \frac{1}{n} \sum_{i = 1}^{n} \ell ( f_{\theta} ( x_{i} ) , y_{i} )",
    ),
]


def bare(latex: str | None) -> str:
    return re.sub(r"[\s{}]|\\left|\\right", "", latex or "")


def typeset(file: Path) -> None:
    import typst

    file.parent.mkdir(parents=True, exist_ok=True)
    pages = "\n#pagebreak()\n".join(f"$ {source} $" for source, _ in PAIRS)
    file.write_bytes(typst.compile((HEAD + pages).encode()))


def read(file: Path) -> list[str | None]:
    with PdfFile(str(file)) as pages:
        found = []
        for number in range(len(PAIRS)):
            size = pages.size(number, dpi=DPI, max_side=5000)
            layer = pages.layer(number, size)
            found.append(layer_formula(layer.words, layer.strokes, (0, 0, size.width, size.height)))
    return found


def read_pictures(file: Path) -> list[str | None]:
    weights = formula_weights()
    if weights is None:
        raise SystemExit("There are no weights of the formula reader.")
    reader = FormulaReader(weights, threads=2)
    with PdfFile(str(file)) as pages:
        sizes = [pages.size(number, dpi=DPI, max_side=5000) for number in range(len(PAIRS))]
        return [reader.read_formula(pages.render(number, size))[0] for number, size in enumerate(sizes)]


def num_right(way: str, found: Sequence[str | None]) -> int:
    right = 0
    for (_, truth), said in zip(PAIRS, found, strict=True):
        if bare(said) == bare(truth):
            right += 1
        else:
            print(f"{way}: wanted {truth}\n{' ' * len(way)}     got {said}")
    return right


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "typeset_formulas")
    file = parser.parse_args().out / "formulas.pdf"
    typeset(file)
    from_layer, from_pictures = num_right("layer", read(file)), num_right("picture", read_pictures(file))
    print(json.dumps({"formulas": len(PAIRS), "from_layer": from_layer, "from_pictures": from_pictures}))


if __name__ == "__main__":
    main()
