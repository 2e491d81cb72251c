// SPDX-License-Identifier: Apache-2.0
// Tells AddressSanitizer which stack runs, LeakSanitizer what to search, and ThreadSanitizer which
// logical thread. A switch counts as synchronisation for ThreadSanitizer (flag 0): the same OS
// thread runs both sides. See fiber_annotations.hpp.
#pragma once

#include <cstddef>

#ifdef TULLE_ANNOTATE_ADDRESS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef TULLE_ANNOTATE_THREAD
#include <sanitizer/tsan_interface.h>

// Functions of ThreadSanitizer that no header declares.
extern "C" void AnnotateIgnoreReadsBegin(char const* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(char const* file, int line);
#endif

#include "arch/current_stack.hpp"

namespace tulle::arch {

class sanitizer_fiber {
public:
    void create(void* stack_low, std::size_t size) noexcept {
        m_low = stack_low;
        m_size = size;
        m_fake_stack = nullptr;
        m_owned = true;
#ifdef TULLE_ANNOTATE_ADDRESS
        __lsan_register_root_region(m_low, m_size); // what only a waiting thread knows is no leak
#endif
#ifdef TULLE_ANNOTATE_THREAD
        m_thread = __tsan_create_fiber(0);
#endif
    }

    void adopt_current_thread() noexcept {
        auto const bounds = os_thread_stack();
        m_low = bounds.low;
        m_size = bounds.size;
#ifdef TULLE_ANNOTATE_THREAD
        m_thread = __tsan_get_current_fiber();
#endif
        m_owned = false;
    }

    void destroy() noexcept {
        m_fake_stack = nullptr;
        if (!m_owned) return;
        m_owned = false;
#ifdef TULLE_ANNOTATE_ADDRESS
        __lsan_unregister_root_region(m_low, m_size);
#endif
#ifdef TULLE_ANNOTATE_THREAD
        __tsan_destroy_fiber(m_thread);
#endif
    }

    void forget_frames_below([[maybe_unused]] void const* frame) const noexcept {
#ifdef TULLE_ANNOTATE_ADDRESS
        __asan_unpoison_memory_region(
            m_low,
            static_cast<std::size_t>(static_cast<char const*>(frame) - static_cast<char*>(m_low)));
#endif
    }

private:
    friend void before_switch(sanitizer_fiber& from, sanitizer_fiber& to,
                              bool from_is_ending) noexcept;
    friend void after_switch(sanitizer_fiber& current) noexcept;

    void* m_low = nullptr;
    std::size_t m_size = 0;
    void* m_fake_stack = nullptr; // AddressSanitizer's shadow frames while the stack is suspended
    void* m_thread = nullptr;     // ThreadSanitizer's logical thread
    bool m_owned = false;
};

[[gnu::always_inline]] inline void before_switch([[maybe_unused]] sanitizer_fiber& from,
                                                 sanitizer_fiber& to,
                                                 [[maybe_unused]] bool from_is_ending) noexcept {
#ifdef TULLE_ANNOTATE_ADDRESS
    __sanitizer_start_switch_fiber(from_is_ending ? nullptr : &from.m_fake_stack, to.m_low,
                                   to.m_size);
    if (from_is_ending) { // its frames are gone: the next context on this stack starts without any
        from.m_fake_stack = nullptr;
    }
#endif
#ifdef TULLE_ANNOTATE_THREAD
    __tsan_switch_to_fiber(to.m_thread, 0);
#endif
}

[[gnu::always_inline]] inline void
after_switch([[maybe_unused]] sanitizer_fiber& current) noexcept {
#ifdef TULLE_ANNOTATE_ADDRESS
    __sanitizer_finish_switch_fiber(current.m_fake_stack, nullptr, nullptr);
#endif
}

inline void forget_stack([[maybe_unused]] void* low, [[maybe_unused]] std::size_t size) noexcept {
#ifdef TULLE_ANNOTATE_ADDRESS
    __asan_unpoison_memory_region(low, size);
#endif
}

// Functions that are not instrumented may do that.
inline bool may_read_unused_stack() noexcept { return true; }

inline void ignore_accesses_of_this_thread() noexcept {
#ifdef TULLE_ANNOTATE_THREAD
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

} // namespace tulle::arch
