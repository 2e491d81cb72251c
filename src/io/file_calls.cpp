// SPDX-License-Identifier: Apache-2.0
// Calls that go to a disk, to the resolver, or to a child process. What the system has in memory it
// reads and opens at once; the rest a helper OS thread does.
#include "io/end_of_process.hpp"
#include "io/tries.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/io.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::io {

namespace {

ssize_t read_at(int number, void* buffer, std::size_t size, off_t offset,
                detail::limit const& until) noexcept {
    if (offset < 0) return -EINVAL; // to the system, -1 is the position of the file
    iovec const whole{buffer, size};
    ssize_t tried = result_of(::preadv2(number, &whole, 1, offset, RWF_NOWAIT));
    bool const is_all = tried == 0 || (tried > 0 && static_cast<std::size_t>(tried) == size);
    if (is_all || (tried < 0 && !would_block(tried) && !has_no_try(tried) && tried != -EINTR))
        return tried;
    tried = std::max<ssize_t>(tried, 0);
    ssize_t const more = on_helper(until, [=] {
        return result_of(::pread(number, static_cast<char*>(buffer) + tried,
                                 size - static_cast<std::size_t>(tried), offset + tried));
    });
    return more < 0 && tried == 0 ? more : tried + std::max<ssize_t>(more, 0);
}

ssize_t write_at(int number, void const* buffer, std::size_t size, off_t offset,
                 detail::limit const& until) noexcept {
    if (offset < 0) return -EINVAL;
    iovec const whole{const_cast<void*>(buffer), size};
    ssize_t const tried = result_of(::pwritev2(number, &whole, 1, offset, RWF_NOWAIT));
    if (!would_block(tried) && !has_no_try(tried) && tried != -EINTR) return tried;
    return on_helper(until, [=] { return result_of(::pwrite(number, buffer, size, offset)); });
}

// Until the system lets it be done without an interruption.
template <class Call> int uninterrupted(detail::limit const& until, Call call) noexcept {
    return static_cast<int>(on_helper(until, [call] {
        ssize_t result = -EINTR;
        while (result == -EINTR) result = result_of(call());
        return result;
    }));
}

#if defined SYS_openat2 && defined RESOLVE_CACHED
// -1: the path leads to what the system does not have in memory, or it cannot be opened so.
int open_in_memory(char const* path, int flags) noexcept {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_LARGEFILE);
    how.resolve = RESOLVE_CACHED;
    return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

// Others, such as FIFOs, may have to be waited for when they are opened.
bool opens_at_once(char const* path) noexcept {
    int const found = open_in_memory(path, O_PATH | O_CLOEXEC);
    if (found < 0) return false;
    struct stat about {};
    bool const opens =
        ::fstat(found, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    ::close(found);
    return opens;
}

// -1: a helper is to open it, and to find out why it cannot be opened.
int try_to_open(char const* path, int flags) noexcept {
    bool const may_make = (flags & (O_CREAT | O_TRUNC)) != 0;
    return !may_make && opens_at_once(path) ? open_in_memory(path, flags) : -1;
}
#else
int try_to_open(char const*, int) noexcept { return -1; }
#endif

int open_file(char const* path, int flags, mode_t mode, detail::limit const& until) noexcept {
    if (path == nullptr) return -EFAULT;
    int made = try_to_open(path, flags);
    if (made < 0) made = uninterrupted(until, [=] { return ::open(path, flags, mode); });
    if (made >= 0) reactor::instance().expect_new(made);
    return made;
}

pid_t wait_for_one(pid_t pid, int* status, int options, detail::limit const& until) noexcept {
    for (pauses between;;) {
        auto const found = static_cast<pid_t>(result_of(::waitpid(pid, status, options | WNOHANG)));
        if (found == -EINTR) continue;
        if (found != 0 || (options & WNOHANG) != 0) return found;
        if (int const error = between.pause(until)) return -error;
    }
}

// Of a stop, or of one child out of several, no descriptor tells.
pid_t wait_for_child(pid_t pid, int* status, int options, detail::limit const& until) noexcept {
    bool const is_told = pid > 0 && (options & (WNOHANG | WUNTRACED | WCONTINUED)) == 0;
    if (is_told) { // a descriptor tells of processes that are no children, too
        auto const found = static_cast<pid_t>(result_of(::waitpid(pid, status, options | WNOHANG)));
        if (found != 0 && found != -EINTR) return found;
        end_of_process const end(pid);
        int const error = end.number() < 0 ? 0 : wait_readable(end.number(), wait_limit::of(until));
        if (error < 0) return error;
    }
    return wait_for_one(pid, status, options, until);
}

int resolve(char const* host, char const* service, addrinfo const* hints, addrinfo** found,
            detail::limit const& until) noexcept {
    return static_cast<int>(on_helper(
        until, [=] { return static_cast<ssize_t>(::getaddrinfo(host, service, hints, found)); }));
}

} // namespace

ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset) noexcept {
    return read_at(descriptor, buffer, size, offset, k_forever);
}
ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset,
              wait_limit const& limit) noexcept {
    return read_at(descriptor, buffer, size, offset, limit.get());
}
ssize_t pwrite(int descriptor, void const* buffer, std::size_t size, off_t offset) noexcept {
    return write_at(descriptor, buffer, size, offset, k_forever);
}
ssize_t pwrite(int descriptor, void const* buffer, std::size_t size, off_t offset,
               wait_limit const& limit) noexcept {
    return write_at(descriptor, buffer, size, offset, limit.get());
}

int open(char const* path, int flags, mode_t mode) noexcept {
    return open_file(path, flags, mode, k_forever);
}
int open(char const* path, int flags, mode_t mode, wait_limit const& limit) noexcept {
    return open_file(path, flags, mode, limit.get());
}
int fsync(int descriptor) noexcept {
    return uninterrupted(k_forever, [=] { return ::fsync(descriptor); });
}
int fsync(int descriptor, wait_limit const& limit) noexcept {
    return uninterrupted(limit.get(), [=] { return ::fsync(descriptor); });
}
int fdatasync(int descriptor) noexcept {
    return uninterrupted(k_forever, [=] { return ::fdatasync(descriptor); });
}
int fdatasync(int descriptor, wait_limit const& limit) noexcept {
    return uninterrupted(limit.get(), [=] { return ::fdatasync(descriptor); });
}

pid_t waitpid(pid_t pid, int* status, int options) noexcept {
    return wait_for_child(pid, status, options, k_forever);
}
pid_t waitpid(pid_t pid, int* status, int options, wait_limit const& limit) noexcept {
    return wait_for_child(pid, status, options, limit.get());
}

int getaddrinfo(char const* host, char const* service, addrinfo const* hints,
                addrinfo** found) noexcept {
    return resolve(host, service, hints, found, k_forever);
}
int getaddrinfo(char const* host, char const* service, addrinfo const* hints, addrinfo** found,
                wait_limit const& limit) noexcept {
    return resolve(host, service, hints, found, limit.get());
}

} // namespace tulle::io
