"""Which glyphs draw which token, so that training can say where in a picture a token stands.

Letters of all alphabets count as the plain letter: a label writes a bold x as x inside of a style.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from functools import cache

from vocabulary import FUNCTIONS, TOKENS

# token and glyph, in turn; found by counting which of both occur equally often in formulas
SIGNS = r"""
    - − \times × \cdot ⋅ \sqrt √ \pm ± \prime ′ \in ∈ \hat ˆ | ∣ \int ∫ \theta 𝜃 \bar ¯ \sum ∑ * ∗ \leq ≤ \mu 𝜇 \sigma 𝜎
    \prod ∏ \phi 𝜙 \geq ≥ \equiv ≡ \alpha 𝛼 \tilde ˜ \neq ≠ \infty ∞ \dot ˙ \lambda 𝜆 \approx ≈ \rho 𝜌 \beta 𝛽 \vec ⃗
    \Omega Ω \forall ∀ \partial 𝜕 \epsilon 𝜖 \dagger † \top ⊤ \eta 𝜂 \omega 𝜔 \pi 𝜋 \delta 𝛿 \tau 𝜏 \cdots ⋯ \wedge ∧
    \ldots … \psi 𝜓 \| ‖ \Gamma Γ \ddot ¨ \varphi 𝜑 \nu 𝜈 \oplus ⊕ \div ÷ \sim ∼ \cup ∪ \cap ∩ \circ ∘ \acute ´ \grave `
    \breve ˘ \check ˇ \dddot ⃛ \mathring ˚ \subset ⊂ \xi 𝜉 \Phi Φ \varepsilon 𝜀 \vee ∨ \Rightarrow ⇒ \oint ∮ \nabla ∇
    \otimes ⊗ \hbar ℏ \Psi Ψ \backslash ∖ \gamma 𝛾 \iint ∬ \subseteq ⊆ \star ⋆ \Delta Δ \exists ∃ \propto ∝ \kappa 𝜅
    \Lambda Λ \because ∵ \perp ⟂ \vdots ⋮ \ddots ⋱ \notin ∉ \therefore ∴ \leqslant ⩽ \bigwedge ⋀ \geqslant ⩾ \iiint ∭
    \chi 𝜒 \lesssim ≲ \neg ¬ \zeta 𝜁 \bigcap ⋂ \Longrightarrow ⟹ \cong ≅ \Longleftrightarrow ⟺ \widehat ̂ \bigcup ⋃
    \nexists ∄ \simeq ≃ \% % \widetilde ̃ \hookrightarrow ↪ \Sigma Σ \subsetneq ⊊ \Leftrightarrow ⇔ \mapsto ↦ \vdash ⊢
    \triangle △ \supset ⊃ \bullet ∙ \supseteq ⊇ \models ⊧ \bigvee ⋁ \uparrow ↑ \prec ≺ \bigoplus ⨁ \bigotimes ⨂ \Theta Θ
    \coprod ∐ \angle ∠ \downarrow ↓ \spadesuit ♠ \iota 𝜄 \& & \heartsuit ♡ \wr ≀ \varrho 𝜚 \rightharpoonup ⇀ \bot ⊥
    \Upsilon Υ \vartheta 𝜗 \# # \jmath ȷ \odot ⊙ \ominus ⊖ \varpi 𝜛 \diamond ⋄ \Pi Π \flat ♭ \square ◻ \diamondsuit ♢
    \sharp ♯ \wp ℘ \clubsuit ♣ \uplus ⊎ \checkmark ✓ \complement ∁ \Xi Ξ \aleph ℵ \blacksquare ◼ \sqcap ⊓ \mp ∓ \sqcup ⊔
    \upsilon 𝜐 \ddagger ‡ \$ $ \imath ı \amalg ⨿ \S § \varsigma 𝜍 \longmapsto ⟼ \rightleftharpoons ⇌ \leftrightarrow ↔
    \Downarrow ⇓ \nmid ∤ \gg ≫ \succ ≻ \triangleq ≜ \ni ∋ \Uparrow ⇑ \searrow ↘ \Leftarrow ⇐ \ll ≪ \doteq ≐ \asymp ≍
    \preceq ⪯ \Vdash ⊩ \bowtie ⋈ \rightsquigarrow ⇝ \bigsqcup ⨆ \succeq ⪰ \updownarrow ↕ \gtrsim ≳ \nearrow ↗
    \rightarrow → \leftarrow ← \longrightarrow ⟶ \overrightarrow ⟶ \xrightarrow → \longleftarrow ⟵ \xleftarrow ←
    \emptyset ∅ \varnothing ∅ \langle ⟨ \rangle ⟩ \lfloor ⌊ \rfloor ⌋ \lceil ⌈ \rceil ⌉ \{ { \} } \parallel ∥
    \begin{pmatrix} ( \end{pmatrix} ) \begin{bmatrix} [ \end{bmatrix} ] \begin{cases} { \begin{Bmatrix} { \end{Bmatrix} }
    \binom ( \overbrace ⏞ \underbrace ⏟
""".split()
# upper ends of tall fences, and signs that are two in Unicode and one in a label
PIECES = dict(zip("⎛⎞⎡⎤⎧⎫⎷|∥", "()[]{}√∣‖", strict=True))
NO_PLACE = -1


@cache
def sign_of_glyph(code: int) -> str:
    """The sign that a codepoint draws, the same for all alphabets."""
    if 0x1D736 <= code <= 0x1D755:  # bold slanted Greek letters
        code -= 0x1D736 - 0x1D6FC
    elif 0x1D6A8 <= code <= 0x1D6C1:  # bold Greek capitals
        code = 0x2207 if code == 0x1D6C1 else code - 0x1D6A8 + 0x391
    sign = chr(code)
    plain = unicodedata.normalize("NFKD", sign)
    return plain if plain.isascii() and plain.isalnum() else PIECES.get(sign, sign)


def _signs_of_tokens() -> list[str]:
    """For each token the signs that it draws in this order; most draw one or none."""
    named = {token: PIECES.get(sign, sign) for token, sign in zip(SIGNS[::2], SIGNS[1::2], strict=True)}
    named |= {name: name[1:] for name in FUNCTIONS}
    made = []
    for token in TOKENS:
        core = token.removeprefix(r"\left").removeprefix(r"\right") if token not in named else token
        made.append(named.get(core, core if len(core) == 1 and core not in "{}_^&~" else ""))
    return made


SIGNS_OF_TOKENS = _signs_of_tokens()


def marks_of_label(label: list[int], codes: list[int]) -> list[int]:
    """For each token of a label the number of the mark (of these codepoints) that draws it, or NO_PLACE.

    Marks come in nearly the label's order, but superscripts before subscripts and accents after their letter.
    So the first x of a label is taken for the first x drawn, and so on, where both have equally many.
    """
    drawn: dict[str, list[int]] = defaultdict(list)
    for mark, code in enumerate(codes):
        drawn[sign_of_glyph(code)].append(mark)
    wanted: dict[str, list[int]] = defaultdict(list)
    for at, token in enumerate(label):
        for number, sign in enumerate(SIGNS_OF_TOKENS[token]):
            wanted[sign].append(NO_PLACE if number else at)
    found = [NO_PLACE] * len(label)
    for sign, places in wanted.items():
        if len(drawn[sign]) == len(places):
            for at, mark in zip(places, drawn[sign], strict=True):
                if at != NO_PLACE:
                    found[at] = mark
    return found
