// SPDX-License-Identifier: Apache-2.0
// Calls on files, and of the resolver, of which no descriptor tells when they would not block. What
// the system has in memory it reads and writes at once; a helper OS thread does the rest, but for
// locks: who has one may need a helper to go on.
#include "compat/pthread/descriptors.hpp"

#include <netdb.h>
#include <sys/file.h>

namespace {

using namespace tulle::posix;

// What `call` returns, and errno as it leaves it, from a helper OS thread.
template <class Call> auto on_helper(Call call) noexcept {
    struct request {
        Call& call;
        decltype(call()) result{};
        int error = 0;
        bool is_made = false;
    } asked{call};
    auto const make = [](void* it) noexcept {
        auto& r = *static_cast<request*>(it);
        errno = 0;
        r.result = r.call();
        r.error = errno;
        r.is_made = true;
    };
    {
        kept_errno const kept;
        static_cast<void>(tulle::io::reactor::instance().run_on_helper(
            make, &asked, limit(tulle::wait::k_never)));
    }
    if (!asked.is_made) return call();
    if (asked.error != 0) errno = asked.error;
    return asked.result;
}

// A cancellation point.
template <class Call> auto blocking_call(Call call) {
    thread* const t = self();
    if (t == nullptr) return call();
    test_cancel(t);
    return on_helper(call);
}

// `attempt` transfers without blocking, `rest(so_many)` what has not been transferred.
template <class Attempt, class Rest>
ssize_t transfer(std::size_t size, Attempt attempt, Rest rest) {
    thread* const t = self();
    if (t == nullptr) return rest(0);
    test_cancel(t);
    ssize_t const tried = attempt();
    if (tried == 0 || (tried > 0 && static_cast<std::size_t>(tried) == size)) return tried;
    if (tried < 0 && errno != EAGAIN) return rest(0);
    std::size_t const done = tried > 0 ? static_cast<std::size_t>(tried) : 0;
    ssize_t const more = on_helper([&] { return rest(done); });
    return more >= 0 ? static_cast<ssize_t>(done) + more : done != 0 ? tried : more;
}

ssize_t read_at(int number, void* data, std::size_t size, off_t offset) {
    return transfer(
        size,
        [=] {
            iovec const whole{data, size};
            return offset < 0 ? fail(EINVAL) : preadv2(number, &whole, 1, offset, RWF_NOWAIT);
        },
        [=](std::size_t done) {
            return TULLE_LIBC(pread)(number, static_cast<std::byte*>(data) + done, size - done,
                                     offset + static_cast<off_t>(done));
        });
}

ssize_t write_at(int number, void const* data, std::size_t size, off_t offset) {
    return transfer(
        size,
        [=] {
            iovec const whole{const_cast<void*>(data), size};
            return offset < 0 ? fail(EINVAL) : pwritev2(number, &whole, 1, offset, RWF_NOWAIT);
        },
        [=](std::size_t done) {
            return TULLE_LIBC(pwrite)(number, static_cast<std::byte const*>(data) + done,
                                      size - done, offset + static_cast<off_t>(done));
        });
}

} // namespace

TULLE_INTERPOSE ssize_t pread(int number, void* data, size_t size, off_t offset) {
    return read_at(number, data, size, offset);
}
TULLE_INTERPOSE ssize_t pread64(int number, void* data, size_t size, off64_t offset) {
    return read_at(number, data, size, offset);
}
TULLE_INTERPOSE ssize_t pwrite(int number, void const* data, size_t size, off_t offset) {
    return write_at(number, data, size, offset);
}
TULLE_INTERPOSE ssize_t pwrite64(int number, void const* data, size_t size, off64_t offset) {
    return write_at(number, data, size, offset);
}

// Programs that were compiled with _FORTIFY_SOURCE call these.
extern "C" __attribute__((noreturn)) void __chk_fail();

TULLE_INTERPOSE ssize_t __pread_chk(int number, void* data, size_t size, off_t offset,
                                    size_t room) {
    if (size > room) __chk_fail();
    return read_at(number, data, size, offset);
}
TULLE_INTERPOSE ssize_t __pread64_chk(int number, void* data, size_t size, off64_t offset,
                                      size_t room) {
    if (size > room) __chk_fail();
    return read_at(number, data, size, offset);
}

TULLE_INTERPOSE int fsync(int number) {
    return blocking_call([=] { return TULLE_LIBC(fsync)(number); });
}
TULLE_INTERPOSE int fdatasync(int number) {
    return blocking_call([=] { return TULLE_LIBC(fdatasync)(number); });
}

TULLE_INTERPOSE int getaddrinfo(char const* host, char const* service, addrinfo const* hints,
                                addrinfo** found) {
    return blocking_call([=] { return TULLE_LIBC(getaddrinfo)(host, service, hints, found); });
}

TULLE_INTERPOSE int flock(int number, int operation) noexcept {
    thread* const t = self();
    if (t == nullptr || (operation & LOCK_NB) != 0) return TULLE_LIBC(flock)(number, operation);
    for (growing_pause between;;) {
        int const result = TULLE_LIBC(flock)(number, operation | LOCK_NB);
        if (result == 0 || errno != EWOULDBLOCK) return result;
        if (between.wait(*t) == ECANCELED && run_handlers(*t) == interruption::ends)
            return fail(EINTR);
    }
}
