// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/c_library/libc.hpp"

#include "arch/old_conditions.hpp"
#include "base/error.hpp"

#include <cstring>

#include <dlfcn.h>

extern "C" {
#define TULLE_INTERPOSED(name) constinit std::atomic<void*> tulle_libc_##name{nullptr};
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
#include "compat/pthread/symbols.def"
#undef TULLE_INTERPOSED
#undef TULLE_EXPORTED
#undef TULLE_SECOND
}

namespace tulle::posix {

namespace {

// What tells of it writes, by a function that is looked up here, too.
[[noreturn]] TULLE_COLD void fail_without(char const* name) noexcept {
    void* const write = dlsym(RTLD_NEXT, "write");
    if (write == nullptr) std::abort();
    tulle_libc_write.store(write, std::memory_order_relaxed); // relaxed: see in_libc
    base::fatal("libtulle-preload: this C library has no %s; it takes that of GNU, 2.34 or later",
                name);
}

// Conditions of before version 2.3.2 of the C library have another layout; dlsym finds these.
bool has_old_layout(char const* name) noexcept {
    return arch::k_has_old_conditions && std::strncmp(name, "pthread_cond_", 13) == 0 &&
           std::strcmp(name, "pthread_cond_clockwait") != 0;
}

} // namespace

// What is not found takes memory to say so, and the program's allocator may be what has called.
TULLE_COLD void* find_in_libc(std::atomic<void*>& place, char const* name) noexcept {
    void* found = nullptr;
    if (has_old_layout(name)) found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found == nullptr) found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) fail_without(name);
    place.store(found, std::memory_order_relaxed); // relaxed: see in_libc
    return found;
}

void* find_symbol(char const* name) noexcept { return dlsym(RTLD_DEFAULT, name); }

void find_all_in_libc() noexcept {
#define TULLE_INTERPOSED(name) static_cast<void>(TULLE_LIBC(name));
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
#include "compat/pthread/symbols.def"
#undef TULLE_INTERPOSED
#undef TULLE_EXPORTED
#undef TULLE_SECOND
}

} // namespace tulle::posix

// Called by arch/.../own_calls.S.
extern "C" __attribute__((visibility("hidden"))) void tulle_find_own_calls() noexcept;

TULLE_COLD void tulle_find_own_calls() noexcept { tulle::posix::find_all_in_libc(); }
