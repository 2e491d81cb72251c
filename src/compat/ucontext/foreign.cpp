// SPDX-License-Identifier: Apache-2.0
//
// Contexts that this library has not saved, such as the one that a signal handler gets. The C
// library's own setcontext knows what is in these.
#include <atomic>
#include <cerrno>

#include <csignal>
#include <dlfcn.h>

#include "compat/ucontext/switch.hpp"

namespace {

using set_function = int (*)(ucontext_t const*);

// relaxed: whoever finds null looks the function up, and all find the same one.
std::atomic<set_function> s_next_setcontext{nullptr};

set_function next_setcontext() {
    if (set_function const known = s_next_setcontext.load(std::memory_order_relaxed)) return known;
    auto const found = reinterpret_cast<set_function>(dlsym(RTLD_NEXT, "setcontext"));
    s_next_setcontext.store(found, std::memory_order_relaxed);
    return found;
}

// Before a signal handler asks for it, who must not search.
[[gnu::constructor]] void find_next_setcontext() { next_setcontext(); }

} // namespace

int tulle_ucontext_set_foreign(ucontext_t const* to) noexcept {
    set_function const next = next_setcontext();
    if (next != nullptr) return next(to);
    errno = ENOSYS;
    return -1;
}

int tulle_ucontext_swap_to_foreign(ucontext_t* from, ucontext_t const* to) noexcept {
    // The C library loads the mask of `to` in any case; so that of `from` is kept in any case.
    if (pthread_sigmask(SIG_BLOCK, nullptr, &from->uc_sigmask) != 0) return -1;
    return tulle_ucontext_set_foreign(to);
}
