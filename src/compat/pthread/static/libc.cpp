// SPDX-License-Identifier: Apache-2.0
// In place of c_library/libc.cpp in programs that are linked statically: the linker has found all
// functions of the C library. That a name is weak lets programs be linked that lack it. What the
// macros of cleanup handlers call the program asks of this library only, so it is asked for here.
#include "compat/pthread/c_library/libc.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#define TULLE_SYMBOLS(ONE)                                                                         \
    ONE(_dl_allocate_tls)                                                                          \
    ONE(_dl_allocate_tls_init)                                                                     \
    ONE(_dl_deallocate_tls)                                                                        \
    ONE(_dl_get_tls_static_info)                                                                   \
    ONE(__ctype_init)                                                                              \
    ONE(__call_tls_dtors)                                                                          \
    ONE(__libc_thread_freeres)                                                                     \
    ONE(_thread_db_sizeof_pthread)                                                                 \
    ONE(_thread_db_pthread_dtvp)                                                                   \
    ONE(_thread_db_pthread_tid)                                                                    \
    ONE(_thread_db_pthread_specific)                                                               \
    ONE(_thread_db_pthread_list)
#define TULLE_CALLED_BY_MACROS(ONE)                                                                \
    ONE(__pthread_register_cancel)                                                                 \
    ONE(__pthread_unregister_cancel)                                                               \
    ONE(__pthread_register_cancel_defer)                                                           \
    ONE(__pthread_unregister_cancel_restore)                                                       \
    ONE(__pthread_unwind_next)

extern "C" {
#define TULLE_SYMBOL(name) extern char tulle_static_##name asm(#name) __attribute__((weak));
#define TULLE_PAST_OURS(name) extern char tulle_static_##name asm("__real_" #name);
TULLE_SYMBOLS(TULLE_SYMBOL)
TULLE_CALLED_BY_MACROS(TULLE_PAST_OURS)
extern __thread void* __resp;
}

namespace tulle::posix {

namespace {

struct symbol {
    std::string_view name;
    void* at;
};

template <class Symbols> void* find_among(Symbols const& all, std::string_view name) noexcept {
    auto const found =
        std::find_if(all.begin(), all.end(), [name](symbol const& s) { return s.name == name; });
    return found == all.end() ? nullptr : found->at;
}

} // namespace

#define TULLE_ENTRY(name) symbol{#name, &tulle_static_##name},

TULLE_COLD void* find_in_libc(std::atomic<void*>& place, char const* name) noexcept {
    std::array const all{TULLE_CALLED_BY_MACROS(TULLE_ENTRY)};
    void* const found = find_among(all, name);
    if (found == nullptr) base::fatal("libtulle-pthread: the C library has no %s", name);
    place.store(found, std::memory_order_relaxed); // relaxed: see in_libc
    return found;
}

void* find_symbol(char const* name) noexcept {
    if (std::string_view(name) == "__resp") return &__resp;
    std::array const all{TULLE_SYMBOLS(TULLE_ENTRY)};
    return find_among(all, name);
}

void find_all_in_libc() noexcept {}

} // namespace tulle::posix
