// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/libc.hpp"

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

// Conditions of before version 2.3.2 of the C library have another layout; dlsym finds these.
TULLE_COLD void* find_in_libc(std::atomic<void*>& place, char const* name) noexcept {
    void* found = nullptr;
    if (std::strncmp(name, "pthread_cond_", 13) == 0)
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found == nullptr) found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) base::fatal("libtulle-preload: the C library has no %s", name);
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
