# SPDX-License-Identifier: Apache-2.0
"""What strangers read: links lead somewhere, the README is short, each chapter of the guide is listed, and its code fits on a page."""
import re
import unittest

import planted

ROOT = planted.PROJECT
GUIDE = ROOT / "docs/guide"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SPAN = re.compile(r"`[^`\n]*`")


def read(path):
    return path.read_text(encoding="utf-8")


def anchors(path):
    """As GitHub makes them of headings."""
    titles = HEADING.findall(BLOCK.sub("", read(path)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page, link):
    """What is wrong with a link of a page; nothing if it leads somewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return f"there is no {path}"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"{path or page.name} has no heading '{anchor}'"
    return None


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in LINK.findall(SPAN.sub("", BLOCK.sub("", read(page)))):
                with self.subTest(page=page.relative_to(ROOT), link=link):
                    self.assertIsNone(broken(page, link))

    def test_finds_links_that_lead_nowhere(self):
        self.assertEqual(broken(ROOT / "README.md", "docs/none.md"), "there is no docs/none.md")
        self.assertIn("no heading 'none'", broken(ROOT / "README.md", "docs/guide/fast.md#none"))
        self.assertIsNone(broken(ROOT / "README.md", "docs/guide/fast.md#measured"))

    def test_the_readme_is_short(self):
        self.assertLessEqual(len(read(ROOT / "README.md").splitlines()), 120)

    def test_the_index_of_the_guide_lists_each_chapter(self):
        listed = re.findall(r"^\| \[[^\]]+\]\((\w+\.md)\)", read(GUIDE / "README.md"), re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(page.name for page in GUIDE.glob("*.md") if page.name != "README.md"))

    def test_chapters_lead_to_each_other_in_the_order_of_the_index(self):
        listed = re.findall(r"^\| \[[^\]]+\]\((\w+\.md)\)", read(GUIDE / "README.md"), re.MULTILINE)
        for here, after in zip(listed, listed[1:]):
            with self.subTest(page=here):
                self.assertRegex(read(GUIDE / here), rf"next: \[[^\]]+\]\({after}\)")
                self.assertRegex(read(GUIDE / after), rf"before: \[[^\]]+\]\({here}\)")

    def test_each_program_of_the_guide_is_a_test(self):
        for page in GUIDE.glob("*.md"):
            text = read(page)
            for start in re.finditer(r"^```(cpp|c|go)$", text, re.MULTILINE):
                line = text.count("\n", 0, start.start()) + 1
                with self.subTest(page=page.name, line=line):
                    self.assertRegex(text[:start.start()].splitlines()[-1], r"^<!-- test.*-->$")

    def test_man_pages_that_are_named_exist(self):
        for page in GUIDE.glob("*.md"):
            for name, section in re.findall(r"\b(tulle[\w-]*)\((\d)\)", read(page)):
                with self.subTest(page=page.name, name=name):
                    self.assertTrue((ROOT / f"docs/man/{name}.{section}").exists())

    def test_code_is_narrow(self):
        for page in PAGES:
            for block in BLOCK.findall(read(page)):
                for line in block.splitlines():
                    with self.subTest(page=page.name, line=line):
                        self.assertLessEqual(len(line), 100)


planted.main()
