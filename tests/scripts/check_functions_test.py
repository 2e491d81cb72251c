# SPDX-License-Identifier: Apache-2.0
import planted


def function(lines, name="f"):
    """A function whose body has that many lines, braces included."""
    return [f"void {name}() {{", *["    work();"] * (lines - 2), "}"]


class CheckFunctions(planted.PlantedProject):
    check = "check-functions"

    def found(self, *source):
        """(lines, name) of each function that the check sees in the source."""
        self.plant("src/base/a.cpp", *source)
        rows = [line.split(maxsplit=2) for line in self.run_check("--list").stdout.splitlines()[:-1]]
        return [(int(length), name) for length, _, name in rows]

    def test_accepts_small_functions(self):
        self.plant("src/base/a.cpp", *function(8) * 10)
        self.assert_passes()

    def test_finds_a_function_over_80_lines(self):
        small = function(3) * 20
        self.plant("src/base/a.cpp", *small, *function(80, "longest"))
        self.assert_passes()
        self.plant("src/base/a.cpp", *small, *function(81, "monster"))
        self.assert_fails(f"src/base/a.cpp:{len(small) + 1}: monster has 81 lines")

    def test_finds_a_long_function_in_a_test(self):
        self.plant("tests/unit/base/a_test.cpp", "TEST(suite, name) {", *["    work();"] * 80, "}")
        self.assert_fails("suite.name has 82 lines")

    def test_finds_too_many_functions_over_30_lines(self):
        self.plant("src/base/a.cpp", *function(3) * 18, *function(31) * 2)
        self.assert_passes()
        self.plant("src/base/a.cpp", *function(3) * 17, *function(31) * 3)
        self.assert_fails("only 85% of the functions have at most 30 lines")

    def test_finds_a_median_over_8_lines(self):
        self.plant("src/base/a.cpp", *function(9) * 3, *function(2) * 2)
        self.assert_fails("the median function has 9 lines")

    def test_finds_a_file_over_800_lines(self):
        self.plant("src/base/a.hpp", *["int x();"] * 801)
        self.assert_fails("src/base/a.hpp: 801 lines")

    def test_sees_members_constructors_and_operators(self):
        self.assertEqual(self.found(
            "namespace a {", "class b : c<int> {", "  public:", "    b(int x) : m_x{x}, m_y(2) {", "        go();", "    }",
            "    bool operator()(int i = int{3}) { return i; }", "    int m_x{0};", "};",
            "auto d(int x) -> std::vector<int> {", "    return {x};", "}", "}"), [(3, "b"), (1, "operator()"), (3, "d")])

    def test_sees_through_literals_comments_and_branches_of_the_preprocessor(self):
        self.assertEqual(self.found(
            "int a() {", "    return '{' + \"{{\"[0]; // {", "}", "/* { */", 'auto s = R"({)";',
            "#if X", "int b() {", "#else", "long b() {", "#endif", "    return 1'000;", "}"), [(3, "a"), (6, "b")])

    def test_does_not_count_types_tables_and_concepts(self):
        self.assertEqual(self.found(
            "constexpr int k[] = {1,", "    2};", "enum class e { a, b };", "struct s { int x; };",
            "template <class T> concept c = requires(T t) {", "    t.f();", "};", "void f() { }"), [(1, "f")])


planted.main()
