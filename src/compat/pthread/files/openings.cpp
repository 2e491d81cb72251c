// SPDX-License-Identifier: Apache-2.0
// Calls that open files, which are cancellation points: a thread that has been cancelled opens
// none. They wait in the kernel where they wait at all, as for the other end of a FIFO.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <cstdarg>

#include <fcntl.h>

namespace {

using namespace tulle::posix;

int open_file(char const* path, int flags, mode_t mode) {
    test_cancel(self());
    return TULLE_LIBC(open)(path, flags, mode);
}

int open_file_at(int folder, char const* path, int flags, mode_t mode) {
    test_cancel(self());
    return TULLE_LIBC(openat)(folder, path, flags, mode);
}

// Others are called without a mode.
bool has_mode(int flags) noexcept {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

} // namespace

#define TULLE_MODE_AFTER(flags)                                                                    \
    mode_t mode = 0;                                                                               \
    if (has_mode(flags)) {                                                                         \
        std::va_list list;                                                                         \
        va_start(list, flags);                                                                     \
        mode = va_arg(list, mode_t);                                                               \
        va_end(list);                                                                              \
    }                                                                                              \
    static_assert(true)

TULLE_INTERPOSE int open(char const* path, int flags, ...) {
    TULLE_MODE_AFTER(flags);
    return open_file(path, flags, mode);
}
TULLE_INTERPOSE int open64(char const* path, int flags, ...) {
    TULLE_MODE_AFTER(flags);
    return open_file(path, flags | O_LARGEFILE, mode);
}
// Second names, which some libraries call.
TULLE_INTERPOSE int __open(char const* path, int flags, ...) {
    TULLE_MODE_AFTER(flags);
    return open_file(path, flags, mode);
}
TULLE_INTERPOSE int __open64(char const* path, int flags, ...) {
    TULLE_MODE_AFTER(flags);
    return open_file(path, flags | O_LARGEFILE, mode);
}
TULLE_INTERPOSE int openat(int folder, char const* path, int flags, ...) {
    TULLE_MODE_AFTER(flags);
    return open_file_at(folder, path, flags, mode);
}
TULLE_INTERPOSE int openat64(int folder, char const* path, int flags, ...) {
    TULLE_MODE_AFTER(flags);
    return open_file_at(folder, path, flags | O_LARGEFILE, mode);
}
TULLE_INTERPOSE int creat(char const* path, mode_t mode) {
    return open_file(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
TULLE_INTERPOSE int creat64(char const* path, mode_t mode) {
    return open_file(path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode);
}

// Programs that were compiled with _FORTIFY_SOURCE call these.
extern "C" __attribute__((noreturn)) void __chk_fail();

TULLE_INTERPOSE int __open_2(char const* path, int flags) {
    if (has_mode(flags)) __chk_fail();
    return open_file(path, flags, 0);
}
TULLE_INTERPOSE int __open64_2(char const* path, int flags) {
    if (has_mode(flags)) __chk_fail();
    return open_file(path, flags | O_LARGEFILE, 0);
}
TULLE_INTERPOSE int __openat_2(int folder, char const* path, int flags) {
    if (has_mode(flags)) __chk_fail();
    return open_file_at(folder, path, flags, 0);
}
TULLE_INTERPOSE int __openat64_2(int folder, char const* path, int flags) {
    if (has_mode(flags)) __chk_fail();
    return open_file_at(folder, path, flags | O_LARGEFILE, 0);
}
