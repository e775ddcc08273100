"""`python -m tfmrc.evaluation`: scores prediction files on the command line."""

import sys

from tfmrc.evaluation.commands.command_line import main

sys.exit(main())
