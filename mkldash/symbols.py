"""The table of symbols: what each paper calls what mkldash calls otherwise."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SYMBOLS", "Symbol", "markdown_table"]


@dataclass(frozen=True)
class Symbol:
    """One row of the table; an empty cell means that a paper has no such thing.

    Attributes
    ----------
    ours, code : str
        Our symbol, and its name in the code.
    elastic_net : str
        In Citi, elastic-net MKL.
    mirror_descent : str
        In Afkanpour et al., randomized mirror descent.
    neighborhood : str
        In Liu et al., optimal neighborhood kernel.
    meaning : str
    """

    ours: str
    code: str
    elastic_net: str
    mirror_descent: str
    neighborhood: str
    meaning: str


SYMBOLS: tuple[Symbol, ...] = (
    Symbol("n", "n_rows", "N", "n", "n", "training rows"),
    Symbol("Q", "n_kernels", "Q", "d = |I|", "1", "kernels"),
    Symbol("r", "n_base", "", "r", "", "base kernels, of which products are made"),
    Symbol("D", "degree", "", "D", "", "most factors of a product"),
    Symbol("I", "family", "", "I", "", "words: ordered products of at most D base kernels"),
    Symbol("y", "y", "y", "y", "y, Y = diag(y)", "labels, -1 or +1"),
    Symbol("K_k", "bank", "G_k", "K_i (kernel κ_i)", "K", "Gram matrix of one kernel"),
    Symbol("θ", "weights", "θ", "θ", "", "kernel weights, θ >= 0"),
    Symbol("Θ", "weight_set", "Θ", "Δ_ν", "", "the weights that are allowed"),
    Symbol("η", "eta", "η", "", "", "η sum(θ) + (1 - η) sum(θ²) <= 1; 1 is sparse"),
    Symbol("P", "weight_norm", "", "ν", "", "|θ|_P <= 1 in the place of η; 1 is sparse"),
    Symbol("K(θ)", "combine(theta)", "G(θ)", "κ_θ, with ρ_i^-2", "K", "combined kernel matrix"),
    Symbol("G*", "", "", "", "G", "learnt neighbor of K: K + aa'/(2ρ), on the training rows"),
    Symbol("α", "alpha", "α", "", "α", "dual coefficients, 0 <= α <= C"),
    Symbol("a", "signed(alpha)", "y∘α", "a", "Yα", "signed dual coefficients, y∘α"),
    Symbol("b", "bias", "b", "", "b", "offset of the decision values"),
    Symbol("f_k", "", "f_k", "w_i", "", "function of kernel k: θ_k K_k a on the rows"),
    Symbol("C", "C", "C", "1/n", "C", "price of the SUM of the hinge losses"),
    Symbol("u_k", "quadratic_forms", "", "v_i", "", "a'K_k a"),
    Symbol("β_k", "beta", "β_k", "", "", "θ_k² u_k = |f_k|², what the weight step divides"),
    Symbol("s(x)", "gauge", "s(x)", "", "", "size of x: x/s(x) meets the constraint exactly"),
    Symbol("g(x)", "g", "g(x)", "", "", "sum of β_k/x_k"),
    Symbol("h(x)", "h", "h(x)", "", "", "s(x) g(x), what Algorithm 2 minimises"),
    Symbol("q", "q", "q", "", "", "gradient of s; q'x = p is its tangent hyperplane"),
    Symbol("p²", "lower of Algorithm 2", "p²", "", "", "certified lower bound on h"),
    Symbol("p", "p", "", "p", "", "exponent of the penalty, 1 (few kernels) to 2 (all)"),
    Symbol("ν", "nu", "", "ν", "", "p/(2 - p): |θ|_ν <= 1 is what the penalty stands for"),
    Symbol("ρ_d", "penalty, growth", "", "ρ_i", "", "price of d factors: ρ_d² = penalty growth^d"),
    Symbol("S", "", "", "S", "", "sum of the base kernels"),
    Symbol("δ(d)", "degree_totals", "", "δ(d)", "", "sum of u over the words of d factors"),
    Symbol("C(a)", "total", "", "C_k-1", "", "sum of u over all words"),
    Symbol("q", "probability", "", "q_k-1", "", "ideal law of the draws, u/C(a)"),
    Symbol("z", "word", "", "(z_1, ..., z_d)", "", "the word drawn, by Algorithm 3"),
    Symbol("m", "orderings", "", "", "", "words that mean one kernel; they share its estimate"),
    Symbol("ĝ", "gradient", "", "ĝ_k", "", "gradient estimate, C(a)/(2m) in one coordinate"),
    Symbol("Ψ", "MirrorMap", "", "Ψ", "", "potential |θ|_r²/2; r = ν up to 2, near 1 for ν = 1"),
    Symbol("η_k", "step", "", "η_k", "", "length of a mirror step"),
    Symbol("upper", "upper", "Ō", "J(θ)", "-lb", "least primal value found"),
    Symbol("lower", "lower", "O̲", "", "-f(α)", "best certified lower bound"),
    Symbol("gap", "gap", "Ō/O̲ - 1", "", "", "relative duality gap, upper/lower - 1"),
    Symbol("tol", "tol", "ε_MKL", "ε", "ε", "gap at which a run has converged"),
    Symbol("ρ", "rho", "", "(ρ_i: prior weights)", "ρ", "price of leaving the given kernel"),
    Symbol("σ", "sigma", "", "", "σ", "of exp(-|x - x'|²/σ), a Gaussian of width √(σ/2)"),
    Symbol("c", "shift", "", "", "", "|α|²/(2ρ): the optimum is an SVM on K + cI"),
    Symbol("λ", "multiplier", "", "", "λ", "multiplier of y'α = 0 in the projection, a root of h"),
    Symbol("h(λ)", "imbalance", "", "", "h(λ)", "y'x of the projection's x(λ), falling in λ"),
    Symbol("level", "level", "", "", "-l_i", "the level method's next point lies above it"),
    Symbol("τ", "tau", "", "", "τ", "level between the model's bound, 0, and the best value, 1"),
    Symbol("c_j, u_j", "cuts", "", "", "", "plane below the best value at θ: c_j - u_j'θ/2"),
    Symbol("λ_j", "multipliers", "", "", "", "share of cut j in the lowest point of all cuts"),
    Symbol("λ", "level_lambda", "", "", "", "of the extended level method: level, from 0 to 1"),
    Symbol("g", "curvature", "", "", "γ", "curvature of a gradient step; 1/g is its length"),
)


def markdown_table() -> str:
    """The symbols as one Markdown table, a line each; docs/symbols.md holds it."""
    head = ("ours", "in the code", "elastic-net MKL", "mirror descent", "neighborhood", "meaning")
    rows = [head, ("---",) * len(head)]
    for row in SYMBOLS:
        code = f"`{row.code}`" if row.code else ""
        cells = (
            row.ours,
            code,
            row.elastic_net,
            row.mirror_descent,
            row.neighborhood,
            row.meaning,
        )
        rows.append(tuple(cell.replace("|", r"\|") for cell in cells))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
