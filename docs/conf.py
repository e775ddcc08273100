"""The site: `make docs` builds docs/_build/html from the pages and the code.

The source folder is the repository, so a link from page to page works on the site as in a checkout.
"""

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import reference  # noqa: E402
from docutils import nodes  # noqa: E402
from latex2mathml.converter import convert  # noqa: E402
from sphinx.pycode import ModuleAnalyzer  # noqa: E402
from sphinx.util.inspect import stringify_signature  # noqa: E402

import tfmrc  # noqa: E402
from tests import equations  # noqa: E402

project, author = "tfmrc", "the authors of tfmrc"
release = version = tfmrc.__version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "**/README.md"]
exclude_patterns = [".*", "README.md", "build", "docs/_build", "runs", "savedmodels/*/**", "tests"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += ["sphinx_copybutton"]

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
nb_execution_mode = "off"  # the tutorials hold their outputs

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_use_ivar = True
napoleon_custom_sections = [("Call arguments", "params_style")]
smartquotes = False  # `--option` stays as it is
default_role = "py:obj"  # `name` in a docstring: a link where it is a public name
viewcode_line_numbers = True

html_theme = "furo"
html_title = f"tfmrc {version}"
html_copy_source = html_show_sphinx = html_show_copyright = False


def link_lines(app):
    """Gives the pages of code an anchor for each line, and a page to each module of equations."""
    app.builder.highlighter.formatter_args["lineanchors"] = "L"
    modules = app.env._viewcode_modules
    places = {place for found in equations.computed().values() for place in found}
    for path in {place.split("::")[0] for place in places}:
        name = path.removesuffix(".py").replace("/", ".")
        if not modules.get(name):
            analyzer = ModuleAnalyzer.for_module(name)
            analyzer.find_tags()
            modules[name] = analyzer.code, analyzer.tags, {}, name
    return ()


def write_formula(translator, node):
    """Writes a formula as MathML, which a browser shows without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def write_start(app, error):
    """Writes a page at the top that leads to the first page."""
    if not error:
        page = '<meta http-equiv="refresh" content="0; url=docs/index.html">\n'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def skip_fields(app, what, name, value, skip, options):
    """Leaves out the fields of named tuples, which their docstrings describe."""
    return True if str(getattr(value, "__doc__", "")).startswith("Alias for field") else None


def show_arguments(app, what, name, value, options, signature, returned):
    """Shows the arguments of a constructor where autodoc found those of Keras' `__new__`."""
    if what == "class" and signature and signature.startswith("(*args"):
        parameters = [*inspect.signature(value.__init__).parameters.values()][1:]
        return stringify_signature(inspect.Signature(parameters)), returned
    return None


def setup(app) -> None:
    """Writes the generated pages before Sphinx looks for pages."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    reference.write(ROOT / "docs" / "reference" / "api")
    app.connect("html-collect-pages", link_lines, priority=100)
    app.connect("build-finished", write_start)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-signature", show_arguments)
