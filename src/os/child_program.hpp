// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end, and files that exist in memory only, to talk to it. Nothing here
// uses the C library's heap.
#pragma once

#include <cstddef>

namespace tulle::os {

class memory_file {
public:
    explicit memory_file(char const* name) noexcept; // for /proc
    ~memory_file();
    memory_file(memory_file const&) = delete;
    memory_file& operator=(memory_file const&) = delete;

    [[nodiscard]] bool is_open() const noexcept { return m_descriptor >= 0; }
    [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }
    void write(char const* text, std::size_t length) const noexcept;
    void rewind() const noexcept;

private:
    int m_descriptor;
};

// A copy of this process with the calling thread only, made without telling the C library: locks
// stay as they are, and nothing runs at either's end. May be called in a signal handler. 0: in the
// copy; -1: errno says why there is none.
[[nodiscard]] int copy_process() noexcept;

// Returns the copy's number when it has ended, 0 when it has not (only if this may not block), else
// -1.
int wait_for_copy(int child, int& status, bool may_block) noexcept;

// Closes all from `first` to `last`, at once or when another program is executed.
void close_descriptors(unsigned first, unsigned last, bool only_when_executed) noexcept;

// Finds `arguments[0]` along PATH, but for folders that are told from where this process is, gives
// it the descriptors as standard input and output, no standard error and no others, and waits.
// False: it could not be started, failed, or took longer, or this process has rights that its user
// does not have, such as by a set-user-ID bit.
[[nodiscard]] bool run_program(char const* const* arguments, int input, int output,
                               int most_seconds) noexcept;

} // namespace tulle::os
