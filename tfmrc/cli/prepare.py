"""Read and split the data of a recipe, and count its words."""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import add_shared, add_table_options, recipe_of


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("recipe", help="a YAML file, or the name of a recipe of tfmrc")
    parser.add_argument("--run", metavar="FOLDER", help="the run's folder; default: runs/NAME")
    add_shared(parser, "--data")
    add_table_options(parser, "stop, or leave it out; default: as the recipe says, else stop")
    add_shared(parser, "--set")


def run(options: Namespace) -> None:
    from tfmrc import experiments

    experiments.prepare(recipe_of(options), data=options.data, run=options.run)
