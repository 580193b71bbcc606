"""What formulas of a field are made of: letters, operators, words. The grammar draws from one theme a formula."""

from __future__ import annotations

from dataclasses import dataclass

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Theme:
    """One field of mathematics. `weight` is its share; `forms` names the grammar's own shapes that it likes."""

    weight: float
    letters: str
    functions: str = r"f g h F G \varphi \phi \psi"
    indices: str = "i j k n m 0 1 2"
    big: str = r"\sum \prod \int"
    relations: str = r"= = = = = = = \leq \geq < > \neq \approx \equiv"
    binary: str = r"+ + + + - - - \cdot \times \pm"
    words: str = "if for where and otherwise when with on"
    forms: str = "equation equation expression fraction"


THEMES = {
    "school": Theme(
        1.5,
        r"x x x y y z a b c n t r h m p q A B C P S V k \alpha \beta \theta \pi",
        functions=r"f g h \sin \cos \tan \log \ln \lg",
        words="if for and or then so",
        binary=r"+ + + + - - - \times \cdot \div \pm",
        relations=r"= = = = = = = \leq \geq < > \neq \leqslant \geqslant \approx \therefore \because",
        forms="equation polynomial fraction root trigonometry logarithm system numbers sequence geometry derivative set vectors",
    ),
    "calculus": Theme(
        1.3,
        r"x x x y z t u v a b c n s r \theta \epsilon \delta \xi \eta",
        functions=r"f f g h F G \sin \cos \exp \ln \arctan u v \varphi",
        big=r"\int \int \int \sum \oint \iint \lim",
        forms="equation integral integral derivative limit series fraction aligned cases differential",
    ),
    "linear": Theme(
        1.0,
        r"A B C D X Y P Q U V W I M \mathbf{A} \mathbf{B} \mathbf{x} \mathbf{v} \mathbf{u} \lambda \mu \sigma x y v w a b",
        functions=r"\det \dim \ker f T \mathrm{tr} \mathrm{rank} \mathrm{diag} \mathrm{span} \mathrm{Tr}",
        words="and where for if",
        forms="equation matrix matrix matrix norm vectors system aligned transpose determinant",
    ),
    "probability": Theme(
        1.2,
        r"X Y Z x y z n N p q t s k \mu \sigma \theta \lambda \alpha \beta \rho \tau \omega \mathbf{X} \hat{\theta} \bar{X} \bar{x}",
        functions=r"P P \Pr \mathbb{E} \mathrm{Var} \mathrm{Cov} f F \Phi \mathbb{P} E p \log \exp \Gamma",
        words="if for where independent otherwise as given in and with",
        relations=r"= = = = = = \leq \geq \sim \sim \approx \propto < > \equiv",
        forms="equation expectation expectation density fraction series cases estimate binomial aligned hypothesis",
    ),
    "learning": Theme(
        1.4,
        r"x y z h w b \mathbf{x} \mathbf{y} \mathbf{z} \mathbf{h} \mathbf{W} \mathbf{w} \mathbf{b} W X Y Q K V \theta \phi "
        r"\alpha \lambda \eta \sigma \mathcal{L} \mathcal{D} \hat{y} \boldsymbol{\theta} \boldsymbol{\mu} \boldsymbol{\Sigma} \tau \gamma L d N T t",
        functions=r"f g p q \log \exp \mathrm{softmax} \mathrm{ReLU} \sigma \mathcal{L} \mathrm{KL} \mathrm{MLP} \mathrm{Attention} \tanh \mathcal{N} \mathbb{E} \mathrm{sim}",
        indices=r"i j k t n 0 1 2 t-1 t+1 l \theta \phi",
        forms="equation loss loss expectation argmax norm softmax aligned fraction matrix gradient attention set",
    ),
    "physics": Theme(
        1.4,
        r"x t p q m E H V r k c g e q T L \mathbf{r} \mathbf{p} \mathbf{E} \mathbf{B} \mathbf{A} \mathbf{v} \vec{r} \vec{F} \vec{v} \hbar \hbar \omega \omega "
        r"\psi \phi \mu \nu \rho \sigma \alpha \beta \gamma \Lambda \Omega \Psi \epsilon \varepsilon \partial \lambda \kappa \dot{x} \ddot{x} \hat{H} \hat{p} \tau \Gamma \Delta \Phi",
        functions=r"\psi \phi V U \exp \sin \cos \mathcal{H} \mathcal{L} \delta \rho \Psi",
        indices=r"\mu \nu i j k 0 1 2 3 \alpha \beta \rho \sigma a b c n m + -",
        big=r"\int \int \int \sum \oint \prod",
        words="where and for in at with",
        forms="equation equation braket differential tensor nabla integral units aligned exponential fraction vectors commutator",
    ),
    "analysis": Theme(
        1.1,
        r"u v w x y f g \Omega U H L C W E B M K \phi \varphi \psi \mu \nu \Gamma \rho \mathcal{F} \mathcal{B} \mathbb{R} n p q t s r \bar{u} \tilde{u} \epsilon \varepsilon \delta X Y",
        functions=r"u v f g \phi \varphi F G B T \Phi \mathrm{supp} \mathrm{div} \mathrm{dist}",
        indices=r"i j k n m 0 1 2 \infty x t x_{i} \epsilon",
        relations=r"= = = = = \leq \leq \geq \geq < > \in \subset \subseteq \equiv := \lesssim \rightarrow",
        words="for in on if and where a.e. as for~all such~that since by",
        forms="equation norm norm integral limit set differential aligned arrow supremum series fraction tensor",
    ),
    "algebra": Theme(
        0.9,
        r"G H K N M R S A B C X Y Z I J P a b c g h x y n m p q \mathbb{Z} \mathbb{Q} \mathbb{F} \mathbb{C} \mathfrak{g} \mathfrak{p} \mathfrak{m} \mathcal{O} \mathcal{C} \sigma \tau \phi \varphi \pi \rho \chi \zeta \omega \mathscr{F}",
        functions=r"f g \phi \varphi \pi \mathrm{Hom} \mathrm{Ext} \mathrm{Aut} \mathrm{Gal} \mathrm{End} \ker \mathrm{im} \gcd \deg \mathrm{GL} \mathrm{SL} H \mathrm{ord} \mathrm{Spec}",
        indices=r"i j k n m 0 1 2 p q \ast + -",
        relations=r"= = = = \cong \simeq \subset \subseteq \in \equiv \rightarrow \mapsto \leq \neq \hookrightarrow \notin \supset \sim",
        binary=r"+ + - - \cdot \otimes \oplus \times \circ \cap \cup / \wedge",
        big=r"\sum \prod \bigoplus \bigcup \bigcap \bigotimes \coprod \bigwedge",
        forms="equation set arrow modular series group polynomial fraction binomial quotient",
    ),
    "logic": Theme(
        0.7,
        r"A B C P Q R S X Y x y z p q r a b n m \phi \psi \alpha \beta \mathcal{A} \mathcal{M} \Gamma \mathbb{N} \Sigma \omega \emptyset \varnothing",
        functions=r"P Q R f \phi \psi T \mathcal{P} \mathrm{Pr} \max \min",
        relations=r"= = \in \in \notin \subset \subseteq \supseteq \Rightarrow \Leftrightarrow \models \vdash \equiv \neq \prec \leq \iff \implies \subsetneq",
        binary=r"\wedge \vee \cup \cap \setminus + \times \rightarrow \oplus \Rightarrow",
        words="iff if and or not for~all there~exists such~that",
        big=r"\bigcup \bigcap \sum \bigvee \bigwedge",
        forms="quantified quantified set set equation cases sequence complexity",
    ),
    "chemistry": Theme(
        0.35,
        r"c V n T P k K p \Delta v m R t Q E \mu \rho \lambda",
        functions=r"\ln \exp \log f",
        binary=r"+ + - \times \cdot /",
        forms="reaction reaction units numbers fraction equation",
    ),
}

# drawn from now and then in every theme, so that no token stays unseen
RARE_SYMBOLS = r"""
    \infty \aleph \hbar \ell \Re \Im \wp \imath \jmath \angle \triangle \square \top \bot \emptyset \varnothing \complement
    \varpi \varrho \varsigma \upsilon \iota \kappa \zeta \xi \chi \Xi \Upsilon \Theta \vartheta \digit \flat \sharp \surd
    \checkmark \clubsuit \spadesuit \heartsuit \diamondsuit \blacksquare \star \bullet \nabla \partial \forall \exists
    \nexists \neg \ldots \cdots \% \# \S \Pi \Lambda \Psi \Phi \Gamma \epsilon \tau \nu \eta \omega \dagger \prime \infty
    \varepsilon \varphi \$ \&
""".replace("\\digit", "7").split()
RARE_RELATIONS = r"""
    \equiv \approx \sim \simeq \cong \propto \ll \gg \prec \succ \preceq \succeq \subset \supset \subseteq \supseteq
    \subsetneq \ni \notin \perp \parallel \models \vdash \asymp \doteq \lesssim \gtrsim \leqslant \geqslant \triangleq \nmid
    \Vdash \bowtie \rightarrow \leftarrow \leftrightarrow \Rightarrow \Leftarrow \Leftrightarrow \longrightarrow
    \longleftarrow \Longrightarrow \Longleftrightarrow \mapsto \longmapsto \hookrightarrow \uparrow \downarrow \nearrow
    \searrow \rightharpoonup \rightleftharpoons \rightsquigarrow \mid : := \coloneqq \iff \implies \Uparrow \Downarrow \updownarrow
    \ne \le \ge \to
""".split()
RARE_OPERATORS = r"""
    \times \cdot \div \pm \mp \circ \bullet \oplus \ominus \otimes \odot \wedge \vee \cap \cup \sqcup \sqcap \star \ast
    \dagger \ddagger \wr \diamond \setminus \uplus \amalg / \land \lor
""".split()
RARE_BIG = r"""
    \coprod \iint \iiint \oint \bigcup \bigcap \bigoplus \bigotimes \bigwedge \bigvee \bigsqcup \prod \sum \int
""".split()
ACCENTS = r"\hat \hat \hat \bar \bar \bar \tilde \tilde \vec \dot \dot \ddot \check \breve \acute \grave \mathring \dddot".split()
WORDS = """
    if for where and otherwise when with on such that since by as in is bounded all some the of then let be we have
    total loss max min out model data train test error rate mean true false not or new old time space low high net
    eff reg class label input output total cost energy kin pot ext int left right up down even odd prime const real
    subject to minimize maximize s.t. i.e. a.s. w.r.t. iid from at any every there exists unless hence therefore
""".split()
