# SPDX-License-Identifier: Apache-2.0
import shutil

import planted


class CheckFormat(planted.PlantedProject):
    check = "check-format"

    def setUp(self):
        super().setUp()
        shutil.copy(planted.PROJECT / ".clang-format", self.root)

    def test_accepts_formatted_code(self):
        self.plant("src/base/a.cpp", "int twice(int x) { return 2 * x; }")
        self.assert_passes()

    def test_finds_and_fixes_unformatted_code(self):
        self.plant("src/base/a.cpp", "int  twice( int x ){return 2*x;}")
        self.assert_fails("src/base/a.cpp:1:", "--fix")
        self.assertEqual(self.run_check("--fix").returncode, 0)
        self.assert_passes()

    def test_finds_comments_of_more_than_100_columns(self):
        self.plant("src/base/a.cpp", "// " + "x" * 97 + "\nint twice(int x) { return 2 * x; }")
        self.assert_passes()
        self.plant("src/base/a.cpp", "// " + "x" * 98 + "\nint twice(int x) { return 2 * x; }")
        self.assert_fails("src/base/a.cpp:", "101 columns")


planted.main()
