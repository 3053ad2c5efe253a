"""The site. ``python -m sphinx -W docs docs/_build`` builds it; `reference.py` writes a page for each function."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import xpops

project = "xpops"
author = copyright = "The xpops developers"
version = release = xpops.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "links",
    "reference",
]
exclude_patterns = ["examples", "_build"]
# The pages link to files of the repository, too.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
html_theme = "pydata_sphinx_theme"
html_title = "xpops"
html_theme_options = {
    "icon_links": [{"name": "Source", "url": "https://github.com/xpops/xpops", "icon": "fa-brands fa-github"}],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_typehints = "none"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
default_role = "code"
nitpicky = False
