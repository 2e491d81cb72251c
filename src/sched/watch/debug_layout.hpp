// SPDX-License-Identifier: Apache-2.0
// What a debugger needs in order to find all threads in the memory of a process or a core file,
// without debug information: where the scheduler is, and a table of names and offsets. The reader
// is tools/gdb/tulle-gdb.py; it refuses a version that it does not know.
// The table describes this build; only the three addresses change while the process runs.
#pragma once

#include <tulle/detail/visibility.h>

#include <cstdint>

extern "C" {
struct tulle_debug_entry {
    char const* name; // "type.member": an offset in bytes; anything else: a number
    std::uint64_t value;
};
struct tulle_debug_table {
    char mark[16];
    std::uint32_t version; // of the meaning of what is described; 1
    std::uint32_t count;
    void const* scheduler; // null: not started yet
    // Std::unordered_map<std::uint64_t, std::string>; null: no thread was ever named.
    void const* names;
    // The distance from an OS thread's pthread_t to its word with the address of its worker.
    std::int64_t current_worker;
    tulle_debug_entry const* entries;
};
extern TULLE_API tulle_debug_table tulle_debug_layout;
}

namespace tulle::sched {

class scheduler;

void publish_to_debuggers(scheduler const& s) noexcept;
void publish_names_to_debuggers(void const* names) noexcept;

} // namespace tulle::sched
