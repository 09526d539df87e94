"""What a randomized run learns, and how well: products, bounds, errors."""

from itertools import pairwise

import numpy as np
import pytest

from mkldash.kernels.products import product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.box_coordinate_descent import BoxCoordinateDescent
from mkldash.solvers.full_gradient import FullGradient
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent
from mkldash.solvers.uniform_sampling import UniformSampling
from mkldash.views import available_views
from mkldash.views._names import product
from mkldash.views.base import FACTS, Baseline, FamilyFacts, Scene
from mkldash.views.baseline_errors import BaselineErrorsView
from mkldash.views.learnt_products import TOP, LearntProductsView
from mkldash.views.objective_bounds import ObjectiveBoundsView
from mkldash.views.prediction_error import ErrorView
from mkldash.views.products_map import ProductsMapView
from mkldash.views.second_moment import SecondMomentView
from mkldash.views.step_size import StepSizeView
from tests.views._mirror import FEATURES, mirror

VIEWS = (
    "objective-bounds", "learnt-products", "drawn-path", "degree-law", "first-law", "pair-law",
    "products-map", "baseline-errors", "test-error", "second-moment", "step-size",
)  # fmt: skip
SCENE = Scene(
    features=FEATURES,
    true_products=((0, 1), (2,)),
    family=FamilyFacts(n_words=85, n_keys=35, degree=3, p=1.0, merged=True),
    solver="Randomized mirror descent",
)


def drawn(view, trace, k=None, scene=SCENE):
    held = view()
    info = view.prepare(trace, len(trace) - 1 if k is None else k, scene)
    held.update(info)
    return held, info


def labels(view):
    return list(view.figure().yaxis[0].major_label_overrides.values())


def test_facts_are_known_and_pictures_of_several_given_kernels_are_not_offered():
    assert {"products", "baselines"} <= FACTS
    kinds = available_views()
    fields = frozenset(
        {f for f in mirror(0).__dict__} | {"gap", "products", "baselines"}
    )  # fmt: skip
    offered = {name for name, kind in kinds.items() if kind.offered(fields)}
    replaced = {kinds[name].replaces for name in offered}
    assert offered - replaced == {*VIEWS, "gap"}


def test_true_products_are_marked_and_counted():
    weights = {(0, 1): 0.5, (3,): 0.3, (2,): 0.1, (): 0.1}
    view, info = drawn(LearntProductsView, [mirror(9, weights={(0, 1): 0.9}, average=weights)])
    assert info.names == ("bmi · bp", "sex", "age", "offset")
    assert list(info.answer) == [0.5, 0.3, 0.1, 0.1]
    assert list(info.iterate) == [0.9, 0.0, 0.0, 0.0]
    assert list(info.true) == [True, False, True, False]
    assert labels(view) == ["★ bmi · bp", "sex", "★ age", "offset"]
    assert ("★", "true (1 of 2 on top)") in [(m[0], m[2]) for m in view.marks(info)]
    assert ("", "", "carry weight: 4 of 35") in view.marks(info)
    assert "1 of 2 true products are the heaviest ones." in view.describe(info)


def test_a_true_product_far_down_is_shown_with_its_place():
    weights = {(i,): 1.0 / (i + 1) for i in range(30)}
    scene = Scene(true_products=((24,), (40, 41)))
    view, info = drawn(LearntProductsView, [mirror(9, average=weights)], scene=scene)
    assert len(info.names) == TOP
    assert list(info.rank) == [*range(1, TOP - 1), 25, 0]
    assert labels(view)[-2:] == ["★ x25 (place 25)", "★ x41 · x42 (no weight)"]
    shown = info.answer.sum() / sum(weights.values())
    assert info.rest == pytest.approx(1.0 - shown)


def test_nothing_learnt_yet():
    for view in (LearntProductsView, ProductsMapView):
        for scene in (Scene(), SCENE):
            _, info = drawn(view, [mirror(0)], scene=scene)
            assert view.describe(info) == "No product carries weight yet."


def test_orders_of_one_true_product_count_once():
    """For p > 1 both orders carry weight; the next product is still among the heaviest two."""
    weights = {(1, 0): 0.5, (0, 1): 0.4, (2,): 0.3}
    _, info = drawn(LearntProductsView, [mirror(9, average=weights)])
    assert list(info.true) == [True, True, True]
    assert info.found == info.known == 2


def test_the_numbers_are_those_of_the_best_point():
    found = mirror(1, weights={(1,): 0.7}, average={(2,): 0.4})
    view, info = drawn(LearntProductsView, [found], scene=Scene())
    assert info.carrying == 1
    assert "1 product carries weight. Heaviest: x3: 0.4." in view.describe(info)
    assert list(view._bars.data["text"]) == ["0.4"]


def test_the_map_has_pairs_squares_and_features_alone():
    average = {(): 0.1, (1,): 0.2, (0, 1): 0.3, (2, 2): 0.15, (0, 1, 2): 0.25}
    view, info = drawn(ProductsMapView, [mirror(3, average=average)])
    cells = dict(zip(info.names, zip(info.row, info.column, strict=True), strict=True))
    assert cells == {"bp": (1, -1), "bmi · bp": (0, 1), "age²": (2, 2)}
    assert list(view._sheet._cells.data["x"]) == [3, 0, 4]
    assert list(info.shares) == pytest.approx([0.1, 0.2, 0.45, 0.25])
    assert info.shown == pytest.approx(0.65)
    assert info.true.tolist() == [[0, 1], [2, -1]]
    assert list(view._true.data["name"]) == ["bmi · bp", "age"]
    assert "Heaviest on the map: bmi · bp (0.3)." in view.describe(info)


def test_of_many_features_the_map_shows_those_with_weight_and_the_true_ones():
    average = {(i, i + 1): 1.0 for i in range(100, 140)}
    scene = Scene(features=tuple(f"f{i}" for i in range(200)), true_products=((3, 199),))
    _, info = drawn(ProductsMapView, [mirror(3, average=average)], scene=scene)
    assert len(info.features) == 41 + 2
    assert {"f3", "f199", "f100", "f140"} <= set(info.features)


def run(n=8, every=3):
    average = np.nan
    found = []
    for k in range(n):
        if k % every == 0:
            average = 9.0 - k / 10
        found.append(
            mirror(
                k, (0, 1) if k else None, objective=9.5 - k / 10, upper=9.5 - k / 10,
                lower=1.0 + (k // every), certified=k % every == 0, average_objective=average,
                full_average_objective=average + 0.5, certificate="search stopped at 9 nodes",
            )
        )  # fmt: skip
    return found


def test_averages_are_drawn_where_they_were_evaluated():
    view, info = drawn(ObjectiveBoundsView, run(), 7)
    assert list(info.certified) == [3, 6]
    assert list(info.average) == pytest.approx([8.7, 8.4])
    assert list(info.full_average) == pytest.approx([9.2, 8.9])
    assert info.at == pytest.approx((8.8, 8.4, 8.9))
    assert list(view._averages["average of all"].data["x"]) == [3, 6]
    words = view.describe(info)
    assert "between 3.0000 and 8.8000" in words
    assert "the average of late iterates 8.4, that of all 8.9." in words
    assert words.endswith("Kind of the lower bound: search stopped at 9 nodes.")


def test_the_start_has_a_place_on_the_log_axis():
    view, info = drawn(ObjectiveBoundsView, run(), 0)
    x = view._run.data["x"]
    assert 0 < x[0] < 1
    assert view._cursor.location == x[0]
    assert view._run.data["number"][0] == 0
    assert view.figure().xaxis[0].major_label_overrides[x[0]] == "0"
    plain = ObjectiveBoundsView(log_x=False)
    plain.update(info)
    assert plain._run.data["x"][0] == 0
    assert plain._cursor.location == 0


def test_the_start_leaves_the_picture_once_it_would_flatten_the_rest():
    trace = [mirror(0, objective=500.0, upper=500.0, lower=2.0, certified=True), *run()[1:]]
    assert ObjectiveBoundsView.prepare(trace[:3], 0).bounds.window == (2.0 - 1.0, 500.0)
    assert ObjectiveBoundsView.prepare(trace, 0).bounds.window[1] < 10


def test_moments_are_drawn_where_they_are_known():
    trace = [
        mirror(0), mirror(1, (0,), moment_ideal=2.0, moment_uniform=50.0), mirror(2, (0,)),
        mirror(3, (0,), moment_ideal=1.0),
    ]  # fmt: skip
    view, info = drawn(SecondMomentView, trace, 2)
    assert list(info.iteration) == [1, 3]
    assert info.at == (2.0, 50.0)
    assert [list(s.data["x"]) for s in view._lines] == [[1, 3], [1]]
    assert "2 under the ideal law and 50 under the uniform one, 25 times as much" in view.describe(
        info
    )
    only = SecondMomentView.prepare(trace[3:], 0)
    assert "the other is not known" in SecondMomentView.describe(only)
    assert "not known" in SecondMomentView.describe(SecondMomentView.prepare(trace[:1], 0))


def test_errors_of_scored_iterations_and_of_the_run_before():
    trace = [mirror(0, train_mse=4.0, test_mse=5.0), mirror(1), mirror(2, train_mse=1.0)]
    ghost = [mirror(0, test_mse=6.0), mirror(1), mirror(2, test_mse=3.0)]
    view, info = drawn(ErrorView, trace, 1, Scene(ghost=ghost, target="strength (MPa)"))
    assert list(info.iteration) == [0, 2]
    assert list(info.ghost) == [6.0, 3.0]
    assert list(view._sources["test"].data["y"]) == [5.0]
    assert view.figure().yaxis[0].axis_label == "squared error of strength (MPa)"
    assert view.describe(info) == (
        "At iteration 0: mean squared error 4 on training rows, 5 on test rows."
    )
    last = ErrorView.prepare(trace, 2)
    assert ErrorView.describe(last) == "At iteration 2: mean squared error 1 on training rows."
    assert ErrorView.describe(ErrorView.prepare([mirror(0)], 0)) == "No iteration scored yet."


BASELINES = (
    Baseline("Ridge, degree 1", 4.0, "penalty 2", done=True),
    Baseline("Full gradient", 2.0, objective=7.0, done=True),
    Baseline("Ridge, degree 3", 90.0, done=True),
    Baseline("Cortes"),
    Baseline("Failed", done=True),
)


def test_baselines_stand_beside_the_run_at_the_cursor():
    trace = [mirror(0, test_mse=5.0), mirror(1, test_mse=3.0), mirror(2)]
    scene = Scene(solver="Mine", baselines=BASELINES)
    view, info = drawn(BaselineErrorsView, trace, 2, scene)
    assert info.names == ("Mine", *(b.title for b in BASELINES))
    assert np.array_equal(info.mse, [3.0, 4.0, 2.0, 90.0, np.nan, np.nan], equal_nan=True)
    assert list(info.waiting) == [False, False, False, False, True, False]
    assert list(view._words.data["text"]) == ["3", "4", "2", "90", "computing …", "no test error"]
    # A far one is drawn at the edge; the others stand where they are.
    end = view.figure().x_range.end
    assert list(view._dots.data["x"][:3]) == [3.0, 4.0, 2.0]
    assert 4.0 < view._dots.data["x"][3] < end < 90.0
    assert view._line.location == 3.0
    assert view._dots.data["objective"][2] == "7"
    words = view.describe(info)
    assert words.startswith("Mine has test error 3 at iteration 2.")
    assert "best first: Full gradient: 2, Ridge, degree 1: 4, Ridge, degree 3: 90." in words
    assert words.endswith("Still being computed: Cortes.")
    first = BaselineErrorsView.prepare(trace, 0, scene)
    assert first.mse[0] == 5.0


@pytest.mark.parametrize(("own", "in_range"), [(30.0, True), (1000.0, False)])
def test_the_line_stands_at_the_runs_own_error_or_nowhere(own, in_range):
    view, info = drawn(BaselineErrorsView, [mirror(0, test_mse=own)], 0, Scene(baselines=BASELINES))
    assert info.mse[0] == own
    assert view._line.visible is in_range
    if in_range:
        assert view._line.location == own < view.figure().x_range.end


def test_without_any_error_the_rows_are_there():
    view, info = drawn(BaselineErrorsView, [mirror(0)], 0, Scene(baselines=(Baseline("A"),)))
    assert not view._line.visible
    assert list(view._words.data["text"]) == ["no test error", "computing …"]
    assert view.describe(info).startswith("The test error of this run is not known.")


def test_steps_and_gradients_start_with_the_first_step():
    trace = [mirror(0), mirror(1, (0,), step=0.5, gradient=8.0), mirror(2, (), step=0.25)]
    view, info = drawn(StepSizeView, trace)
    assert list(info.iteration) == [1, 2]
    assert list(info.gradient_iteration) == [1]
    assert info.at == (0.25, 8.0)
    assert (view._y.start, view._y.end) == (0.1, 1.0)
    assert "step size is 0.25, the gradient estimate's 8" in view.describe(info)
    assert StepSizeView.describe(StepSizeView.prepare(trace, 0)) == "No step has been made yet."


def problem(p=1.0, rows=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    family = product_family(X, FEATURES, degree=3, merged=p == 1.0)
    return Problem(family, y - y.mean(), Squared(), NormBall.of_p(p), np.inf)


def first(solver, n, found):
    steps = solver.iterate(found)
    return [next(steps) for _ in range(n)]


@pytest.mark.parametrize(
    ("solver", "p"),
    [
        (RandomizedMirrorDescent(certify_every=5), 1.0),
        (RandomizedMirrorDescent(certify_every=5), 4 / 3),
        (UniformSampling(certify_every=5), 1.0),
        (FullGradient(certify_every=5), 1.0),
        (BoxCoordinateDescent(certify_every=5), 2.0),
    ],
    ids=lambda value: getattr(value, "name", f"p={value}"),
)
def test_real_runs_feed_every_view(solver, p):
    trace = first(solver, 14, problem(p))
    kinds = available_views()
    for name in VIEWS:
        view = kinds[name]()
        for k in (0, 1, 5, 12, 13):
            info = view.prepare(trace, k, SCENE)
            view.update(info)
            assert view.describe(info)
            assert view.marks(info) is not None
        assert view.needs <= {
            *vars(trace[0]), "products", "baselines", "first_law", "pair_law", "test_mse",
            "train_mse", "moment_ideal", "moment_uniform",
        }  # fmt: skip


def test_the_path_has_the_probability_that_the_family_states():
    found = problem()
    trace = first(RandomizedMirrorDescent(), 12, found)
    for before, here in pairwise(trace):
        path = available_views()["drawn-path"].prepare([here], 0, SCENE)
        value = found.family.quadratic_forms(before.alpha, (here.drawn_key,))[0]
        assert path.probability == pytest.approx(value / here.total, rel=1e-9)


def test_names_are_those_of_the_family():
    family = problem().family
    for key in family.keys():
        assert product(key, FEATURES) == family.label(key)
