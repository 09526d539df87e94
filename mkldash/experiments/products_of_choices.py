"""From choices and rows to the family of products, and the data as its kernels see them."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mkldash.datasets.splits import Split
from mkldash.errors import InputError, MemoryLimitError
from mkldash.experiments.banks_of_choices import Seen, features_of, ways_out
from mkldash.experiments.choices import Choices
from mkldash.experiments.sources import Source
from mkldash.experiments.warming import warm_up_family
from mkldash.kernels.normalization import Standardizer, constant_columns
from mkldash.kernels.products import product_family

Array = NDArray[np.float64]

__all__ = ["table_products", "target_scale"]


def table_products(
    choices: Choices, source: Source, parts: Split, say: Callable[[str], None]
) -> Seen:
    """The products of the features of a table, one linear kernel for each."""
    target = target_scale(source.dataset.y[parts.train], source.dataset.target_name)
    X_train, X_test, standardizer = features_of(choices, source, parts)
    # A constant is the offset over again, or nothing once it is standardised.
    varies = ~constant_columns(X_train)
    if not varies.any():
        raise InputError(
            "every feature is constant on the training rows: take a larger --train-fraction"
        )
    X_train, X_test = X_train[:, varies], X_test[:, varies]
    named = tuple(zip(source.dataset.feature_names, varies, strict=True))
    names = tuple(name for name, moving in named if moving)
    say(f"preparing products of up to {choices.degree} of {len(names)} features")
    warm_up_family()
    begun = time.perf_counter()
    try:
        family = product_family(
            X_train,
            names,
            degree=choices.degree,
            penalty=choices.penalty,
            growth=choices.growth,
            merged=choices.p == 1.0,
            memory_limit=choices.memory_limit,
        )
    except MemoryLimitError as error:
        needs, _, _ = str(error).partition(" Ways out:")
        fewer = ["fewer features (--exclude COLUMN)", "a smaller --degree"]
        raise MemoryLimitError(f"{needs} Ways out: {ways_out(fewer, choices)}.") from error
    return Seen(
        kernels=family,
        name=choices.kind.bank,
        seconds=time.perf_counter() - begun,
        X_train=X_train,
        X_test=X_test,
        standardizer=standardizer,
        target=target,
        notes=_dropped_note([name for name, moving in named if not moving]),
    )


def _dropped_note(names: list[str]) -> tuple[str, ...]:
    """A sentence on the columns that are left out."""
    if not names:
        return ()
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    verb = "is" if len(names) == 1 else "are"
    return (f"{shown} {verb} constant on the training rows: left out of the products",)


def target_scale(y: Array, name: str) -> Standardizer:
    """Mean and standard deviation of the target on the training rows.

    Parameters
    ----------
    y : array, shape (n_train,)
        Not constant; `mkldash.datasets.splits.split` sees to that.
    name : str
        Of the target column, for messages.

    Raises
    ------
    InputError
        For a target whose values are too far apart.
    """
    try:
        return Standardizer.fit(y[:, np.newaxis])
    except InputError as error:
        raise InputError(
            f"the target '{name}' spans {y.min():.3g} to {y.max():.3g} on the training rows, "
            "too far to be standardised; rescale it"
        ) from error
