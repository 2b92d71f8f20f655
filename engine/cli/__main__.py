"""Runs the command line without the window: `python -m engine.cli`."""

import sys

from engine.cli.main import main

sys.exit(main())
