"""Which LaTeX commands mean the same picture, and how many arguments each takes."""

from __future__ import annotations

from vocabulary import BIG, FUNCTIONS, GREEK, RELATIONS

SAME = {
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\ne": r"\neq",
    r"\to": r"\rightarrow",
    r"\gets": r"\leftarrow",
    r"\land": r"\wedge",
    r"\lor": r"\vee",
    r"\lnot": r"\neg",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\lbrack": "[",
    r"\rbrack": "]",
    r"\vert": "|",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\mid": "|",
    r"\Vert": r"\|",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
    r"\colon": ":",
    r"\ast": "*",
    r"\setminus": r"\backslash",
    r"\smallsetminus": r"\backslash",
    r"\implies": r"\Longrightarrow",
    r"\impliedby": r"\Leftarrow",
    r"\iff": r"\Longleftrightarrow",
    r"\dots": r"\ldots",
    r"\dotsc": r"\ldots",
    r"\dotso": r"\ldots",
    r"\hdots": r"\ldots",
    r"\mathellipsis": r"\ldots",
    r"\dotsb": r"\cdots",
    r"\dotsm": r"\cdots",
    r"\dotsi": r"\cdots",
    r"\owns": r"\ni",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\cfrac": r"\frac",
    r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\bm": r"\boldsymbol",
    r"\pmb": r"\boldsymbol",
    r"\mathbfit": r"\boldsymbol",
    r"\textbf": r"\mathbf",
    r"\bold": r"\mathbf",
    r"\text": r"\mathrm",
    r"\textrm": r"\mathrm",
    r"\textnormal": r"\mathrm",
    r"\textup": r"\mathrm",
    r"\mbox": r"\mathrm",
    r"\hbox": r"\mathrm",
    r"\operatorname": r"\mathrm",
    r"\operatorname*": r"\mathrm",
    r"\operatornamewithlimits": r"\mathrm",
    r"\mathscr": r"\mathcal",
    r"\cal": r"\mathcal",
    r"\Bbb": r"\mathbb",
    r"\frak": r"\mathfrak",
    r"\texttt": r"\mathtt",
    r"\textsf": r"\mathsf",
    r"\stackrel": r"\overset",
    r"\bigtriangleup": r"\triangle",
    r"\vartriangle": r"\triangle",
    r"\Box": r"\square",
    r"\colonequals": ":=",
    r"\coloneqq": ":=",
    r"\hslash": r"\hbar",
    r"\thickapprox": r"\approx",
    r"\thicksim": r"\sim",
    r"\lnapprox": r"\lesssim",
    r"\leqq": r"\leq",
    r"\geqq": r"\geq",
    r"\subsetneqq": r"\subsetneq",
    r"\eqsim": r"\simeq",
    r"\longleftrightarrow": r"\leftrightarrow",
    r"\Longleftarrow": r"\Leftarrow",
    r"\hookleftarrow": r"\leftarrow",
    r"\gt": ">",
    r"\lt": "<",
    r"\Rightleftharpoons": r"\rightleftharpoons",
    r"\centerdot": r"\cdot",
    r"\cdotp": r"\cdot",
    r"\oiint": r"\oint",
    r"\varlimsup": r"\limsup",
    r"\varliminf": r"\liminf",
    r"\bigstar": r"\star",
    r"\lozenge": r"\diamond",
    **{f"\\var{name[1:]}": name for name in GREEK if name[1].isupper()},
}
UNICODE = {
    "，": ",",
    "。": ".",
    "；": ";",
    "：": ":",
    "（": "(",
    "）": ")",
    "′": "'",
    "’": "'",
    "−": "-",
    "–": "-",
    "×": r"\times",
    "÷": r"\div",
    "±": r"\pm",
    "·": r"\cdot",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "∞": r"\infty",
    "∂": r"\partial",
    "→": r"\rightarrow",
    "∈": r"\in",
    "…": r"\ldots",
    "△": r"\triangle",
    "∠": r"\angle",
    "∑": r"\sum",
    "∫": r"\int",
    "π": r"\pi",
    "α": r"\alpha",
    "β": r"\beta",
    "γ": r"\gamma",
    "θ": r"\theta",
    "λ": r"\lambda",
    "μ": r"\mu",
    "σ": r"\sigma",
    "ω": r"\omega",
    "Δ": r"\Delta",
    "Ω": r"\Omega",
}
# what leaves no ink of its own, or ink that the normal form does not tell apart
DROPPED = frozenset(
    r"""
    \limits \nolimits \displaystyle \textstyle \scriptstyle \scriptscriptstyle \nonumber \notag \, \! \; \: \> \/
    \thinspace \enspace \big \Big \bigg \Bigg \bigl \bigr \bigm \Bigl \Bigr \Bigm \biggl \biggr \biggm \Biggl \Biggr
    \hfill \strut \mathstrut \relax \allowbreak \hline \mathop \mathbin \mathrel \mathord \mathopen \mathclose
    \mathpunct \mathinner \smash \ensuremath \rm \it \mit \normalsize \small \boldmath \middle \mathit \textit
    \mathnormal \emph \boxed \fbox \negthinspace \medspace \thickspace \protect \vcenter \unboldmath
    """.split()
) | {"$", "\\-"}
SPACES = frozenset([r"\quad", r"\qquad"])
HIDDEN = frozenset(
    r"\phantom \vphantom \hphantom \label \hspace \hspace* \vspace \vspace* \color \textcolor \mspace \hskip".split()
)
SWITCHES = {r"\bf": r"\mathbf", r"\cal": r"\mathcal", r"\sf": r"\mathsf", r"\tt": r"\mathtt"}

STYLES = frozenset(r"\mathrm \mathbf \mathbb \mathcal \mathfrak \mathsf \mathtt \boldsymbol".split())
ACCENTS = {
    r"\hat": r"\widehat",
    r"\tilde": r"\widetilde",
    r"\bar": r"\overline",
    r"\vec": r"\overrightarrow",
}
WIDE = {wide: short for short, wide in ACCENTS.items()}
ONE = STYLES | frozenset(ACCENTS) | frozenset(WIDE)
ONE |= frozenset(
    r"""
    \underline \dot \ddot \dddot \check \breve \acute \grave \mathring \overbrace \underbrace \substack \sqrt \tag
    \xrightarrow \xleftarrow \pmod \not
    """.split()
)
TWO = frozenset(r"\frac \binom \overset \underset".split())
INFIX = {r"\over": r"\frac", r"\choose": r"\binom", r"\atop": r"\substack"}
FUNCTION_WORDS = {name[1:]: name for name in FUNCTIONS}
RELATION_MARKS = frozenset([*RELATIONS, "=", "<", ">"])
RELATION_MARKS |= frozenset(
    r"\rightarrow \Rightarrow \Longrightarrow \Leftrightarrow \Longleftrightarrow".split()
)
TALL = frozenset(
    [*BIG, r"\frac", r"\binom", r"\overbrace", r"\underbrace", r"\substack", r"\overset", r"\underset"]
)
ENVIRONMENT_NAMES = {
    **dict.fromkeys(
        "align align* aligned alignedat alignat alignat* split eqnarray eqnarray* gather gather* gathered multline "
        "multline* equation equation* flalign flalign*".split(),
        "aligned",
    ),
    **{name: name for name in "matrix pmatrix bmatrix vmatrix Bmatrix Vmatrix cases".split()},
    "smallmatrix": "matrix",
    "dcases": "cases",
    "rcases": "cases",
    "array": "array",
    "tabular": "array",
}
