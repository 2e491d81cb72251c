# SPDX-License-Identifier: Apache-2.0
"""Links of a site of HTML pages, all of which must lead to something in it; those that leave it are not followed."""
import html.parser
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loads = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and values.get("name"):
            self.anchors.add(values["name"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for attribute in ("src", "href"):
            if tag in ("script", "img", "link") and values.get(attribute):
                self.loads.append(values[attribute])


def is_outside(link):
    return urllib.parse.urlsplit(link).scheme != "" or link.startswith("//")


def broken(folder):
    """One line for each link that leads nowhere, and for each thing that a page would load from elsewhere."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    found = []
    for path, page in sorted(pages.items()):
        name = path.relative_to(folder.resolve())
        for link in page.loads:
            if is_outside(link) and not link.startswith("data:"):
                found.append(f"{name}: loads {link}, which needs a network")
        for link in [*page.links, *(link for link in page.loads if not is_outside(link))]:
            if not is_outside(link) and not leads_somewhere(path, link, pages):
                found.append(f"{name}: {link} leads nowhere")
    return found


def leads_somewhere(path, link, pages):
    parts = urllib.parse.urlsplit(link)
    target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    fragment = urllib.parse.unquote(parts.fragment)
    return not fragment or target not in pages or fragment in pages[target].anchors
