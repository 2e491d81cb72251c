// SPDX-License-Identifier: Apache-2.0
#include "compat/tnt/home_files.hpp"

#include <tnt.h>
#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include <unistd.h>

namespace tulle::tnt {

namespace {

constexpr std::size_t k_read_ahead = 4096;

// Until all is written, as by a write that blocks. -1: at the position of the file.
std::int64_t write_all(int descriptor, std::byte const* from, std::size_t size, off_t offset) {
    std::size_t done = 0;
    while (done < size) {
        ssize_t const wrote = offset < 0 ? io::write(descriptor, from + done, size - done)
                                         : io::pwrite(descriptor, from + done, size - done,
                                                      offset + static_cast<off_t>(done));
        if (wrote < 0 && done == 0) return wrote;
        if (wrote <= 0) break;
        done += static_cast<std::size_t>(wrote);
    }
    return static_cast<std::int64_t>(done);
}

} // namespace

std::size_t home_file::take_ahead(char* to, std::size_t size) {
    std::size_t const taken = std::min(size, m_ahead.size());
    std::memcpy(to, m_ahead.data(), taken);
    m_ahead.erase(0, taken);
    return taken;
}

// To the file, if that has a position, so that others find it there.
void home_file::give_back_ahead() noexcept {
    auto const bytes = static_cast<off_t>(m_ahead.size());
    if (bytes != 0 && lseek(m_descriptor, -bytes, SEEK_CUR) >= 0) m_ahead.clear();
}

std::int64_t home_file::read(std::byte* to, std::size_t size) {
    std::lock_guard const held(m_reading);
    if (size != 0 && !m_ahead.empty())
        return static_cast<std::int64_t>(take_ahead(reinterpret_cast<char*>(to), size));
    return io::read(m_descriptor, to, size);
}

std::int64_t home_file::read_line(char* to, std::size_t size) {
    std::lock_guard const held(m_reading);
    std::size_t searched = 0;
    std::size_t end = std::string::npos;
    while ((end = m_ahead.find('\n', searched)) == std::string::npos && m_ahead.size() < size) {
        searched = m_ahead.size();
        std::array<char, k_read_ahead> more;
        ssize_t const got = io::read(m_descriptor, more.data(), more.size());
        if (got < 0 && m_ahead.empty()) return got;
        if (got <= 0) break;
        m_ahead.append(more.data(), static_cast<std::size_t>(got));
    }
    std::size_t const length = end == std::string::npos ? m_ahead.size() : end + 1;
    std::size_t const taken = take_ahead(to, std::min(length, size));
    give_back_ahead();
    return static_cast<std::int64_t>(taken);
}

// While a reader of lines gives back what it has read ahead, the position is not where it will be.
// A reader of what has no position may wait for long, and nobody waits for that one.
std::unique_lock<tulle::mutex> home_file::lock_position() {
    if (lseek(m_descriptor, 0, SEEK_CUR) < 0) return {};
    return std::unique_lock(m_reading);
}

std::int64_t home_file::write(std::byte const* from, std::size_t size) {
    std::lock_guard const held(m_writing); // comes before m_reading
    auto const position = lock_position();
    // What node 0 has printed comes first.
    if (m_descriptor == STDOUT_FILENO) std::fflush(stdout);
    return write_all(m_descriptor, from, size, -1);
}

std::int64_t home_file::pread(std::byte* to, std::size_t size, off_t offset) noexcept {
    return io::pread(m_descriptor, to, size, offset);
}
std::int64_t home_file::pwrite(std::byte const* from, std::size_t size, off_t offset) noexcept {
    return offset < 0 ? -EINVAL : write_all(m_descriptor, from, size, offset);
}

std::int64_t home_file::seek(off_t offset, int from) {
    auto const position = lock_position();
    off_t const found = lseek(m_descriptor, offset, from);
    return found < 0 ? -errno : found;
}

int home_file::close() noexcept {
    int const descriptor = std::exchange(m_descriptor, -1);
    return descriptor < 0 || m_is_own ? 0 : io::close(descriptor);
}

namespace {

// A name that was in use comes again when all others have been, so that one which is kept too
// long names nothing.
class file_table {
public:
    file_table() {
        for (int const own : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            m_all.emplace(TNT_IO_FIRST + own, std::make_shared<home_file>(own, true));
    }
    int add(std::shared_ptr<home_file> file) {
        std::lock_guard const held(m_lock);
        int const name = next_free();
        m_all.emplace(name, std::move(file));
        m_last = name;
        return name;
    }
    std::shared_ptr<home_file> find(int name) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.find(name);
        return found != m_all.end() ? found->second : nullptr;
    }
    std::shared_ptr<home_file> take(int name) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.extract(name);
        return found.empty() ? nullptr : std::move(found.mapped());
    }

private:
    [[nodiscard]] int next_free() const {
        int name = m_last;
        do {
            name = name == INT_MAX ? TNT_IO_FIRST + STDERR_FILENO + 1 : name + 1;
        } while (m_all.contains(name));
        return name;
    }

    tulle::mutex m_lock; // guards the rest
    int m_last = TNT_IO_FIRST + STDERR_FILENO;
    std::unordered_map<int, std::shared_ptr<home_file>> m_all;
};

// Never destroyed, as threads may outlive static objects.
file_table& files() {
    static auto* const s_all = new file_table;
    return *s_all;
}

} // namespace

int add_file(int descriptor) try {
    return files().add(std::make_shared<home_file>(descriptor, false));
} catch (std::bad_alloc const&) {
    static_cast<void>(io::close(descriptor));
    return -ENOMEM;
}

std::shared_ptr<home_file> find_file(int name) { return files().find(name); }

int close_file(int name) {
    std::shared_ptr<home_file> const found = files().take(name);
    if (found == nullptr) return -EBADF;
    return found.use_count() == 1 ? found->close() : 0;
}

} // namespace tulle::tnt
