"""The fixture that fails a test that leaves a thread behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parent.parent / "conftest.py"
TESTS = """
import threading, time

def test_leaves_one():
    threading.Thread(target=time.sleep, args=(30,), name="left-over", daemon=True).start()

def test_tidies_up():
    thread = threading.Thread(target=time.sleep, args=(0.01,))
    thread.start()
"""


def test_a_test_that_leaves_a_thread_behind_fails(tmp_path):
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "test_two.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
    )
    assert "2 passed, 1 error" in done.stdout
    assert "left threads behind: left-over" in done.stdout
    assert done.returncode == 1
