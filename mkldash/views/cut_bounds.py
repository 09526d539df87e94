"""The bounds of a solver that cuts over the kernel weights, and the level it aims at."""

from __future__ import annotations

from mkldash.views.level_bounds import NeighborhoodBoundsView

__all__ = ["CutBoundsView"]


class CutBoundsView(NeighborhoodBoundsView):
    """The certificate, and how much of the lower bound is the work of all cuts together."""

    name = "cut-bounds"
    needs = frozenset({"upper", "lower", "model_lower"})
    caption = (
        "Each SVM solve adds a cut, a plane below the curve of the best values. The lowest point "
        "of all cuts bounds the optimum from below: the model's bound. With the extended level "
        "method: the level, below which the next weights are the nearest ones."
    )
    formula = (
        r"\text{upper}=\tfrac12\sum_k\theta_k u_k+C\sum_i\max(0,\,1-y_if(x_i))\qquad "
        r"\text{bound of the model}=\min_{\theta\in\Theta}\max_j\,c_j-\tfrac12u_j^\top\theta\qquad "
        r"c_j=\mathbf{e}^\top\alpha_j,\quad u_{jk}=a_j^\top K_ka_j,\quad a_j=y\circ\alpha_j\qquad "
        r"\text{level}=(1-\lambda)\,\text{bound of the model}+\lambda\,\text{upper}"
    )
    replaces = "bounds"

    @classmethod
    def offered(cls, fields: frozenset[str]) -> bool:
        """With a finite rho the neighborhood's picture shows the same lines."""
        return super().offered(fields) and "shift" not in fields
