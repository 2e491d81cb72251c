// SPDX-License-Identifier: Apache-2.0
// Calls after which a number stands for another file, or for none. The run time's own files stay
// open: to the program they are no files.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "compat/pthread/threads/uncancelled.hpp"
#include "io/reactor.hpp"
#include "os/private_descriptor.hpp"

using namespace tulle::posix;
using tulle::os::private_descriptor;

namespace {

// A child of vfork has numbers of its own.
bool is_private(int number) noexcept {
    return TULLE_UNLIKELY(private_descriptor::is_one(number)) && !vfork_children::has_caller();
}

// Makes such a call, and ends waits for the old file, of which the kernel would not tell. errno is
// the call's.
template <class Call> int replace(int number, Call call) noexcept {
    uncancelled const meanwhile;
    known_descriptors::forget(number);
    if (!is_started() || vfork_children::has_caller()) return call();
    int error = 0;
    auto made = [&]() noexcept {
        int const result = call();
        if (result < 0) error = errno;
        return result;
    };
    int result = 0;
    {
        kept_errno const kept;
        result = tulle::io::reactor::instance().replace(
            number, [](void* it) noexcept { return (*static_cast<decltype(made)*>(it))(); }, &made);
    }
    return result < 0 ? fail(error) : result;
}

// If not, the number that would be replaced stays what it is, and so do waits for it.
bool is_open(int number) noexcept {
    kept_errno const kept;
    return TULLE_LIBC(fcntl)(number, F_GETFD) >= 0;
}

bool changes_nothing(int number, int becomes) noexcept {
    return number == becomes || !is_open(number);
}

// EBUSY also stands for a number that another thread is about to open a file at (dup(2)).
template <class Call> int replace(int number, int becomes, Call call) noexcept {
    if (is_private(number)) return fail(EBADF);
    if (changes_nothing(number, becomes)) return call();
    if (is_private(becomes)) return fail(EBUSY);
    return replace(becomes, call);
}

} // namespace

TULLE_INTERPOSE int close(int number) {
    if (is_private(number)) return fail(EBADF);
    test_cancel(self());
    return replace(number, [=] { return TULLE_LIBC(close)(number); });
}

TULLE_INTERPOSE int dup2(int number, int becomes) noexcept {
    return replace(number, becomes, [=] { return TULLE_LIBC(dup2)(number, becomes); });
}

TULLE_INTERPOSE int dup3(int number, int becomes, int flags) noexcept {
    if ((flags & ~O_CLOEXEC) != 0) return TULLE_LIBC(dup3)(number, becomes, flags); // EINVAL
    return replace(number, becomes, [=] { return TULLE_LIBC(dup3)(number, becomes, flags); });
}

TULLE_INTERPOSE int close_range(unsigned first, unsigned last, int flags) noexcept {
    known_descriptors::sharing const around;
    auto const close = [flags](unsigned from, unsigned to) noexcept {
        return TULLE_LIBC(close_range)(from, to, flags);
    };
    // Of other flags the system knows, as that all are closed when another program begins.
    constexpr int k_unshare = static_cast<int>(CLOSE_RANGE_UNSHARE);
    bool const closes_now = (flags & ~k_unshare) == 0;
    if (first > last || !closes_now || vfork_children::has_caller()) return close(first, last);
    // A worker with a table of its own would not know the files of the others.
    bool const unshares = (flags & k_unshare) != 0;
    if (unshares && self() != nullptr && is_started()) return fail(EINVAL);
    return private_descriptor::for_others(first, last, close);
}

namespace {

// Where the system has no close_range, numbers that have no file are tried, too. These lie before a
// file of the run time, which are below 1024 unless the program has that many files.
int close_each(unsigned first, unsigned last) noexcept {
    if (last == ~0U)
        TULLE_LIBC(closefrom)(static_cast<int>(first));
    else if (TULLE_LIBC(close_range)(first, last, 0) != 0)
        for (unsigned number = first; number <= last; ++number)
            static_cast<void>(TULLE_LIBC(close)(static_cast<int>(number)));
    return 0;
}

} // namespace

TULLE_INTERPOSE void closefrom(int first) noexcept {
    known_descriptors::sharing const around;
    kept_errno const kept;
    if (vfork_children::has_caller()) return TULLE_LIBC(closefrom)(first);
    auto const from = static_cast<unsigned>(first < 0 ? 0 : first);
    static_cast<void>(private_descriptor::for_others(from, ~0U, close_each));
}
