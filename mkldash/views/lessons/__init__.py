"""Pictures that the notebooks draw: one function each, numbers in, `Picture` out.

Everything that is not the lesson lives here, so that a cell shows the
mathematics and one call.  matplotlib is loaded by the first picture.
"""

from mkldash.views.lessons.algorithm_2 import (
    TangentStep,
    draw_chord,
    draw_counts,
    draw_slack,
    draw_tangent_step,
    draw_walk,
    draw_weight_step,
)
from mkldash.views.lessons.algorithm_3 import draw_pruning, draw_sphere
from mkldash.views.lessons.bundle_steps import BundleStep, draw_bundle_steps
from mkldash.views.lessons.canvas import Curve, Picture, draw_curves
from mkldash.views.lessons.comparisons import Cost, draw_costs, draw_race_axes
from mkldash.views.lessons.embedded import EmbeddedRun
from mkldash.views.lessons.embedded_race import EmbeddedRace
from mkldash.views.lessons.key_numbers import KEY_TYPE, key_number
from mkldash.views.lessons.level_method import draw_level_bounds, draw_level_steps, draw_paths
from mkldash.views.lessons.mirror_step import (
    MirrorStep,
    draw_mirror_steps,
    draw_optima,
    draw_penalty,
)
from mkldash.views.lessons.neighborhood import (
    draw_bias,
    draw_heatmaps,
    draw_kernel,
    draw_neighborhood_run,
    draw_seen,
    whole_scene,
)
from mkldash.views.lessons.parts import draw_parts
from mkldash.views.lessons.planes import Panel, draw_classifiers, draw_points
from mkldash.views.lessons.products import (
    Branch,
    draw_best_products,
    draw_scatters,
    draw_spread,
    draw_tree,
)
from mkldash.views.lessons.products_run import (
    ProductsRun,
    draw_drawn_path,
    draw_products_run,
    products_scene,
)
from mkldash.views.lessons.projections import Point, draw_imbalance
from mkldash.views.lessons.races import Scored, draw_accuracies, draw_race, draw_weights_by_rho
from mkldash.views.lessons.runs import draw_bars, draw_bounds
from mkldash.views.lessons.scrubber import Dial, Scrubber
from mkldash.views.lessons.sets import draw_three_kernels, draw_two_kernels
from mkldash.views.lessons.weight_paths import draw_weight_paths, simplex_grid

__all__ = [
    "KEY_TYPE",
    "Branch",
    "BundleStep",
    "Cost",
    "Curve",
    "Dial",
    "EmbeddedRace",
    "EmbeddedRun",
    "MirrorStep",
    "Panel",
    "Picture",
    "Point",
    "ProductsRun",
    "Scored",
    "Scrubber",
    "TangentStep",
    "draw_accuracies",
    "draw_bars",
    "draw_best_products",
    "draw_bias",
    "draw_bounds",
    "draw_bundle_steps",
    "draw_chord",
    "draw_classifiers",
    "draw_costs",
    "draw_counts",
    "draw_curves",
    "draw_drawn_path",
    "draw_heatmaps",
    "draw_imbalance",
    "draw_kernel",
    "draw_level_bounds",
    "draw_level_steps",
    "draw_mirror_steps",
    "draw_neighborhood_run",
    "draw_optima",
    "draw_parts",
    "draw_paths",
    "draw_penalty",
    "draw_points",
    "draw_products_run",
    "draw_pruning",
    "draw_race",
    "draw_race_axes",
    "draw_scatters",
    "draw_seen",
    "draw_slack",
    "draw_sphere",
    "draw_spread",
    "draw_tangent_step",
    "draw_three_kernels",
    "draw_tree",
    "draw_two_kernels",
    "draw_walk",
    "draw_weight_paths",
    "draw_weight_step",
    "draw_weights_by_rho",
    "key_number",
    "products_scene",
    "simplex_grid",
    "whole_scene",
]
