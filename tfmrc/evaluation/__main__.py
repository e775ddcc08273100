"""`python -m tfmrc.evaluation`: score prediction files on the command line."""

import sys

from tfmrc.evaluation.commands.command_line import main

sys.exit(main())
