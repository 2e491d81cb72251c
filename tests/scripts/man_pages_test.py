# SPDX-License-Identifier: Apache-2.0
"""Each C function has a man page that names and declares it as the headers do, each option is on one, and no page describes what does not exist."""
import re
import shutil
import subprocess
import unittest

import planted

C = (planted.PROJECT / "include/tulle.h").read_text(encoding="utf-8")
HEADERS = ("include/tulle.h", *(f"include/{name}" for name in re.findall(r"^#include <(tulle/c/\w+\.h)>$", C, re.MULTILINE)))
PAGES = sorted((planted.PROJECT / "docs/man").glob("tulle_*.3"))
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FUNCTION = re.compile(r"TULLE_API\s+([\w\s*]+?)\b(tulle_\w+)\s*\(([^;]*)\);")
ONE_LINE = re.compile(r"^\.Ft (.+)\n\.Fn (\w+) (.+)$", re.MULTILINE)
MANY_LINES = re.compile(r"^\.Ft (.+)\n\.Fo (\w+)\n((?:\.Fa .+\n)+)\.Fc$", re.MULTILINE)


def spaceless(text):
    return re.sub(r"\s", "", text)


def declared():
    """Function -> its type and parameters, without spaces."""
    functions = {}
    for header in HEADERS:
        text = COMMENT.sub("", (planted.PROJECT / header).read_text(encoding="utf-8"))
        for kind, name, parameters in FUNCTION.findall(text):
            functions[name] = spaceless(f"{kind}({parameters})")
    return functions


def documented(page):
    """The same from the SYNOPSIS of a page."""
    text = page.read_text(encoding="utf-8")
    found = {}
    for kind, name, rest in ONE_LINE.findall(text):
        parameters = re.findall(r'"([^"]+)"|(\S+)', rest)
        found[name] = spaceless(f"{kind}({','.join(quoted or word for quoted, word in parameters)})")
    for kind, name, rest in MANY_LINES.findall(text):
        found[name] = spaceless(f"{kind}({','.join(re.findall(r'^.Fa .?(.+?).?$', rest, re.MULTILINE))})".replace('"', ""))
    return found


def names(page):
    head = page.read_text(encoding="utf-8").split(".Sh SYNOPSIS")[0]
    return re.findall(r"^\.Nm (\w+)", head, re.MULTILINE)


def options():
    """Of the library: the names in its table, each on a line of its own."""
    table = (planted.PROJECT / "src/base/option.cpp").read_text(encoding="utf-8")
    return re.findall(r'^    \{"(\w+)",$', table, re.MULTILINE)


class ManPages(unittest.TestCase):
    def test_each_option_is_on_a_page(self):
        count = re.search(r"k_option_count = (\d+);", (planted.PROJECT / "src/base/option.hpp").read_text(encoding="utf-8"))
        self.assertEqual(len(options()), int(count[1]))
        pages = "\n".join(page.read_text(encoding="utf-8") for page in (planted.PROJECT / "docs/man").glob("tulle*.[1-8]"))
        for name in options():
            with self.subTest(option=name):
                self.assertRegex(pages, rf"(?m)\bTULLE_{name.upper()}\b|^\.Cm {name}\b")

    def test_finds_the_functions_of_the_headers(self):
        self.assertLessEqual({"tulle_init", "tulle_thread_timed_join", "tulle_once", "tulle_version"}, set(declared()))

    def test_each_function_is_declared_on_one_page_as_in_its_header(self):
        pages = {}
        for page in PAGES:
            for name, signature in documented(page).items():
                self.assertNotIn(name, pages, f"{page.name} declares it again")
                pages[name] = signature
        self.assertEqual(pages, declared())

    def test_each_page_names_what_it_declares(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                self.assertEqual(sorted(names(page)), sorted(documented(page)))

    def test_references_lead_somewhere(self):
        functions = declared()
        for page in (planted.PROJECT / "docs/man").glob("tulle*.[1-8]"):
            text = page.read_text(encoding="utf-8")
            for name, section in re.findall(r"^\..*\bXr (tulle[\w-]*) (\d)", text, re.MULTILINE):
                with self.subTest(page=page.name, to=name):
                    there = (page.parent / f"{name}.{section}").exists()
                    self.assertTrue(there or (section == "3" and name in functions), "no such page")

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_no_error(self):
        for page in (planted.PROJECT / "docs/man").glob("*.[1-8]"):
            with self.subTest(page=page.name):
                run = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True, check=False)
                self.assertEqual(run.stdout + run.stderr, "")


planted.main()
