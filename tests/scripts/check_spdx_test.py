# SPDX-License-Identifier: Apache-2.0
import planted

HEADER = "// SPDX-License-Identifier: Apache-2.0"


class CheckSpdx(planted.PlantedProject):
    check = "check-spdx"

    def test_accepts_files_with_a_header_and_prose_without(self):
        self.plant("src/base/a.cpp", HEADER)
        self.plant("run", "#!/bin/sh", HEADER.replace("//", "#"))
        self.plant("README.md", "# Title")
        self.assert_passes()

    def test_finds_a_source_without_a_header(self):
        self.plant("src/base/a.cpp", "int x;")
        self.assert_fails("src/base/a.cpp: no 'SPDX")

    def test_finds_a_script_without_a_header(self):
        self.plant("scripts/run", "#!/bin/sh", "true")
        self.assert_fails("scripts/run: no 'SPDX")

    def test_does_not_accept_a_header_far_below(self):
        self.plant("src/base/a.cpp", "", "", "", HEADER)
        self.assert_fails("src/base/a.cpp")


planted.main()
