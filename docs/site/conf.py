# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site; scripts/docs copies this beside the pages and calls it."""
from sphinx.domains.cpp import CPPDomain

project = "Tulle"
html_title = "Tulle"
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
# Also where the reader's system asks for it, and not only by the button, for which the theme of Debian 12 has rules of its own.
dark = {
    "problematic": "#f27878", "foreground-primary": "#d8dade", "foreground-secondary": "#a3a8ae", "foreground-muted": "#888e95",
    "foreground-border": "#6b7076", "background-primary": "#15171a", "background-secondary": "#1d2024", "background-hover": "#25292e",
    "background-hover--transparent": "#25292e00", "background-border": "#363b41", "background-item": "#474d54",
    "brand-primary": "#6cb0f5", "brand-content": "#6cb0f5", "highlighted-background": "#123d66", "api-keyword": "#a3a8ae",
    "highlight-on-target": "#35361a", "admonition-background": "#1d2024",
}
html_theme_options = {"navigation_with_keys": True, "dark_css_variables": {f"color-{name}": value for name, value in dark.items()}}
exclude_patterns = ["extra"]
# Anchors of headings are those that the documents' own links name.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
suppress_warnings = ["myst.header"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
highlight_language = "text"
primary_domain = None
# They would make one dash of the two of an option.
smartquotes = False


def setup(app):
    """The search finds names, not their parameters."""
    def objects(domain):
        return (each for each in all_objects(domain) if each[2] not in ("templateParam", "functionParam"))
    all_objects = CPPDomain.get_objects
    CPPDomain.get_objects = objects
