// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_sanitizer.hpp"

#include "base/sanitize.hpp"

// The run time of a sanitizer has these, and a program that has it calls them at its start. Null
// where there is none.
extern "C" {
__attribute__((weak, visibility("default"))) void __tsan_init(); // NOLINT: a name of others
__attribute__((weak, visibility("default"))) void __asan_init(); // NOLINT: likewise
}

namespace tulle::base {

bool has_foreign_thread_sanitizer() noexcept {
    return !k_thread_sanitizer && &__tsan_init != nullptr;
}

char const* warning_of_foreign_sanitizer() noexcept {
    if (has_foreign_thread_sanitizer())
        return "the program runs with ThreadSanitizer, and its libtulle is built without: the "
               "sanitizer does not know of threads that switch, and tells of races that are none "
               "or crashes; link it with a Tulle that is built with -DTULLE_SANITIZE=thread "
               "(cmake --preset tsan, or clang-tsan)";
    if (!k_address_sanitizer && &__asan_init != nullptr)
        return "the program runs with AddressSanitizer, and its libtulle is built without: the "
               "sanitizer does not know of stacks that switch, and may tell of errors that are "
               "none; link it with a Tulle that is built with -DTULLE_SANITIZE=address "
               "(cmake --preset asan, or clang-asan)";
    return nullptr;
}

} // namespace tulle::base
