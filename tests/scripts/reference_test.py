# SPDX-License-Identifier: Apache-2.0
"""The reference: each public name has a text and each header a program, what the reader of headers finds, what becomes of comments, and links of the site."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import planted

sys.dont_write_bytecode = True
sys.path.insert(0, str(planted.PROJECT / "scripts/lib"))
import headers  # noqa: E402
import reference_pages  # noqa: E402
import site_links  # noqa: E402

HEADER = """// SPDX-License-Identifier: Apache-2.0
// What it is for.
#pragma once

namespace tulle {

namespace detail {
struct hidden {
    int inherited; // by what is public
};
} // namespace detail

// A lock.
class lock_like : public detail::hidden {
public:
    constexpr lock_like() noexcept = default;
    lock_like(lock_like const&) = delete;
    // Waits.
    TULLE_INLINE void lock() noexcept {
        if (!m_front.try_lock()) { cold(); }
    }
    // False: the time was up.
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout);
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline);
    explicit lock_like(int n) : m_n(n), m_more{n} {} // of so many

private:
    void cold();
    int m_n;
};

// Starts it.
template <class F>
requires(!std::is_same_v<F, int> && requires(F& f) { f(); }) [[nodiscard]] auto start(F&& f) { return f(); }

// --- numbers ---------------------------------------------------------------------------------

struct counts {
    int least = 1; // at least
    int most{2};   // at most
};

} // namespace tulle
"""
PROGRAMS = "# Programs\n\n## one.hpp\n<!-- test -->\n```cpp\nint main() {}\n```\n"
UMBRELLA = PROGRAMS.replace("# Programs\n\n", "\n").replace("one.hpp", "tulle.hpp")
INDEX = "# Index\n\n## Headers by subject\n| subject | C++ | C |\n|---|---|---|\n| One | [one](../../include/tulle/one.hpp), [all](../../include/tulle/tulle.hpp) | [tulle.h](../../include/tulle.h) |\n"


def parsed(text, name="one.hpp"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text, encoding="utf-8")
        return headers.parse(path)


class CheckReference(planted.PlantedProject):
    check = "check-reference"

    def setUp(self):
        super().setUp()
        self.plant("include/tulle/one.hpp", HEADER.replace("struct counts {", "// Two numbers.\nstruct counts {"))
        self.plant("include/tulle/tulle.hpp", "// All.", "#include <tulle/one.hpp>")
        self.plant("include/tulle.h", "/* SPDX-License-Identifier: Apache-2.0 */", "/* For C. */")
        self.plant("docs/reference/cpp.md", PROGRAMS + UMBRELLA)
        self.plant("docs/reference/c.md", PROGRAMS.replace("one.hpp", "tulle.h").replace("```cpp", "```c"))
        self.plant("docs/reference/README.md", INDEX)
        for name in headers.PUBLIC_IN_DETAIL:
            self.plant(f"include/tulle/detail/{name}", "// Nothing public.")

    def test_passes_the_project(self):
        result = subprocess.run([sys.executable, "-B", planted.PROJECT / "scripts/check-reference"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_accepts_what_has_texts(self):
        self.assert_passes()

    def test_finds_a_name_without_a_text(self):
        self.plant("include/tulle/one.hpp", HEADER)
        self.assert_fails("nothing is said of counts")

    def test_finds_a_header_without_a_program_and_without_a_place(self):
        self.plant("include/tulle/two.hpp", HEADER.replace("struct counts {", "// Two numbers.\nstruct counts {"))
        self.assert_fails("two.hpp: docs/reference has no program for it", "two.hpp: the table of docs/reference/README.md lists it 0 times",
                          "include/tulle/tulle.hpp: does not include <tulle/two.hpp>")

    def test_finds_a_program_that_is_no_test(self):
        self.plant("docs/reference/cpp.md", PROGRAMS.replace("<!-- test -->\n", "") + UMBRELLA)
        self.assert_fails("one.hpp: docs/reference has no program for it")

    def test_finds_public_names_in_detail(self):
        self.plant("include/tulle/detail/new.hpp", "// Inner.", "namespace tulle {", "class seen {};", "}")
        self.assert_fails("tulle::seen is public")

    def test_finds_values_of_detail_that_the_reference_does_not_tell(self):
        self.plant("include/tulle/detail/channel_calls.hpp", "// Inner.", "namespace tulle {", "// How it went.", "enum class outcome {",
                   "    good, // well", "    bad // not well", "};", "}")
        section = "\n## channel.hpp\nAn `outcome` is `good`.\n"
        self.plant("docs/reference/cpp.md", PROGRAMS + UMBRELLA + section)
        self.assert_fails("docs/reference/cpp.md does not tell of `bad` at channel.hpp")
        self.plant("docs/reference/cpp.md", PROGRAMS + UMBRELLA + section.replace("`good`", "`good` or `bad`"))
        self.assert_passes()


class Headers(unittest.TestCase):
    def setUp(self):
        self.purpose, self.declared = parsed(HEADER)
        self.by_name = {each.name: each for each in self.declared}

    def test_reads_what_a_header_is_for(self):
        self.assertEqual(self.purpose, "What it is for.")

    def test_leaves_out_what_is_private_deleted_or_in_detail(self):
        self.assertEqual([each.name for each in self.declared], ["lock_like", "start", "", "counts"])
        names = [name for each in self.by_name["lock_like"].members for name in each.names]
        self.assertEqual(names, ["inherited", "lock_like", "lock", "try_lock_for", "try_lock_until", "lock_like"])

    def test_forms_of_an_operation_share_a_text(self):
        forms = self.by_name["lock_like"].members[3]
        self.assertEqual((len(forms.signatures), forms.text), (2, "False: the time was up."))

    def test_signatures_are_what_one_writes(self):
        lock_like = self.by_name["lock_like"]
        self.assertEqual(lock_like.members[2].signatures, ["void lock() noexcept"])
        self.assertEqual(lock_like.members[4].signatures, ["explicit lock_like(int n)"])
        self.assertEqual(self.by_name["start"].signatures, ["template <class F> auto start(F&& f)"])

    def test_a_comment_behind_a_declaration_is_its_own(self):
        self.assertEqual([each.text for each in self.by_name["counts"].members], ["at least", "at most"])
        self.assertEqual([name for _, name in headers.without_text(self.declared)], ["counts"])

    def test_in_c_a_comment_holds_for_a_run(self):
        _, declared = parsed("/* For C. */\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n/* Both. */\nTULLE_API int tulle_a(void);\n"
                             "TULLE_API int tulle_b(int x); /* -EINVAL */\n\nTULLE_API int tulle_c(void);\n#ifdef __cplusplus\n}\n#endif\n", "one.h")
        self.assertEqual([each.names for each in declared], [["tulle_a", "tulle_b"], ["tulle_c"]])
        self.assertEqual(declared[0].notes, {"tulle_b": "-EINVAL"})
        self.assertEqual([name for _, name in headers.without_text(declared)], ["tulle_c"])

    def test_finds_each_function_of_c(self):
        for path in headers.public_headers(planted.PROJECT):
            if path.suffix != ".h":
                continue
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (planted.PROJECT / path).read_text(encoding="utf-8"), flags=re.DOTALL)
            expected = re.findall(r"^TULLE_API\b[^;]*?\b(tulle_\w+)\s*\(", text, re.MULTILINE)
            found = [name for each in headers.parse(planted.PROJECT / path)[1] if each.kind == "function" for name in each.names]
            with self.subTest(header=path):
                self.assertEqual(found, expected)


class Pages(unittest.TestCase):
    def page_of(self, text):
        writer = reference_pages.Writer({"tulle::mutex"}, {("tulle_mutex", "3"): "man/tulle_mutex.3"})
        writer.text(text)
        return "\n".join(writer.lines)

    def test_labels_begin_paragraphs(self):
        page = self.page_of("Waits. Contexts: any thread.\nErrors: none.")
        self.assertEqual(page, "Waits.\n\n**Contexts:** any thread.\n\n**Errors:** none.\n")

    def test_names_become_links_and_code(self):
        page = self.page_of("As tulle::mutex and <tulle/latch.hpp>, `x`s; tulle_mutex(3), -EINVAL, a * b.")
        self.assertIn(":cpp:any:`tulle::mutex <tulle::mutex>`", page)
        self.assertIn(":doc:`\\<tulle/latch.hpp\\> </reference/cpp/latch>`", page)
        self.assertIn("``x``\\ s; :doc:`tulle_mutex(3) </man/tulle_mutex.3>`, ``-EINVAL``, a \\* b.", page)

    def test_indented_lines_are_code(self):
        self.assertIn(".. code-block:: cpp\n\n   m.lock();\n", self.page_of("So:\n  m.lock();\nand on."))

    def test_each_header_and_subject_has_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            subjects = reference_pages.write(planted.PROJECT, out, {})
            for path in headers.public_headers(planted.PROJECT):
                text = (out / f"{reference_pages.page_of(path)}.rst").read_text(encoding="utf-8")
                with self.subTest(header=path):
                    self.assertTrue("The smallest program" in text or path.name in headers.WITHOUT_PROGRAM)
                    self.assertIn("index.html#what-holds-where-a-page-says-nothing", text)
            self.assertEqual(len(subjects), len(list((out / "reference").glob("*.rst"))))


class Links(unittest.TestCase):
    def broken(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                pathlib.Path(folder, f"{name}.html").write_text(text, encoding="utf-8")
            return site_links.broken(pathlib.Path(folder))

    def test_accepts_links_that_lead_somewhere(self):
        self.assertEqual(self.broken(a='<a href="b.html#x">b</a><a href="https://example.org">out</a>', b='<p id="x"><a href="#x">here</a>'), [])

    def test_finds_links_that_lead_nowhere(self):
        self.assertEqual(self.broken(a='<a href="c.html">c</a><a href="b.html#y">b</a>', b=""),
                         ["a.html: c.html leads nowhere", "a.html: b.html#y leads nowhere"])

    def test_finds_what_needs_a_network(self):
        self.assertEqual(self.broken(a='<script src="https://example.org/x.js"></script>'),
                         ["a.html: loads https://example.org/x.js, which needs a network"])


planted.main()
