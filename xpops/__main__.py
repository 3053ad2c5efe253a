"""``python -m xpops``: the main job, ``warmup`` and ``info``."""

import sys

from xpops.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
