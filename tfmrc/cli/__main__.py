"""`python -m tfmrc.cli` is the `tfmrc` command."""

import sys

from tfmrc.cli.program import main

sys.exit(main())
