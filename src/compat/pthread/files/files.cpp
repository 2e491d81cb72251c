// SPDX-License-Identifier: Apache-2.0
// Calls on files, of which no descriptor tells when they would not block. What the system has in
// memory it reads and writes at once; a helper OS thread does the rest, or the thread itself where
// that keeps nothing from running.
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/files/helper_calls.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>

namespace {

using namespace tulle::posix;

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
    ssize_t const more = on_disk([&] { return rest(done); });
    return more >= 0 ? static_cast<ssize_t>(done) + more : done != 0 ? tried : more;
}

ssize_t read_at(int number, void* data, std::size_t size, off_t offset) {
    return transfer(
        size,
        [=] {
            iovec const whole{data, size};
            return offset < 0 ? fail(EINVAL)
                              : TULLE_LIBC(preadv2)(number, &whole, 1, offset, RWF_NOWAIT);
        },
        [=](std::size_t done) {
            return TULLE_LIBC(pread)(number, static_cast<std::byte*>(data) + done, size - done,
                                     offset + static_cast<off_t>(done));
        });
}

ssize_t write_at(int number, void const* data, std::size_t size, off_t offset) {
    return after_output(transfer(
        size,
        [=] {
            iovec const whole{const_cast<void*>(data), size};
            return offset < 0 ? fail(EINVAL)
                              : TULLE_LIBC(pwritev2)(number, &whole, 1, offset, RWF_NOWAIT);
        },
        [=](std::size_t done) {
            return TULLE_LIBC(pwrite)(number, static_cast<std::byte const*>(data) + done,
                                      size - done, offset + static_cast<off_t>(done));
        }));
}

// Calls of the kernel with parts, by which flags are said: without an offset (-1) they are for what
// may be waited for, too.
using call_with_parts = ssize_t (*)(int, iovec const*, int, off_t, int);

ssize_t parts_at(call_with_parts call, direction way, int number, iovec const* parts, int count,
                 off_t offset, int flags) {
    auto const plain = [=] { return call(number, parts, count, offset, flags); };
    bool const is_for_kernel = self() == nullptr || (flags & RWF_NOWAIT) != 0 ||
                               static_cast<std::size_t>(count) > remaining_parts::k_most ||
                               !may_be_read(parts, count);
    if (is_for_kernel || offset < -1) return test_cancel(self()), plain();
    if (offset == -1 && way == direction::in) return read_in_parts(number, parts, count, flags);
    if (offset == -1) return when_ready(number, way, plain);
    auto const whole = static_cast<std::size_t>(count);
    std::size_t size = 0;
    std::for_each_n(parts, whole, [&](iovec const& part) { size += part.iov_len; });
    return transfer(
        size, [=] { return call(number, parts, count, offset, flags | RWF_NOWAIT); },
        [=](std::size_t done) {
            remaining_parts left(parts, whole);
            static_cast<void>(left.take(done));
            return call(number, left.parts(), static_cast<int>(left.count()),
                        offset + static_cast<off_t>(done), flags);
        });
}

ssize_t read_parts(int number, iovec const* parts, int count, off_t offset, int flags) {
    return parts_at(TULLE_LIBC(preadv2), direction::in, number, parts, count, offset, flags);
}
ssize_t write_parts(int number, iovec const* parts, int count, off_t offset, int flags) {
    return after_output(
        parts_at(TULLE_LIBC(pwritev2), direction::out, number, parts, count, offset, flags));
}
// To these -1 is no offset.
ssize_t read_parts_at(int number, iovec const* parts, int count, off_t offset) {
    return offset < 0 ? fail(EINVAL) : read_parts(number, parts, count, offset, 0);
}
ssize_t write_parts_at(int number, iovec const* parts, int count, off_t offset) {
    return offset < 0 ? fail(EINVAL) : write_parts(number, parts, count, offset, 0);
}

} // namespace

TULLE_INTERPOSE ssize_t preadv(int number, iovec const* parts, int count, off_t offset) {
    return read_parts_at(number, parts, count, offset);
}
TULLE_INTERPOSE ssize_t preadv64(int number, iovec const* parts, int count, off64_t offset) {
    return read_parts_at(number, parts, count, offset);
}
TULLE_INTERPOSE ssize_t pwritev(int number, iovec const* parts, int count, off_t offset) {
    return write_parts_at(number, parts, count, offset);
}
TULLE_INTERPOSE ssize_t pwritev64(int number, iovec const* parts, int count, off64_t offset) {
    return write_parts_at(number, parts, count, offset);
}
TULLE_INTERPOSE ssize_t preadv2(int number, iovec const* parts, int count, off_t offset,
                                int flags) {
    return read_parts(number, parts, count, offset, flags);
}
TULLE_INTERPOSE ssize_t preadv64v2(int number, iovec const* parts, int count, off64_t offset,
                                   int flags) {
    return read_parts(number, parts, count, offset, flags);
}
TULLE_INTERPOSE ssize_t pwritev2(int number, iovec const* parts, int count, off_t offset,
                                 int flags) {
    return write_parts(number, parts, count, offset, flags);
}
TULLE_INTERPOSE ssize_t pwritev64v2(int number, iovec const* parts, int count, off64_t offset,
                                    int flags) {
    return write_parts(number, parts, count, offset, flags);
}

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

namespace {

template <class Call> int sync_by(Call call) {
    thread* const t = self();
    if (t == nullptr) return call();
    test_cancel(t);
    return on_disk(call);
}

} // namespace

TULLE_INTERPOSE int fsync(int number) {
    return sync_by([=] { return TULLE_LIBC(fsync)(number); });
}
TULLE_INTERPOSE int fdatasync(int number) {
    return sync_by([=] { return TULLE_LIBC(fdatasync)(number); });
}

TULLE_INTERPOSE int msync(void* memory, size_t size, int flags) {
    return blocking_call([=] { return TULLE_LIBC(msync)(memory, size, flags); });
}
TULLE_INTERPOSE void sync() noexcept {
    static_cast<void>(uncancelled_call([] { return TULLE_LIBC(sync)(), 0; }));
}
TULLE_INTERPOSE int syncfs(int number) noexcept {
    return uncancelled_call([=] { return TULLE_LIBC(syncfs)(number); });
}
TULLE_INTERPOSE int sync_file_range(int number, off64_t from, off64_t size, unsigned flags) {
    return blocking_call([=] { return TULLE_LIBC(sync_file_range)(number, from, size, flags); });
}
TULLE_INTERPOSE int fallocate(int number, int mode, off_t from, off_t size) {
    return blocking_call([=] { return TULLE_LIBC(fallocate)(number, mode, from, size); });
}
TULLE_INTERPOSE int fallocate64(int number, int mode, off64_t from, off64_t size) {
    return blocking_call([=] { return TULLE_LIBC(fallocate)(number, mode, from, size); });
}
TULLE_INTERPOSE int posix_fallocate(int number, off_t from, off_t size) {
    return blocking_call([=] { return TULLE_LIBC(posix_fallocate)(number, from, size); });
}
TULLE_INTERPOSE int posix_fallocate64(int number, off64_t from, off64_t size) {
    return blocking_call([=] { return TULLE_LIBC(posix_fallocate)(number, from, size); });
}
TULLE_INTERPOSE ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset,
                                        size_t size, unsigned flags) {
    return blocking_call(
        [=] { return TULLE_LIBC(copy_file_range)(from, from_offset, to, to_offset, size, flags); });
}

// A terminal that has been stopped may never be done: no helper waits for it.
TULLE_INTERPOSE int tcdrain(int terminal) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(tcdrain)(terminal);
    return repeat(*t, {.not_yet = EAGAIN}, [=] {
        int left = 0;
        bool const is_done = ioctl(terminal, TIOCOUTQ, &left) != 0 || left == 0;
        return is_done ? TULLE_LIBC(tcdrain)(terminal) : fail(EAGAIN);
    });
}
