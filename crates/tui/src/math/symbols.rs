//! TeX names of characters, and superscript and subscript characters.

/// Returns the character or word for a command.
pub fn symbol(name: &str) -> Option<&'static str> {
    SYMBOLS.iter().find(|(other, _)| *other == name).map(|(_, shown)| *shown)
}

/// Returns the combining mark of an accent command.
pub fn accent(name: &str) -> Option<char> {
    Some(match name {
        "hat" | "widehat" => '\u{302}',
        "tilde" | "widetilde" => '\u{303}',
        "bar" | "overline" => '\u{304}',
        "dot" => '\u{307}',
        "ddot" => '\u{308}',
        "vec" | "overrightarrow" => '\u{20d7}',
        "underline" => '\u{332}',
        _ => return None,
    })
}

/// Returns superscript (`^`) or subscript (`_`) text if all of its characters exist in that form.
pub fn script(sign: char, text: &str) -> Option<String> {
    let table = if sign == '^' { RAISED } else { LOWERED };
    let find = |char: char| table.iter().find(|(plain, _)| *plain == char).map(|(_, shown)| *shown);
    if text.is_empty() {
        return None;
    }
    text.chars().filter(|char| *char != ' ').map(find).collect()
}

/// Returns a letter in double-struck, script or Fraktur style.
pub fn alphabet(command: &str, char: char) -> char {
    let special = match (command, char) {
        ("mathbb", 'C') => 'ℂ',
        ("mathbb", 'H') => 'ℍ',
        ("mathbb", 'N') => 'ℕ',
        ("mathbb", 'P') => 'ℙ',
        ("mathbb", 'Q') => 'ℚ',
        ("mathbb", 'R') => 'ℝ',
        ("mathbb", 'Z') => 'ℤ',
        ("mathcal" | "mathscr", 'B') => 'ℬ',
        ("mathcal" | "mathscr", 'E') => 'ℰ',
        ("mathcal" | "mathscr", 'F') => 'ℱ',
        ("mathcal" | "mathscr", 'H') => 'ℋ',
        ("mathcal" | "mathscr", 'I') => 'ℐ',
        ("mathcal" | "mathscr", 'L') => 'ℒ',
        ("mathcal" | "mathscr", 'M') => 'ℳ',
        ("mathcal" | "mathscr", 'R') => 'ℛ',
        ("mathfrak", 'C' | 'H' | 'I' | 'R' | 'Z') => char,
        _ => '\0',
    };
    let base = match command {
        "mathbb" => 0x1d538,
        "mathfrak" => 0x1d504,
        _ => 0x1d49c,
    };
    match char {
        _ if special != '\0' => special,
        'A'..='Z' => char::from_u32(base + (u32::from(char) - u32::from('A'))).unwrap_or(char),
        other => other,
    }
}

#[rustfmt::skip]
const SYMBOLS: &[(&str, &str)] = &[
    ("alpha", "α"), ("beta", "β"), ("gamma", "γ"), ("delta", "δ"), ("epsilon", "ε"), ("varepsilon", "ε"),
    ("zeta", "ζ"), ("eta", "η"), ("theta", "θ"), ("vartheta", "ϑ"), ("iota", "ι"), ("kappa", "κ"),
    ("lambda", "λ"), ("mu", "μ"), ("nu", "ν"), ("xi", "ξ"), ("pi", "π"), ("varpi", "ϖ"), ("rho", "ρ"),
    ("varrho", "ϱ"), ("sigma", "σ"), ("varsigma", "ς"), ("tau", "τ"), ("upsilon", "υ"), ("phi", "φ"),
    ("varphi", "φ"), ("chi", "χ"), ("psi", "ψ"), ("omega", "ω"), ("Gamma", "Γ"), ("Delta", "Δ"), ("Theta", "Θ"),
    ("Lambda", "Λ"), ("Xi", "Ξ"), ("Pi", "Π"), ("Sigma", "Σ"), ("Upsilon", "Υ"), ("Phi", "Φ"), ("Psi", "Ψ"),
    ("Omega", "Ω"), ("times", "×"), ("div", "÷"), ("cdot", "·"), ("pm", "±"), ("mp", "∓"), ("ast", "∗"),
    ("star", "⋆"), ("circ", "∘"), ("bullet", "•"), ("oplus", "⊕"), ("ominus", "⊖"), ("otimes", "⊗"),
    ("odot", "⊙"), ("wedge", "∧"), ("land", "∧"), ("vee", "∨"), ("lor", "∨"), ("cap", "∩"), ("cup", "∪"),
    ("setminus", "∖"), ("neg", "¬"), ("lnot", "¬"), ("leq", "≤"), ("le", "≤"), ("geq", "≥"), ("ge", "≥"),
    ("neq", "≠"), ("ne", "≠"), ("ll", "≪"), ("gg", "≫"), ("approx", "≈"), ("equiv", "≡"), ("sim", "∼"),
    ("simeq", "≃"), ("cong", "≅"), ("propto", "∝"), ("prec", "≺"), ("succ", "≻"), ("perp", "⊥"),
    ("parallel", "∥"), ("mid", "∣"), ("vdash", "⊢"), ("models", "⊨"), ("asymp", "≍"), ("doteq", "≐"),
    ("triangleq", "≜"), ("coloneqq", "≔"), ("in", "∈"), ("notin", "∉"), ("ni", "∋"), ("subset", "⊂"),
    ("supset", "⊃"), ("subseteq", "⊆"), ("supseteq", "⊇"), ("subsetneq", "⊊"), ("emptyset", "∅"),
    ("varnothing", "∅"), ("to", "→"), ("rightarrow", "→"), ("leftarrow", "←"), ("gets", "←"),
    ("leftrightarrow", "↔"), ("Rightarrow", "⇒"), ("implies", "⇒"), ("Leftarrow", "⇐"), ("Leftrightarrow", "⇔"),
    ("iff", "⇔"), ("mapsto", "↦"), ("uparrow", "↑"), ("downarrow", "↓"), ("longrightarrow", "⟶"),
    ("longleftarrow", "⟵"), ("Longrightarrow", "⟹"), ("hookrightarrow", "↪"), ("rightharpoonup", "⇀"),
    ("nearrow", "↗"), ("searrow", "↘"), ("sum", "∑"), ("prod", "∏"), ("coprod", "∐"), ("int", "∫"), ("iint", "∬"),
    ("iiint", "∭"), ("oint", "∮"), ("bigcup", "⋃"), ("bigcap", "⋂"), ("bigoplus", "⨁"), ("bigotimes", "⨂"),
    ("bigwedge", "⋀"), ("bigvee", "⋁"), ("forall", "∀"), ("exists", "∃"), ("nexists", "∄"), ("infty", "∞"),
    ("partial", "∂"), ("nabla", "∇"), ("hbar", "ℏ"), ("ell", "ℓ"), ("Re", "ℜ"), ("Im", "ℑ"), ("aleph", "ℵ"),
    ("wp", "℘"), ("angle", "∠"), ("triangle", "△"), ("square", "□"), ("blacksquare", "■"), ("qed", "∎"),
    ("therefore", "∴"), ("because", "∵"), ("top", "⊤"), ("bot", "⊥"), ("dagger", "†"), ("ddagger", "‡"),
    ("degree", "°"), ("prime", "′"), ("checkmark", "✓"), ("ldots", "…"), ("dots", "…"), ("cdots", "⋯"),
    ("vdots", "⋮"), ("ddots", "⋱"), ("lfloor", "⌊"), ("rfloor", "⌋"), ("lceil", "⌈"), ("rceil", "⌉"),
    ("langle", "⟨"), ("rangle", "⟩"), ("lbrace", "{"), ("rbrace", "}"), ("lvert", "|"), ("rvert", "|"),
    ("vert", "|"), ("lVert", "‖"), ("rVert", "‖"), ("Vert", "‖"), ("backslash", "\\"), ("sin", "sin"),
    ("cos", "cos"), ("tan", "tan"), ("cot", "cot"), ("sec", "sec"), ("csc", "csc"), ("arcsin", "arcsin"),
    ("arccos", "arccos"), ("arctan", "arctan"), ("sinh", "sinh"), ("cosh", "cosh"), ("tanh", "tanh"),
    ("log", "log"), ("ln", "ln"), ("lg", "lg"), ("exp", "exp"), ("lim", "lim"), ("limsup", "limsup"),
    ("liminf", "liminf"), ("max", "max"), ("min", "min"), ("sup", "sup"), ("inf", "inf"), ("arg", "arg"),
    ("argmax", "argmax"), ("argmin", "argmin"), ("det", "det"), ("dim", "dim"), ("ker", "ker"), ("gcd", "gcd"),
    ("deg", "deg"), ("Pr", "Pr"), ("hom", "hom"), ("bmod", "mod"), ("mod", "mod"), ("quad", "  "),
    ("qquad", "    "), ("colon", ":"), ("pmod", "mod"),
];

#[rustfmt::skip]
const RAISED: &[(char, char)] = &[
    ('0', '⁰'), ('1', '¹'), ('2', '²'), ('3', '³'), ('4', '⁴'), ('5', '⁵'), ('6', '⁶'), ('7', '⁷'),
    ('8', '⁸'), ('9', '⁹'), ('+', '⁺'), ('-', '⁻'), ('−', '⁻'), ('=', '⁼'), ('(', '⁽'), (')', '⁾'),
    ('n', 'ⁿ'), ('a', 'ᵃ'), ('b', 'ᵇ'), ('c', 'ᶜ'), ('d', 'ᵈ'), ('e', 'ᵉ'), ('f', 'ᶠ'), ('g', 'ᵍ'),
    ('h', 'ʰ'), ('i', 'ⁱ'), ('j', 'ʲ'), ('k', 'ᵏ'), ('l', 'ˡ'), ('m', 'ᵐ'), ('o', 'ᵒ'), ('p', 'ᵖ'),
    ('r', 'ʳ'), ('s', 'ˢ'), ('t', 'ᵗ'), ('u', 'ᵘ'), ('v', 'ᵛ'), ('w', 'ʷ'), ('x', 'ˣ'), ('y', 'ʸ'),
    ('z', 'ᶻ'), ('A', 'ᴬ'), ('B', 'ᴮ'), ('D', 'ᴰ'), ('E', 'ᴱ'), ('G', 'ᴳ'), ('H', 'ᴴ'), ('I', 'ᴵ'),
    ('J', 'ᴶ'), ('K', 'ᴷ'), ('L', 'ᴸ'), ('M', 'ᴹ'), ('N', 'ᴺ'), ('O', 'ᴼ'), ('P', 'ᴾ'), ('R', 'ᴿ'),
    ('T', 'ᵀ'), ('U', 'ᵁ'), ('V', 'ⱽ'), ('W', 'ᵂ'), ('α', 'ᵅ'), ('β', 'ᵝ'), ('γ', 'ᵞ'), ('δ', 'ᵟ'),
    ('ε', 'ᵋ'), ('θ', 'ᶿ'), ('ι', 'ᶥ'), ('φ', 'ᵠ'), ('χ', 'ᵡ'), ('′', '′'), ('∗', '*'), ('*', '*'),
    ('∘', '°'),
];

#[rustfmt::skip]
const LOWERED: &[(char, char)] = &[
    ('0', '₀'), ('1', '₁'), ('2', '₂'), ('3', '₃'), ('4', '₄'), ('5', '₅'), ('6', '₆'), ('7', '₇'),
    ('8', '₈'), ('9', '₉'), ('+', '₊'), ('-', '₋'), ('−', '₋'), ('=', '₌'), ('(', '₍'), (')', '₎'),
    ('a', 'ₐ'), ('e', 'ₑ'), ('h', 'ₕ'), ('i', 'ᵢ'), ('j', 'ⱼ'), ('k', 'ₖ'), ('l', 'ₗ'), ('m', 'ₘ'),
    ('n', 'ₙ'), ('o', 'ₒ'), ('p', 'ₚ'), ('r', 'ᵣ'), ('s', 'ₛ'), ('t', 'ₜ'), ('u', 'ᵤ'), ('v', 'ᵥ'),
    ('x', 'ₓ'), ('β', 'ᵦ'), ('γ', 'ᵧ'), ('ρ', 'ᵨ'), ('φ', 'ᵩ'), ('χ', 'ᵪ'),
];
