// SPDX-License-Identifier: Apache-2.0
// Nobody watches the stacks: every annotation is empty. See fiber_annotations.hpp.
#pragma once

#include <cstddef>

namespace tulle::arch {

class sanitizer_fiber {
public:
    void create(void*, std::size_t) noexcept {}
    void adopt_current_thread() noexcept {}
    void destroy() noexcept {}
    void forget_frames_below(void const*) noexcept {}
};

inline void before_switch(sanitizer_fiber&, sanitizer_fiber&, bool) noexcept {}
inline void after_switch(sanitizer_fiber&) noexcept {}
inline void forget_stack(void*, std::size_t) noexcept {}
inline void ignore_accesses_of_this_thread() noexcept {}
inline bool may_read_unused_stack() noexcept { return true; }

} // namespace tulle::arch
