"""The documentation: Sphinx + MyST-NB. Notebooks run when it is built; `docs/reference.py` writes the reference."""

import shutil
from pathlib import Path

import thalweg

project = "thalweg"
author = "thalweg contributors"
copyright = author
release = version = thalweg.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build", "_static", "Thumbs.db", ".DS_Store"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 5

nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "image/svg+xml", 5)]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
default_role = "code"  # docstrings quote code in single backticks

html_theme = "furo"
html_title = f"thalweg {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False

# `make playground` builds it; where it has not been built, its page says how.
_PLAYGROUND = Path(__file__).parents[1] / "web" / "dist" / "index.html"
if _PLAYGROUND.is_file():
    tags.add("playground")  # noqa: F821 (Sphinx gives it)


def _with_playground(app, error):
    if app.tags.has("playground") and not error:
        place = Path(app.outdir) / "playground"
        place.mkdir(exist_ok=True)
        shutil.copyfile(_PLAYGROUND, place / "index.html")


def setup(app):
    app.connect("build-finished", _with_playground)
