// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/threads/start_library.hpp"

#include <tulle/detail/attributes.hpp>

#include <atomic>
#include <string_view>

#include <dlfcn.h>

namespace tulle::posix {

namespace {

using start_function = void* (*)(void*);

// What was asked about last: most programs begin most of their threads at one function, and the
// dynamic linker takes longer to answer than a thread takes to be made. relaxed, all: the answer
// follows from the function.
constinit std::atomic<start_function> s_last_that_does{nullptr};
constinit std::atomic<start_function> s_last_that_does_not{nullptr};

bool is_of_libgomp(start_function start) noexcept {
    Dl_info found{};
    if (dladdr(reinterpret_cast<void const*>(start), &found) == 0 || found.dli_fname == nullptr)
        return false;
    std::string_view const path = found.dli_fname;
    return path.substr(path.rfind('/') + 1).starts_with("libgomp.so");
}

} // namespace

bool waits_by_system_calls(start_function start) noexcept {
    if (TULLE_LIKELY(start == s_last_that_does_not.load(std::memory_order_relaxed))) return false;
    if (start == s_last_that_does.load(std::memory_order_relaxed)) return true;
    bool const does = is_of_libgomp(start);
    (does ? s_last_that_does : s_last_that_does_not).store(start, std::memory_order_relaxed);
    return does;
}

} // namespace tulle::posix
