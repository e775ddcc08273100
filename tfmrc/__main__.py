"""`python -m tfmrc` is the `tfmrc` command."""

import sys

from tfmrc.cli import main

sys.exit(main())
