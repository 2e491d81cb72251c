// SPDX-License-Identifier: Apache-2.0
// A stack for signal handlers that ask for one (SA_ONSTACK), for an OS thread that may stand on a
// small stack when a signal comes.
#pragma once

#include <cstddef>

namespace tulle::os {

class signal_stack {
public:
    static constexpr std::size_t k_bytes = std::size_t{64} << 10U;

    signal_stack() noexcept = default;
    signal_stack(signal_stack const&) = delete;
    signal_stack& operator=(signal_stack const&) = delete;

    // Gives the calling OS thread a stack for signals; one that it has already is kept. If that
    // fails, it has none, and nothing else is lost.
    void install() noexcept;
    // The same OS thread calls this when it ends or does not need the stack any more.
    void remove() noexcept;
    // Called in a child process, in which its OS thread is not there.
    void forget() noexcept;

private:
    void* m_memory = nullptr;
};

} // namespace tulle::os
