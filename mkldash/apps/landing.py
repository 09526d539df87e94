"""The first page: the apps, lessons as links, and the table of symbols."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["LESSONS", "Lesson", "create"]


class Lesson(NamedTuple):
    """A named link that sets every choice.

    Attributes
    ----------
    title, line : str
    app : str
        URL name of the app.
    query : str
    """

    title: str
    line: str
    app: str
    query: str


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        "First look",
        "Two moons: a boundary bends into shape while two bounds close in.",
        "elastic_net",
        "data=two-moons&bank=paper&eta=0.5&C=100&tol=0.0001&speed=12",
    ),
    Lesson(
        "From smooth to sparse",
        "Move η from 0 to 1 and count the kernels that keep weight.",
        "elastic_net",
        "data=circles&bank=paper&eta=0&C=100&tol=0.0001&speed=12",
    ),
    Lesson(
        "A real problem",
        "Ionosphere, 442 of 455 kernels (column V2 is constant): which features matter?",
        "elastic_net",
        "data=ionosphere&bank=paper&eta=0.5&C=100&tol=0.001&speed=12",
    ),
    Lesson(
        "Why the slider looks dead",
        "A tiny C puts every point at its bound: the weights are pure alignment.",
        "elastic_net",
        "data=golden&bank=golden&eta=0.5&C=0.1&tol=1e-8&train_fraction=1&speed=5",
    ),
    Lesson(
        "Three kernels by hand",
        "T8: eight rows, two features, three kernels, one answer to check.",
        "elastic_net",
        "data=t8&bank=linear&eta=0.5&C=100&tol=0.000001&train_fraction=1&speed=5",
    ),
    Lesson(
        "800 kernels",
        "Sonar, 793 kernels: the map shows what no bar chart can.",
        "elastic_net",
        "data=sonar&bank=paper&eta=0.75&C=100&tol=0.001&speed=12",
    ),
    Lesson(
        "Growth 4 finds the true products",
        "y = 2 x₂x₅ + x₃ and noise: among 165 products the two true ones come out on top.",
        "mirror_descent",
        "data=known-products&degree=3&p=1&penalty=0.03&growth=4&tol=0.01&speed=60",
    ),
    Lesson(
        "Growth 1 lets noise in",
        "Long products as cheap as short ones: noise is drawn again and again, and gets weight.",
        "mirror_descent",
        "data=known-products&degree=3&p=1&penalty=0.03&growth=1&tol=0.01&speed=60",
    ),
    Lesson(
        "Growth 1 drowns the true ones",
        "The same with the step that remembers the large first gradients: the run goes astray, "
        "though the optimum is right.",
        "mirror_descent",
        "data=known-products&degree=3&p=1&penalty=0.03&growth=1&tol=0.01&speed=60"
        "&o.step_rule=adaptive",
    ),
    Lesson(
        "Whom to draw?",
        "Every product as likely: watch the noise, and the test error beside ideal sampling.",
        "mirror_descent",
        "data=known-products&degree=3&p=1&penalty=0.1&growth=4&tol=0.01&speed=60"
        "&solver=uniform-sampling",
    ),
    Lesson(
        "More products than can be listed",
        "Up to 20 factors: more words than anybody lists, two true ones, and a certificate.",
        "mirror_descent",
        "data=known-products&degree=20&p=1&penalty=0.1&growth=4&tol=0.01&speed=60",
    ),
    Lesson(
        "All products at once",
        "p = 2 keeps them all: one product a step is slow. Take the full gradient and compare.",
        "mirror_descent",
        "data=energy-heating&degree=2&p=2&penalty=1&growth=4&tol=0.01&speed=60",
    ),
    Lesson(
        "What ρ does",
        "Two moons: drag ρ from 0.01 to 10⁶ and watch the boundary and the test accuracy.",
        "neighborhood_kernel",
        "data=two-moons&rho=1000&C=10&sigma_factor=1&tol=0.000001&speed=12",
    ),
    Lesson(
        "The level method in the plane",
        "Three points: the dual is a triangle, and every cut that closes in is drawn.",
        "neighborhood_kernel",
        "data=three-points&solver=level&rho=1&C=2&sigma_factor=1&tol=0.00001"
        "&train_fraction=1&speed=2",
    ),
    Lesson(
        "Liver, all solvers",
        "The paper's first data set: five solvers race to one certified answer.",
        "neighborhood_kernel",
        "data=liver&rho=100&C=1&sigma_factor=4&tol=0.000001&train_fraction=1&speed=12",
    ),
    Lesson(
        "Where ρ helps",
        "Liver: between a kernel that bends too far and the plain SVM lies a better one.",
        "neighborhood_kernel",
        "data=liver&rho=100&C=10&sigma_factor=4&tol=0.000001&speed=12",
    ),
    Lesson(
        "Large ρ is the plain SVM",
        "ρ infinite: no neighborhood, shift 0. Type 100 and see what changes.",
        "neighborhood_kernel",
        "data=pima&rho=inf&C=1&sigma_factor=4&tol=0.000001&speed=12",
    ),
    Lesson(
        "Every solver, one elastic net",
        "Ionosphere, kept in step by inner solves: what does a wise step save, and what does it "
        "cost in seconds?",
        "race",
        "data=ionosphere&tol=0.001&axis=solves&speed=5",
    ),
    Lesson(
        "Four solvers, one neighborhood",
        "Liver: the shifted SVM takes 3 iterations where gradients take thirty. Which axis is "
        "fair? Try all three.",
        "race",
        "data=liver&tol=1e-5&speed=5&neighborhood=bank:single~C:1~rho:100"
        "&a=neighborhood~shifted-svm&b=neighborhood~accelerated&c=neighborhood~gradient"
        "&d=neighborhood~level",
    ),
    Lesson(
        "To draw one product or to look at all",
        "Known products, by seconds: cheap steps against wise ones, and blind draws behind both.",
        "race",
        "data=known-products&tol=0.01&axis=seconds&speed=25",
    ),
    Lesson(
        "A branch with another η",
        "Two moons: the same run goes on from iteration 5 with η = 1, a warm start beside the "
        "old one.",
        "race",
        "data=two-moons&tol=0.001&speed=5&elastic-net=bank:paper~eta:0.5~C:10"
        "&a=elastic-net~block-coordinate&b=elastic-net~block-coordinate~eta:1~from:a5",
    ),
    Lesson(
        "Many kernels and a neighborhood",
        "Two moons, 39 kernels: weights are learnt while the combined kernel bends.",
        "neighborhood_kernel",
        "data=two-moons&bank=paper&solver=block-coordinate&rho=1&eta=0.5&C=1&tol=0.0001&speed=12",
    ),
)


def create() -> Any:
    """The page of one browser session."""
    import panel as pn

    from mkldash.apps import available_apps, ui

    ui.extension()
    apps = available_apps()
    main = pn.Column(
        ui.prose(_INTRODUCTION),
        ui.prose(_apps(apps)),
        ui.prose(_lessons(apps)),
        ui.prose(_symbols()),
        sizing_mode="stretch_width",
        max_width=1180,
        margin=0,
        styles={"padding": "18px", "gap": "8px", "margin": "0 auto"},
    )
    return ui.page(title="mkldash", main=[main])


_INTRODUCTION = """
<h1>Watch multiple kernel learning think</h1>
<p class="lead">Several kernels, one model: which kernels deserve weight, how far may a kernel
bend, and what if there are too many to list? Every solver here streams its iterations, and two
bounds <em>prove</em> how close the answer is. Press play, drag a slider, go back in time, send
somebody the link.</p>
"""


def _apps(apps: dict[str, Any]) -> str:
    cards = []
    for name, module in apps.items():
        query = f"?{html.escape(module.QUERY)}" if hasattr(module, "QUERY") else ""
        picture = Path(__file__).parent / "pictures" / f"{module.PICTURE}.png"
        image = (
            f'<img src="pictures/{picture.name}" alt="Screenshot of {html.escape(module.TITLE)}">'
            if picture.exists()
            else ""
        )
        cards.append(
            f'<a class="app" href="{name}{query}">{image}<div><h3>{html.escape(module.TITLE)}</h3>'
            f"<p>{html.escape(module.LINE)}</p></div></a>"
        )
    return f'<h2>Apps</h2><div class="apps">{"".join(cards)}</div>'


def _lessons(apps: dict[str, Any]) -> str:
    parts = ["<h2>Lessons</h2>"]
    for name, module in apps.items():
        links = [
            f'<a class="lesson" href="{x.app}?{html.escape(x.query)}">'
            f"<b>{html.escape(x.title)}</b><span>{html.escape(x.line)}</span></a>"
            for x in LESSONS
            if x.app == name
        ]
        parts.append(
            f'<h3>{html.escape(module.TITLE)}</h3><div class="lessons">{"".join(links)}</div>'
        )
    return "".join(parts)


def _symbols() -> str:
    from mkldash.symbols import SYMBOLS

    head = "".join(
        f'<th scope="col">{t}</th>'
        for t in ("here", "meaning", "elastic-net MKL", "mirror descent", "ONK")
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{_formula(cell)}</td>"
            for cell in (s.ours, s.meaning, s.elastic_net, s.mirror_descent, s.neighborhood)
        )
        + "</tr>"
        for s in SYMBOLS
    )
    return (
        "<h2>Symbols</h2><p>What each paper calls what is called otherwise here.</p>"
        '<div class="wide" role="region" aria-label="Symbols" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _formula(text: str) -> str:
    """``K_k`` and ``ρ_i^-2`` as HTML, with what is below and above the line set so."""
    below = re.sub(r"_([^\W_²³]+)", r"<sub>\1</sub>", html.escape(text, quote=False))
    return re.sub(r"\^(-?)([^\W_]+)", lambda m: f"<sup>{'−' if m[1] else ''}{m[2]}</sup>", below)
