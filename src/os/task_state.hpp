// SPDX-License-Identifier: Apache-2.0
// Whether an OS thread of this process sits in the kernel, and in which system call, as /proc says
// it.
#pragma once

#include "os/private_descriptor.hpp"

#include <cstddef>

namespace tulle::os {

// Keeps a file of /proc open for one OS thread, so that each call of read() costs one read. Used
// by one thread at a time.
class task_state {
public:
    enum class kind {
        computes, // it runs, or could
        in_kernel,
        unknown // the system does not say, or the OS thread is gone
    };
    struct view {
        kind state = kind::unknown;
        int call = -1; // the number of the system call; -1: none, or not known
    };

    task_state() noexcept = default;
    task_state(task_state const&) = delete;
    task_state& operator=(task_state const&) = delete;

    // `tid`: as in /proc/self/task. The file is opened anew only when it is another one than at
    // the last call.
    [[nodiscard]] view read(int tid) noexcept;
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return m_file.is_open(); }

    // Whether read() tells the call, which some kernels keep to themselves.
    [[nodiscard]] static bool can_name_calls() noexcept;

private:
    void open(int tid) noexcept;

    int m_tid = 0;
    private_descriptor m_file;
    bool m_names_call = false; // the file is `syscall`, not `stat`
};

// What a line of /proc/PID/syscall or of /proc/PID/stat says.
[[nodiscard]] task_state::view parse_syscall_line(char const* text, std::size_t length) noexcept;
[[nodiscard]] task_state::view parse_stat_line(char const* text, std::size_t length) noexcept;

// The name of a system call that threads often wait in, or null.
[[nodiscard]] char const* name_of_call(int number) noexcept;

} // namespace tulle::os
