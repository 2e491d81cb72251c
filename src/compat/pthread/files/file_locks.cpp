// SPDX-License-Identifier: Apache-2.0
// Locks of files. No helper waits for them, as whoever has one may need a helper to go on; and
// nobody tells when one is free. The kernel does not see a circle of processes that wait so.
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "os/private_descriptor.hpp"

#include <cstdarg>

#include <fcntl.h>
#include <sys/file.h>

namespace {

using namespace tulle::posix;

template <class Try> int lock_file(thread& t, bool may_be_cancelled, Try try_to_lock) {
    return repeat(t, {.not_yet = EAGAIN, .may_be_cancelled = may_be_cancelled}, try_to_lock);
}

// Of those commands of fcntl that wait, the one that does not; 0: it does not wait.
int that_tries(int command) noexcept {
    switch (command) {
        case F_SETLKW: return F_SETLK;
        case F_OFD_SETLKW: return F_OFD_SETLK;
        default: return 0;
    }
}

// Those that wait for nothing, and what an OS thread asks for, who may be cancelled in it.
int control_at_once(int number, int command, void* argument) {
    int const result = TULLE_LIBC(fcntl)(number, command, argument);
    if (command == F_SETFL) known_descriptors::note_change();
    return result;
}

// The run time's own files are none to the program. A child of vfork has numbers of its own.
int control(int number, int command, void* argument) {
    if (TULLE_UNLIKELY(tulle::os::private_descriptor::is_one(number)) &&
        !vfork_children::has_caller())
        return fail(EBADF);
    int const tries = that_tries(command);
    thread* const t = tries != 0 ? self() : nullptr;
    if (t == nullptr) return control_at_once(number, command, argument);
    return lock_file(*t, true, [=] { return TULLE_LIBC(fcntl)(number, tries, argument); });
}

} // namespace

TULLE_INTERPOSE int flock(int number, int operation) noexcept {
    thread* const t = (operation & LOCK_NB) == 0 ? self() : nullptr;
    if (t == nullptr) return TULLE_LIBC(flock)(number, operation);
    return lock_file(*t, false, [=] { return TULLE_LIBC(flock)(number, operation | LOCK_NB); });
}

TULLE_INTERPOSE int lockf(int number, int command, off_t size) {
    thread* const t = command == F_LOCK ? self() : nullptr;
    if (t == nullptr) return TULLE_LIBC(lockf)(number, command, size);
    return lock_file(*t, true, [=] { return TULLE_LIBC(lockf)(number, F_TLOCK, size); });
}
TULLE_INTERPOSE int lockf64(int number, int command, off64_t size) {
    static_assert(sizeof(off64_t) == sizeof(off_t));
    return lockf(number, command, size);
}

TULLE_INTERPOSE int fcntl(int number, int command, ...) {
    std::va_list list;
    va_start(list, command);
    void* const argument = va_arg(list, void*);
    va_end(list);
    return control(number, command, argument);
}
TULLE_INTERPOSE int fcntl64(int number, int command, ...) {
    std::va_list list;
    va_start(list, command);
    void* const argument = va_arg(list, void*);
    va_end(list);
    return control(number, command, argument);
}
