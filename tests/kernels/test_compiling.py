"""Nothing is compiled on import, everything by `warm_up`, and no loop holds the lock."""

import json
import subprocess
import sys
import textwrap

import pytest

from mkldash.kernels import _compiled, _compiled_factors

COUNT = textwrap.dedent(
    """
    import json, sys
    import mkldash.kernels
    from mkldash._discovery import discover
    from mkldash.kernels.base import Kernel
    discover(mkldash.kernels, Kernel)
    from mkldash.kernels import _compiled, _compiled_factors
    loops = {
        name: loop
        for module in (_compiled, _compiled_factors)
        for name, loop in vars(module).items()
        if hasattr(loop, "signatures")
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


@pytest.mark.parametrize("module", [_compiled, _compiled_factors], ids=["packed", "factors"])
def test_every_loop_releases_the_lock_and_is_cached(module):
    loops = [loop for loop in vars(module).values() if hasattr(loop, "targetoptions")]
    assert len(loops) >= 10
    for loop in loops:
        assert loop.targetoptions["nogil"], loop
        assert loop.targetoptions["cache"] if "cache" in loop.targetoptions else loop._cache
