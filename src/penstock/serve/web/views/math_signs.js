// LaTeX's commands that are one sign each.

const GREEK = "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω varGamma Γ varDelta Δ varTheta Θ varLambda Λ varXi Ξ varPi Π varSigma Σ varUpsilon Υ varPhi Φ varPsi Ψ varOmega Ω varkappa ϰ digamma ϝ omicron ο";
const LETTERS = "infty ∞ partial ∂ nabla ∇ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ angle ∠ triangle △ square □ Box □ degree ° imath ı jmath ȷ wp ℘ % % # # $ $ & & _ _ prime ′ dagger † top ⊤ bot ⊥ star ⋆ bullet • S § checkmark ✓ flat ♭ sharp ♯";
const OPERATORS = "pm ± mp ∓ times × div ÷ cdot ⋅ ast ∗ circ ∘ oplus ⊕ otimes ⊗ ominus ⊖ odot ⊙ le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ll ≪ gg ≫ ne ≠ neq ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ land ∧ wedge ∧ lor ∨ vee ∨ neg ¬ lnot ¬ forall ∀ exists ∃ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ iff ⇔ implies ⟹ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹ mapsto ↦ uparrow ↑ downarrow ↓ rightleftharpoons ⇌ ldots … dots … dotsc … dotsb ⋯ cdots ⋯ vdots ⋮ ddots ⋱ colon : mid ∣ parallel ∥ perp ⊥ vdash ⊢ models ⊨ prec ≺ succ ≻ preceq ⪯ succeq ⪰ therefore ∴ because ∵ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | vert | lVert ‖ rVert ‖ Vert ‖ | ‖ { { } } lbrace { rbrace } backslash \\ lesssim ≲ gtrsim ≳ doteq ≐ triangleq ≜ asymp ≍ rightharpoonup ⇀ hookrightarrow ↪ nearrow ↗ searrow ↘ bigcirc ◯ diamond ⋄ ltimes ⋉ rtimes ⋊ not ¬";
const LARGE = "sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀";
const INTEGRALS = "int ∫ iint ∬ iiint ∭ oint ∮ smallint ∫";
const FUNCTIONS = "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp det dim ker deg arg hom mod bmod tr";
const UNDER = "lim max min sup inf limsup liminf argmax argmin gcd Pr"; // what they range over stands below them
const ACCENTS = "hat ^ bar ¯ tilde ~ vec → dot ˙ ddot ¨ acute ´ grave ` breve ˘ check ˇ overline ‾ widehat ^ widetilde ~ overrightarrow → overleftarrow ← overbrace ⏞ mathring ˚";

const table = (words) => new Map(words.split(" ").map((word, place, all) => [word, all[place + 1]]).filter((_, place) => place % 2 === 0));

export const letters = new Map([...table(GREEK), ...table(LETTERS)]);
export const operators = table(OPERATORS);
export const large = table(LARGE);
export const integrals = table(INTEGRALS);
export const functions = new Set(FUNCTIONS.split(" "));
export const under = new Set(UNDER.split(" "));
export const accents = table(ACCENTS);
export const below = new Map([["underline", "_"], ["underbrace", "⏟"]]);
export const spaces = new Map([[",", 0.17], [":", 0.22], [">", 0.22], [";", 0.28], ["!", 0], [" ", 0.3], ["quad", 1], ["qquad", 2], ["enspace", 0.5], ["thinspace", 0.17], ["medspace", 0.22], ["~", 0.3]]);

// Letters of another kind have places of their own in Unicode; a few were there before.
const KINDS = {
  mathbf: [0x1d400, 0x1d41a, {}], boldsymbol: [0x1d468, 0x1d482, {}], bm: [0x1d468, 0x1d482, {}], pmb: [0x1d468, 0x1d482, {}],
  mathbb: [0x1d538, 0x1d552, { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" }],
  mathcal: [0x1d49c, 0x1d4b6, { B: "ℬ", E: "ℰ", F: "ℱ", H: "ℋ", I: "ℐ", L: "ℒ", M: "ℳ", R: "ℛ", e: "ℯ", g: "ℊ", o: "ℴ" }],
  mathfrak: [0x1d504, 0x1d51e, { C: "ℭ", H: "ℌ", I: "ℑ", R: "ℜ", Z: "ℨ" }],
  mathsf: [0x1d5a0, 0x1d5ba, {}], mathtt: [0x1d670, 0x1d68a, {}], mathit: [0x1d434, 0x1d44e, { h: "ℎ" }],
};
KINDS.mathscr = KINDS.mathcal;

export const isKind = (command) => Object.hasOwn(KINDS, command);

export function ofKind(command, letter) {
  const [upper, lower, others] = KINDS[command];
  if (Object.hasOwn(others, letter)) return others[letter];
  if (/^[A-Z]$/.test(letter)) return String.fromCodePoint(upper + letter.charCodeAt(0) - 65);
  return /^[a-z]$/.test(letter) ? String.fromCodePoint(lower + letter.charCodeAt(0) - 97) : letter;
}
