# SPDX-License-Identifier: Apache-2.0
"""What the page of `tulle bench --html` holds, and, where there is Node.js, what its script makes of it: it runs over three elements that
stand in for those of a browser."""
import html.parser
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

NODE = shutil.which("node")

# Prints what the script has made of the page, and of the tooltip: with the pointer on a value near the lower right corner of the window, and
# with the pointer on nothing.
BROWSER = """
const [figures, script] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const elements = {figures: {textContent: figures}, page: {}, tip: {hidden: true, style: {}, offsetWidth: 80, offsetHeight: 40}};
const listeners = {};
const document = {getElementById: id => elements[id], addEventListener: (name, listener) => { listeners[name] = listener; }};
require("vm").runInNewContext(script, {document, innerWidth: 400, innerHeight: 300}, {filename: "page"});
listeners.pointermove({target: {closest: () => ({dataset: {tip: "a <b>"}})}, clientX: 390, clientY: 20});
const on = JSON.stringify(elements.tip);
listeners.pointermove({target: {}});
console.log(JSON.stringify({page: String(elements.page.innerHTML), on: JSON.parse(on), off: elements.tip}));
"""


class Scripts(html.parser.HTMLParser):
    """The contents of the scripts of a page, and what it would load from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.loaded, self.is_in_script = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        self.is_in_script = tag == "script"
        if self.is_in_script:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.is_in_script = False

    def handle_data(self, data):
        if self.is_in_script:
            self.scripts[-1] += data


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        found = Scripts(self.text)
        self.loaded = found.loaded
        self.data, self.script = found.scripts
        self.about, *self.figures = map(json.loads, self.data.splitlines()[1:])


class Drawn:
    """What stands on the page: elements, with names as in HTML; the script must have made it well-formed."""

    def __init__(self, page):
        done = subprocess.run([NODE, "-e", BROWSER], input=json.dumps([page.data, page.script]), capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
        self.tip_on, self.tip_off = made["on"], made["off"]
        self.text = made["page"]
        assert not re.search("NaN|Infinity|undefined|object Object", self.text), self.text
        self.root = xml.fromstring(f"<main>{self.text}</main>")

    def all(self, tag, **attributes):
        """Elements of that name; of class_="a" those that have this among their classes."""
        wanted = attributes.pop("class_", None)
        return [e for e in self.root.iter(tag) if (wanted is None or wanted in e.get("class", "").split())
                and all(e.get(name) == value for name, value in attributes.items())]

    def texts(self, tag, **attributes):
        return ["".join(e.itertext()).strip() for e in self.all(tag, **attributes)]

    @property
    def plots(self):
        return self.all("svg")

    @property
    def curves(self):
        return self.all("g", class_="curve")

    @property
    def tips(self):
        return [e.get("data-tip").split("\n") for e in self.root.iter() if e.get("data-tip")]

    def rows(self):
        """Of all tables, without their heads."""
        return [[cell.text or "" for cell in row] for row in self.all("tr") if row[0].tag == "td"]


def expect_no_text_cut(test, svg):
    """Each text of a plot lies in it, with 6.5 units for a letter."""
    width, height = map(float, svg.get("viewBox").split()[2:])
    for text in svg.iter("text"):
        room = 6.5 * len(text.text) * {None: 1, "middle": 0.5, "end": 0}[text.get("text-anchor")]
        test.assertLessEqual(float(text.get("x")) + room, width, text.text)
        test.assertGreaterEqual(float(text.get("x")) - (0 if room else 6.5 * len(text.text)), 0, text.text)
        test.assertTrue(9 <= float(text.get("y")) <= height - 3, text.text)
