# SPDX-License-Identifier: Apache-2.0
import planted


class CheckLayers(planted.PlantedProject):
    check = "check-layers"

    def setUp(self):
        super().setUp()
        self.plant("src/base/bits.hpp", "#pragma once")
        self.plant("src/os/futex.hpp", '#include "base/bits.hpp"')
        self.plant("src/arch/context.hpp", '#include "base/bits.hpp"')
        self.plant("src/deque/deque.hpp", '#include "os/futex.hpp"', "#include <atomic>")
        self.plant("src/sched/worker.hpp", '#include "deque/deque.hpp"', "#include <tulle/thread.hpp>")
        self.plant("src/sched/records/join.cpp", '#include "sched/worker.hpp"')
        self.plant("include/tulle/thread.hpp", "#include <vector>")
        self.plant("src/net/transport.hpp", '#include "os/futex.hpp"')

    def test_accepts_includes_that_go_down_or_stay(self):
        self.assert_passes()

    def test_finds_an_include_upward(self):
        self.plant("src/os/memory.hpp", "#pragma once", '#include "sched/worker.hpp"')
        self.assert_fails("src/os/memory.hpp:2: includes src/sched/worker.hpp", "above")

    def test_finds_an_include_upward_with_angle_brackets_and_spaces(self):
        self.plant("src/os/memory.hpp", "  #  include <sched/worker.hpp>")
        self.assert_fails("src/os/memory.hpp:1: includes src/sched/worker.hpp")

    def test_finds_an_include_upward_by_a_relative_path(self):
        self.plant("src/os/memory.hpp", '#include "../sched/worker.hpp"')
        self.assert_fails("src/os/memory.hpp:1: includes src/sched/worker.hpp")

    def test_finds_an_include_of_a_neighbour_on_the_same_layer(self):
        self.plant("src/os/memory.hpp", '#include "arch/context.hpp"')
        self.assert_fails("src/os/memory.hpp:1: includes src/arch/context.hpp", "beside")

    def test_accepts_files_named_from_their_folder_their_layer_and_src(self):
        self.plant("src/sched/records/deque.cpp", "// join.cpp, records/join.cpp, worker.hpp, os/futex.hpp, thread.hpp, tulle/thread.hpp", "// *_core.hpp, <stdio.h>")
        self.assert_passes()

    def test_finds_a_file_that_a_comment_names_without_its_part(self):
        self.plant("src/sched/idle.cpp", "#include <vector>", "int x; // see", "/* of the joiner:", "   join.cpp */")
        self.assert_fails("src/sched/idle.cpp:4: there is no file join.cpp")
        self.plant("src/sched/idle.cpp", "// see os/worker.hpp")
        self.assert_fails("src/sched/idle.cpp:1: there is no file os/worker.hpp")

    def test_finds_a_file_that_a_document_names_and_that_is_gone(self):
        self.plant("src/park/README.md", "Files: `sched/worker.hpp` and", "`sched/join.cpp`.")
        self.assert_fails("src/park/README.md:2: there is no file sched/join.cpp")

    def test_finds_a_circle_inside_one_folder(self):
        self.plant("src/sched/a.hpp", '#include "sched/b.hpp"')
        self.plant("src/sched/b.hpp", '#include "sched/c.hpp"')
        self.plant("src/sched/c.hpp", '#include "sched/a.hpp"')
        self.assert_fails("includes go in a circle: src/sched/a.hpp -> src/sched/b.hpp -> src/sched/c.hpp -> src/sched/a.hpp")

    def test_finds_internals_in_a_public_header(self):
        self.plant("include/tulle/mutex.hpp", '#include "sched/worker.hpp"')
        self.assert_fails("include/tulle/mutex.hpp:1: includes src/sched/worker.hpp")

    def test_finds_internals_in_an_example(self):
        self.plant("examples/fib.cpp", '#include "../src/sched/worker.hpp"')
        self.assert_fails("examples/fib.cpp:1: includes src/sched/worker.hpp")

    def test_finds_transport_in_threads(self):
        self.plant("src/sync/mutex.cpp", '#include "net/transport.hpp"')
        self.assert_fails("src/sync/mutex.cpp:1: includes src/net/transport.hpp", "threads (sync)")

    def test_finds_threads_in_remote_memory(self):
        self.plant("src/gmem/line.cpp", '#include "sched/worker.hpp"')
        self.assert_fails("src/gmem/line.cpp:1: includes src/sched/worker.hpp", "remote memory (gmem)")

    def test_finds_a_folder_that_others_are_not_to_know(self):
        self.plant("src/cpus/registry.hpp", "#pragma once")
        self.plant("src/runtime/cpu_share.cpp", '#include "cpus/registry.hpp"')
        self.plant("tools/tulle/cpus.cpp", '#include "cpus/registry.hpp"')
        self.assert_passes()
        self.plant("src/diag/report.cpp", '#include "cpus/registry.hpp"')
        self.assert_fails("src/diag/report.cpp:1: includes src/cpus/registry.hpp: cpus is known by runtime only")

    def test_finds_a_client_in_the_messenger(self):
        self.plant("src/finish/finish_service.hpp", "#pragma once")
        self.plant("src/messenger/endpoint.hpp", '#include "finish/finish_service.hpp"')
        self.assert_fails("src/messenger/endpoint.hpp:1: includes src/finish/finish_service.hpp", "above")

    def test_finds_finishes_in_global_memory(self):
        self.plant("src/finish/finish_service.hpp", "#pragma once")
        self.plant("src/gmem_access/memory.hpp", '#include "finish/finish_service.hpp"')
        self.assert_fails("src/gmem_access/memory.hpp:1: includes src/finish/finish_service.hpp", "beside")

    def test_finds_a_folder_without_a_layer(self):
        self.plant("src/misc/stuff.cpp", "int x;")
        self.assert_fails("src/misc/stuff.cpp: its folder has no layer")

    def test_finds_an_architecture_outside_its_folders(self):
        self.plant("src/os/page.hpp", "#if defined(__x86_64__)", "#endif")
        self.plant("src/arch/x86_64/switch.hpp", "#ifdef __x86_64__", "#endif")
        self.assert_passes()
        self.plant("src/sched/spin.hpp", "#pragma once", "", "#if defined(__x86_64__)", "#endif")
        self.assert_fails("src/sched/spin.hpp:3: an architecture is named")

    def test_ignores_includes_in_comments(self):
        self.plant("src/os/memory.hpp", '// #include "sched/worker.hpp"', "/*", '#include "sched/worker.hpp"', "*/")
        self.assert_passes()


planted.main()
