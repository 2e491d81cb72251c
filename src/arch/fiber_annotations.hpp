// SPDX-License-Identifier: Apache-2.0
// What the sanitizers and Valgrind must be told about stacks that they did not make. Chooses
// between the file that tells them and the one that does nothing; both have:
//     class sanitizer_fiber { // one per stack; not movable once a stack runs on it
//         void create(void* stack_low, std::size_t size) noexcept; // a stack of ours
//         void adopt_current_thread() noexcept;                    // the OS thread's own stack
//         void destroy() noexcept;                                 // not while it runs
//         void forget_frames_below(void const* frame) noexcept;    // of the running stack: they
//                                                                  // were unwound by force, unseen
//     };
//     before_switch(from, to, from_is_ending) // last thing before switch_to or set, on `from`
//     after_switch(current)                   // first thing on the resumed stack, a fresh one
//                                             // included
//     forget_stack(low, size)                 // no frame is left on it
//     ignore_accesses_of_this_thread()        // it reads what others write, and knows it
//     may_read_unused_stack()                 // false: that would be reported as an error
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TULLE_ANNOTATE_ADDRESS 1
#endif
#if __has_feature(thread_sanitizer)
#define TULLE_ANNOTATE_THREAD 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TULLE_ANNOTATE_ADDRESS 1
#endif
#if defined(__SANITIZE_THREAD__)
#define TULLE_ANNOTATE_THREAD 1
#endif

#if defined(TULLE_ANNOTATE_ADDRESS) || defined(TULLE_ANNOTATE_THREAD)
#include "arch/fiber_annotations_sanitizer.hpp"
#elif __has_include(<valgrind/valgrind.h>)
#include "arch/fiber_annotations_valgrind.hpp"
#else
#include "arch/fiber_annotations_none.hpp"
#endif
