"""What a page offers to its views: facts, the kernel matrix, replaced pictures."""

import numpy as np
import pytest

from mkldash.apps.facts import expected, possible, present
from mkldash.apps.gallery import Gallery
from mkldash.apps.jobs import build_job
from mkldash.apps.player import Player
from mkldash.apps.scoring import GRAM, GRAM_ROWS, make_gram
from mkldash.apps.state import AppState
from mkldash.experiments.workload import prepare
from mkldash.solvers.base import new_cancel_flag
from mkldash.solvers.driver import solve
from mkldash.streaming import Building
from mkldash.views.base import FACTS, View
from mkldash.views.bounds import BoundsView


class Beside:
    """A session and a player, as far as facts look at them."""

    def __init__(self, job, rivals=True):
        self.job, self._rivals = job, rivals

    def races(self, session):
        return self._rivals


def facts(problem="neighborhood", rivals=True, **choices):
    state = AppState.default(problem).change(**choices)
    job = build_job(state, Building(new_cancel_flag()), warm=False, say=lambda _: None)
    beside = Beside(job, rivals)
    return present(beside, beside) & (FACTS | {"decision_grid", "shift"})


def test_one_kernel_in_the_plane_has_all_but_weights_and_three_points():
    assert facts() == {
        "plane", "gram", "rivals", "rho_sweep", "boundary_sweep", "decision_grid", "shift",
    }  # fmt: skip


def test_several_kernels_and_no_plane():
    found = facts(data="t8", bank="golden", train_fraction=1.0, rivals=False)
    assert found >= {"several_kernels", "gram", "rho_sweep", "plane"}
    assert "rivals" not in found
    found = facts(data="golden", bank="golden", train_fraction=1.0)
    assert found == {"several_kernels", "gram", "rivals", "rho_sweep", "shift"}


def test_three_points_of_both_classes():
    assert "three_points" in facts(data="three-points", train_fraction=1.0)
    assert "three_points" not in facts(data="t8", train_fraction=1.0)


def test_the_elastic_net_has_none_of_them():
    found = facts("elastic-net", data="golden", bank="golden")
    assert found == {"several_kernels"}
    assert not possible("elastic-net") & (FACTS - {"several_kernels", "plane"})


def test_what_is_expected_comes_true():
    for choices in ({"data": "golden"}, {"data": "golden", "bank": "golden"}, {"compare": ()}):
        state = AppState.default("neighborhood").change(**choices)
        job = build_job(state, Building(new_cancel_flag()), warm=False, say=lambda _: None)
        beside = Beside(job, rivals=bool(state.rivals(job.problem.n_rows)))
        assert expected(state) - present(beside, beside) == set()
        assert expected(state) <= possible("neighborhood")


def test_a_page_of_one_kernel_shows_no_weights():
    shown = {p.view.name for p in Gallery(AppState.default("neighborhood")).visible}
    assert shown >= {"gap", "accuracy"}
    assert not shown & {"weights-bars", "weights-heatmap"}
    several = AppState.default("neighborhood").change(bank="paper")
    assert {p.view.name for p in Gallery(several).visible} >= {"weights-bars", "weights-heatmap"}


class Better(BoundsView):
    """Bounds, and what only a neighborhood has."""

    name = "better-bounds"
    needs = frozenset({"upper", "lower", "gram"})
    replaces = "bounds"


def test_a_view_is_shown_instead_of_the_one_it_replaces(monkeypatch):
    kinds: dict[str, type[View]] = {"bounds": BoundsView, "better-bounds": Better}
    monkeypatch.setattr("mkldash.apps.gallery.available_views", lambda: kinds)
    gallery = Gallery(AppState.default("neighborhood"))
    assert [p.view.name for p in gallery.visible] == ["better-bounds"]
    gallery.offer(frozenset({"upper", "lower"}))
    assert [p.view.name for p in gallery.visible] == ["bounds"]
    assert [p.view.name for p in Gallery().pictures] == ["bounds"]


# -- the kernel matrix ---------------------------------------------------------


def workload(**choices):
    return prepare(AppState.default("neighborhood").change(**choices).choices())


def test_few_rows_are_all_there_sorted_by_class():
    work = workload(data="golden", train_fraction=1.0)
    gram = make_gram(work)
    assert sorted(gram.rows) == list(range(20))
    assert gram.y.tolist() == [-1.0] * 10 + [1.0] * 10
    K = work.bank.combine(np.ones(1)).matrix()
    np.testing.assert_array_equal(gram.K, K[np.ix_(gram.rows, gram.rows)])
    assert gram.n_rows == 20


@pytest.mark.parametrize("data", ["liver", "wpbc"])
def test_many_rows_are_thinned_in_proportion(data):
    work = workload(data=data, train_fraction=1.0)
    gram = make_gram(work)
    y = work.y_train
    assert gram.K.shape == (GRAM_ROWS, GRAM_ROWS)
    assert len(set(gram.rows)) == GRAM_ROWS
    assert np.count_nonzero(gram.y < 0) == pytest.approx(GRAM_ROWS * np.mean(y < 0), abs=1)
    assert np.all(np.diff(gram.y) >= 0)
    np.testing.assert_array_equal(gram.y, y[gram.rows])
    assert gram.rows[gram.y < 0][0] == np.flatnonzero(y < 0)[0]
    assert gram.rows[-1] == np.flatnonzero(y > 0)[-1]


def test_where_weights_are_learnt_each_scored_snapshot_has_its_own_matrix():
    state = AppState.default("neighborhood").change(data="golden", bank="golden")
    job = build_job(state, Building(new_cancel_flag()), warm=False, say=lambda _: None)
    result = solve(job.solver, job.problem, stop=job.stop)
    found = job.score(result.last)[GRAM]
    combined = job.problem.bank.combine(result.last.weights.values).matrix()
    rows = job.extra.gram.rows
    np.testing.assert_allclose(found, combined[np.ix_(rows, rows)], rtol=1e-6)
    assert not np.allclose(found, job.extra.gram.K)


def test_a_single_kernel_is_not_computed_again():
    state = AppState.default("neighborhood").change(data="golden")
    job = build_job(state, Building(new_cancel_flag()), warm=False, say=lambda _: None)
    result = solve(job.solver, job.problem, stop=job.stop)
    assert GRAM not in job.score(result.last)


def test_the_scene_shows_the_matrix_of_the_scored_row():
    import time

    state = AppState.default("neighborhood").change(
        data="golden", bank="golden", speed=1000.0, compare=()
    )
    player = Player(state, lambda: None)
    try:
        player.start()
        end = time.monotonic() + 30
        while player.current.status is None and time.monotonic() < end:
            time.sleep(0.005)
        session = player.current
        start = player.shown().scene.gram
        assert start is session.job.extra.gram
        last = len(session.trace) - 1
        session.want(last)
        while not session.trace.has_values(last) and time.monotonic() < end:
            time.sleep(0.005)
        shown = player.shown().scene.gram
        np.testing.assert_array_equal(shown.K, session.trace.values(last)[GRAM])
        assert player.shown().scene.gram is shown
        assert player.shown().scene.labels is session.job.problem.y
    finally:
        player.companions.close()
        player._runner.close()
