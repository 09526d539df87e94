"""``python -m mkldash`` is the command line."""

import sys

from mkldash.cli import main

if __name__ == "__main__":
    sys.exit(main())
