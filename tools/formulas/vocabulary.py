"""The tokens that the recogniser writes: one spelling for each glyph, a few hundred in all.

A brace that must follow a command is part of the command's token, and so is the one between two arguments:
a third fewer steps for the decoder. `encode` and `decode` hide this.
The order is part of the weights. Add new tokens at the end of a trained model's list, never between.
"""

from __future__ import annotations

from collections.abc import Sequence

PAD, START, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
SPECIAL = (PAD, START, END, UNKNOWN)

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
MARKS = '+ - = < > / | ( ) [ ] , . ; : ! ? * ~ ` " @ { } _ ^ &'.split()
ESCAPED = r"\{ \} \| \% \# \$ \& \\".split()
GREEK = r"""
    \alpha \beta \gamma \delta \epsilon \varepsilon \zeta \eta \theta \vartheta \iota \kappa \lambda \mu \nu \xi
    \pi \varpi \rho \varrho \sigma \varsigma \tau \upsilon \phi \varphi \chi \psi \omega
    \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega
""".split()
FUNCTIONS = r"""
    \sin \cos \tan \cot \sec \csc \sinh \cosh \tanh \coth \arcsin \arccos \arctan \log \ln \lg \exp \lim \limsup
    \liminf \max \min \sup \inf \arg \det \dim \ker \deg \gcd \hom \Pr
""".split()
BIG = r"""
    \sum \prod \coprod \int \iint \iiint \oint \bigcup \bigcap \bigoplus \bigotimes \bigwedge \bigvee \bigsqcup
""".split()
RELATIONS = r"""
    \leq \geq \neq \equiv \approx \sim \simeq \cong \propto \ll \gg \prec \succ \preceq \succeq \subset \supset
    \subseteq \supseteq \subsetneq \in \ni \notin \perp \parallel \models \vdash \asymp \doteq \lesssim \gtrsim
    \leqslant \geqslant \triangleq \nmid \Vdash \bowtie
""".split()
OPERATORS = r"""
    \times \cdot \div \pm \mp \circ \bullet \oplus \ominus \otimes \odot \wedge \vee \cap \cup \sqcup \sqcap \star
    \dagger \ddagger \wr \diamond \backslash \uplus \amalg
""".split()
ARROWS = r"""
    \rightarrow \leftarrow \leftrightarrow \Rightarrow \Leftarrow \Leftrightarrow \longrightarrow \longleftarrow
    \Longrightarrow \Longleftrightarrow \mapsto \longmapsto \hookrightarrow \uparrow \downarrow \Uparrow
    \Downarrow \nearrow \searrow \rightharpoonup \rightleftharpoons \rightsquigarrow \updownarrow
    \xrightarrow \xleftarrow
""".split()
OTHERS = r"""
    \infty \partial \nabla \forall \exists \nexists \neg \emptyset \varnothing \aleph \hbar \ell \Re \Im \wp \imath
    \jmath \angle \triangle \square \prime \top \bot \ldots \cdots \vdots \ddots \therefore \because \complement
    \langle \rangle \lfloor \rfloor \lceil \rceil \quad \tag \degree \checkmark \clubsuit \spadesuit \flat \sharp
    \surd \S \blacksquare \diamondsuit \heartsuit
""".split()
COMMANDS = r"""
    \frac \binom \sqrt \overline \underline \hat \widehat \tilde \widetilde \bar \vec \overrightarrow \dot \ddot
    \dddot \check \breve \acute \grave \mathring \overbrace \underbrace \overset \underset \substack
    \mathrm \mathbf \mathbb \mathcal \mathfrak \mathsf \mathtt \boldsymbol
""".split()
FENCES = r"( ) [ ] | \| \{ \} \langle \rangle \lfloor \rfloor \lceil \rceil . / \backslash \uparrow \downarrow".split()
OPENING = frozenset(["_", "^", *COMMANDS]) - {r"\sqrt"}  # their tokens stand for "_ {" and so on
BETWEEN = "}{"
ENVIRONMENTS = "matrix pmatrix bmatrix vmatrix Bmatrix Vmatrix cases aligned".split()

TOKENS: tuple[str, ...] = tuple(
    dict.fromkeys(
        [
            *SPECIAL,
            *LETTERS,
            *DIGITS,
            *MARKS,
            *ESCAPED,
            BETWEEN,
            *GREEK,
            *FUNCTIONS,
            *BIG,
            *RELATIONS,
            *OPERATORS,
            *ARROWS,
            *OTHERS,
            *COMMANDS,
            *(f"\\{side}{fence}" for side in ("left", "right") for fence in FENCES),
            *(f"\\{side}{{{name}}}" for name in ENVIRONMENTS for side in ("begin", "end")),
        ]
    )
)
NUMBERS = {token: number for number, token in enumerate(TOKENS)}
PAD_ID, START_ID, END_ID, UNKNOWN_ID = (NUMBERS[token] for token in SPECIAL)


def written(token: str) -> str:
    """The LaTeX that a token stands for."""
    return (
        ""
        if token in SPECIAL
        else "} {"
        if token == BETWEEN
        else f"{token} {{"
        if token in OPENING
        else token
    )


def encode(tokens: Sequence[str]) -> list[int]:
    """Returns the numbers of a normal form's tokens, between those of the start and the end."""
    numbers = [START_ID]
    last = ""
    for token in tokens:
        if token == "{" and last == "}":
            numbers[-1] = NUMBERS[BETWEEN]
        elif token != "{" or last not in OPENING:
            numbers.append(NUMBERS.get(token, UNKNOWN_ID))
        last = token
    return [*numbers, END_ID]


def decode(numbers: Sequence[int]) -> list[str]:
    """Returns the tokens of the normal form up to the end, without the special ones."""
    found: list[str] = []
    for number in numbers:
        if number == END_ID:
            break
        found += written(TOKENS[number]).split()
    return found
