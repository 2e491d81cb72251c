// SPDX-License-Identifier: Apache-2.0
// Tells Valgrind where stacks lie, so that it takes a switch for a switch. Outside of Valgrind a
// request is a dozen instructions that do nothing, for each stack that is made; a switch costs
// nothing. See fiber_annotations.hpp.
#pragma once

#include <cstddef>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <valgrind/valgrind.h>
#pragma GCC diagnostic pop

namespace tulle::arch {

class sanitizer_fiber {
public:
    // where Valgrind is not, neither is used
    void create([[maybe_unused]] void* stack_low, [[maybe_unused]] std::size_t size) noexcept {
        m_id = VALGRIND_STACK_REGISTER(stack_low, static_cast<std::byte*>(stack_low) + size - 1);
        m_registered = true;
    }

    void adopt_current_thread() noexcept {}
    void forget_frames_below(void const*) noexcept {}

    void destroy() noexcept {
        if (m_registered) {
            VALGRIND_STACK_DEREGISTER(m_id);
            m_registered = false;
        }
    }

private:
    unsigned m_id = 0;
    bool m_registered = false;
};

inline void before_switch(sanitizer_fiber&, sanitizer_fiber&, bool) noexcept {}
inline void after_switch(sanitizer_fiber&) noexcept {}
inline void forget_stack(void*, std::size_t) noexcept {}
inline void ignore_accesses_of_this_thread() noexcept {}
inline bool may_read_unused_stack() noexcept { return RUNNING_ON_VALGRIND == 0; }

} // namespace tulle::arch
