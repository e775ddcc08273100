"""`python -m tfmrc.evaluation`: scores prediction files on the command line."""

import sys

from tfmrc.evaluation.commands.command_line import main
from tfmrc.utils.pipes import run_piped

sys.exit(run_piped(main))
