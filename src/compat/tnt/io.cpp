// SPDX-License-Identifier: Apache-2.0
// System calls that node 0 makes for threads of any node.
#include "compat/tnt/home_files.hpp"

#include <tnt.h>
#include <tulle/io.hpp>
#include <tulle/place.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace tulle::tnt {

namespace {

constexpr std::size_t k_most_bytes = 0x7FFFF000; // of one call, as the system has it

// What node 0 answers, or a negative errno value.
template <class F> std::int64_t guarded_io(F call) noexcept try {
    return call();
} catch (std::bad_alloc const&) {
    return -ENOMEM;
} catch (dead_place const&) {
    return -EHOSTDOWN;
} catch (...) {
    return -EIO; // the program of node 0 differs
}

// Code without captures runs at node 0.
template <class Code, class... A> std::int64_t ask(Code code, A const&... arguments) noexcept {
    return guarded_io([&] { return at(place(0), code, arguments...); });
}

// The same with a path. -EFAULT: null.
template <class Code, class... A>
std::int64_t ask_of(char const* path, Code code, A const&... arguments) noexcept {
    if (path == nullptr) return -EFAULT;
    return guarded_io([&] { return at(place(0), code, std::string(path), arguments...); });
}

// Action(file, arguments...) at node 0.
template <class Action, class... A>
std::int64_t ask_file(int name, Action /*without captures*/, A const&... arguments) noexcept {
    return ask(
        [](int of, A const&... each) -> std::int64_t {
            auto const found = find_file(of);
            return found == nullptr ? -EBADF : Action{}(*found, each...);
        },
        name, arguments...);
}

// What has been read, and what the call has returned.
struct taken {
    std::int64_t result = 0;
    std::vector<std::byte> bytes{};
};

// Action(file, buffer, size, arguments...) reads at node 0, into a buffer of which only what is
// filled takes memory.
template <class Action, class... A>
std::int64_t take(int name, void* to, std::size_t size, Action /*without captures*/,
                  A const&... arguments) noexcept {
    if (to == nullptr && size != 0) return -EFAULT;
    return guarded_io([&] {
        taken const got = at(
            place(0),
            [](int of, std::uint64_t most, A const&... each) {
                auto const found = find_file(of);
                if (found == nullptr) return taken{-EBADF};
                auto const buffer = std::make_unique_for_overwrite<std::byte[]>(most);
                std::int64_t const result = Action{}(*found, buffer.get(), most, each...);
                return taken{result,
                             {buffer.get(), buffer.get() + std::max<std::int64_t>(result, 0)}};
            },
            name, std::uint64_t{std::min(size, k_most_bytes)}, arguments...);
        std::copy(got.bytes.begin(), got.bytes.end(), static_cast<std::byte*>(to));
        return got.result;
    });
}

using bytes = tulle::view<std::byte>;

bytes bytes_of(void const* from, std::size_t size) noexcept {
    return {static_cast<std::byte const*>(from), std::min(size, k_most_bytes)};
}

int error_of(int result) noexcept { return result < 0 ? -errno : 0; }

struct status {
    int error = 0;
    struct stat about {};
};

// Ask() at node 0 returns a status.
template <class Ask> int tell_status(struct stat* found, Ask asked) noexcept {
    if (found == nullptr) return -EFAULT;
    return static_cast<int>(guarded_io([&]() -> std::int64_t {
        status const told = asked();
        if (told.error == 0) *found = told.about;
        return told.error;
    }));
}

std::int64_t open_here(std::string const& path, int flags, mode_t mode) {
    int const descriptor = io::open(path.c_str(), flags | O_CLOEXEC, mode);
    return descriptor < 0 ? descriptor : add_file(descriptor);
}

status status_of(int name) {
    status told;
    auto const found = find_file(name);
    told.error = found == nullptr ? -EBADF : error_of(fstat(found->descriptor(), &told.about));
    return told;
}
status status_of(std::string const& path) {
    status told;
    told.error = error_of(stat(path.c_str(), &told.about));
    return told;
}

// 0, or a negative errno value for what vsnprintf refuses.
int put_formatted(std::string& text, char const* format, va_list values) {
    va_list again;
    va_copy(again, values);
    errno = 0;
    int const length = std::vsnprintf(nullptr, 0, format, again);
    int const error = errno;
    va_end(again);
    if (length < 0) return error != 0 ? -error : -EINVAL;
    text.resize(static_cast<std::size_t>(length) + 1);
    std::vsnprintf(text.data(), text.size(), format, values);
    text.pop_back();
    return 0;
}

} // namespace

std::int64_t read_line(int name, void* to, std::size_t size) noexcept {
    return take(name, to, size, [](home_file& file, std::byte* into, std::uint64_t most) {
        return file.read_line(reinterpret_cast<char*>(into), most);
    });
}

} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_io_open(const char* path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list values;
        va_start(values, flags);
        mode = va_arg(values, mode_t);
        va_end(values);
    }
    return static_cast<int>(ask_of(
        path, [](std::string const& of, int how, mode_t m) { return open_here(of, how, m); }, flags,
        mode));
}

int tnt_io_close(int descriptor) {
    return static_cast<int>(
        ask([](int name) -> std::int64_t { return close_file(name); }, descriptor));
}

ssize_t tnt_io_read(int descriptor, void* buffer, size_t size) {
    return take(descriptor, buffer, size, [](home_file& file, std::byte* to, std::uint64_t most) {
        return file.read(to, most);
    });
}

ssize_t tnt_io_pread(int descriptor, void* buffer, size_t size, off_t offset) {
    return take(
        descriptor, buffer, size,
        [](home_file& file, std::byte* to, std::uint64_t most, off_t where) {
            return file.pread(to, most, where);
        },
        offset);
}

ssize_t tnt_io_write(int descriptor, const void* buffer, size_t size) {
    if (buffer == nullptr && size != 0) return -EFAULT;
    return ask_file(
        descriptor,
        [](home_file& file, bytes const& all) { return file.write(all.data(), all.size()); },
        bytes_of(buffer, size));
}

ssize_t tnt_io_pwrite(int descriptor, const void* buffer, size_t size, off_t offset) {
    if (buffer == nullptr && size != 0) return -EFAULT;
    return ask_file(
        descriptor,
        [](home_file& file, bytes const& all, off_t where) {
            return file.pwrite(all.data(), all.size(), where);
        },
        bytes_of(buffer, size), offset);
}

off_t tnt_io_lseek(int descriptor, off_t offset, int whence) {
    return ask_file(
        descriptor, [](home_file& file, off_t to, int from) { return file.seek(to, from); }, offset,
        whence);
}

int tnt_io_ftruncate(int descriptor, off_t size) {
    return static_cast<int>(ask_file(
        descriptor,
        [](home_file& file, off_t bytes) { return error_of(ftruncate(file.descriptor(), bytes)); },
        size));
}

int tnt_io_fsync(int descriptor) {
    return static_cast<int>(
        ask_file(descriptor, [](home_file& file) { return tulle::io::fsync(file.descriptor()); }));
}

int tnt_io_fstat(int descriptor, struct stat* found) {
    return tell_status(found, [&] {
        return tulle::at(
            tulle::place(0), [](int name) { return status_of(name); }, descriptor);
    });
}

int tnt_io_stat(const char* path, struct stat* found) {
    if (path == nullptr) return -EFAULT;
    return tell_status(found, [&] {
        return tulle::at(
            tulle::place(0), [](std::string const& of) { return status_of(of); },
            std::string(path));
    });
}

int tnt_io_unlink(const char* path) {
    return static_cast<int>(ask_of(
        path, [](std::string const& of) -> std::int64_t { return error_of(unlink(of.c_str())); }));
}

int tnt_io_rename(const char* from, const char* to) {
    if (from == nullptr || to == nullptr) return -EFAULT;
    return static_cast<int>(guarded_io([&] {
        return tulle::at(
            tulle::place(0),
            [](std::string const& old, std::string const& other) -> std::int64_t {
                return error_of(std::rename(old.c_str(), other.c_str()));
            },
            std::string(from), std::string(to));
    }));
}

int tnt_io_mkdir(const char* path, mode_t mode) {
    return static_cast<int>(ask_of(
        path,
        [](std::string const& of, mode_t m) -> std::int64_t {
            return error_of(mkdir(of.c_str(), m));
        },
        mode));
}

ssize_t tnt_io_gets(int descriptor, char* line, size_t size) {
    if (line == nullptr) return -EFAULT;
    if (size == 0) return -EINVAL;
    ssize_t const length = read_line(descriptor, line, size - 1);
    if (length >= 0) line[length] = '\0';
    return length;
}

int tnt_io_printf(const char* format, ...) {
    if (format == nullptr) return -EFAULT;
    va_list values;
    va_start(values, format);
    auto const written = guarded_io([&]() -> std::int64_t {
        std::string text;
        if (int const error = put_formatted(text, format, values)) return error;
        return tnt_io_write(TNT_STDOUT_FILENO, text.data(), text.size());
    });
    va_end(values);
    return static_cast<int>(written);
}
