"""Nothing is compiled on import, everything by `warm_up`, and no loop holds the lock."""

import json
import subprocess
import sys
import textwrap

import pytest

from mkldash.kernels import (
    _compiled,
    _compiled_factors,
    _compiled_products,
    _compiled_square,
)

COUNT = textwrap.dedent(
    """
    import json, sys
    import mkldash.kernels
    from mkldash._discovery import discover
    from mkldash.kernels.base import Kernel
    discover(mkldash.kernels, Kernel)
    from mkldash.kernels import _compiled, _compiled_factors, _compiled_products, _compiled_square
    loops = {
        name: loop
        for module in (_compiled, _compiled_factors, _compiled_products, _compiled_square)
        for name, loop in vars(module).items()
        # What only other loops call is part of them, and read from disk with them.
        if hasattr(loop, "signatures") and not name.startswith("_")
    }
    before = {name: len(loop.signatures) for name, loop in loops.items()}
    from mkldash.kernels.warming import warm_up
    warm_up()
    after = {name: len(loop.signatures) for name, loop in loops.items()}
    print(json.dumps([before, after]))
    """
)


def test_import_compiles_nothing_and_warm_up_everything_once():
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout)
    assert set(before.values()) == {0}
    # A second signature would be compiled in the middle of somebody's run.
    assert set(after.values()) == {1}, after


@pytest.mark.parametrize(
    ("module", "least"),
    [(_compiled, 10), (_compiled_factors, 10), (_compiled_square, 4), (_compiled_products, 8)],
    ids=["packed", "factors", "square", "products"],
)
def test_every_loop_releases_the_lock_and_is_cached(module, least):
    loops = [loop for loop in vars(module).values() if hasattr(loop, "targetoptions")]
    assert len(loops) >= least
    for loop in loops:
        assert loop.targetoptions["nogil"], loop
        assert loop.targetoptions["cache"] if "cache" in loop.targetoptions else loop._cache
