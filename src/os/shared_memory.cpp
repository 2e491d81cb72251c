// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::os {

namespace {

// A file that is to be larger than the process may make one (ulimit -f) ends it by a signal.
bool is_too_large(int descriptor, std::size_t bytes) noexcept {
    struct stat about {};
    rlimit most{};
    return fstat(descriptor, &about) == 0 && static_cast<std::size_t>(about.st_size) < bytes &&
           getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur;
}

bool set_size(int descriptor, std::size_t bytes) noexcept {
    if (is_too_large(descriptor, bytes)) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
}

} // namespace

shared_memory::shared_memory(shared_memory&& other) noexcept
    : m_low(std::exchange(other.m_low, nullptr)),
      m_size(std::exchange(other.m_size, 0)),
      m_descriptor(std::exchange(other.m_descriptor, -1)) {}

shared_memory& shared_memory::operator=(shared_memory&& other) noexcept {
    if (this != &other) {
        release();
        m_low = std::exchange(other.m_low, nullptr);
        m_size = std::exchange(other.m_size, 0);
        m_descriptor = std::exchange(other.m_descriptor, -1);
    }
    return *this;
}

shared_memory::~shared_memory() { release(); }

shared_memory shared_memory::create(char const* name, std::size_t bytes) noexcept {
    shared_memory made;
    made.m_descriptor = memfd_create(name, MFD_CLOEXEC);
    if (made.m_descriptor < 0) return {};
    if (!set_size(made.m_descriptor, bytes) || !made.map(bytes)) return {};
    return made;
}

shared_memory shared_memory::adopt(int descriptor) noexcept {
    shared_memory found;
    found.m_descriptor = descriptor;
    struct stat about {};
    if (fstat(descriptor, &about) != 0) return {};
    if (!S_ISREG(about.st_mode) || about.st_size <= 0) {
        errno = EINVAL;
        return {};
    }
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 ||
        !found.map(static_cast<std::size_t>(about.st_size)))
        return {};
    return found;
}

bool shared_memory::grow(std::size_t bytes) noexcept {
    if (bytes <= m_size) return true;
    munmap(std::exchange(m_low, nullptr), std::exchange(m_size, 0));
    return set_size(m_descriptor, bytes) && map(bytes);
}

bool shared_memory::keep_for_programs() const noexcept {
    return fcntl(m_descriptor, F_SETFD, 0) == 0;
}

bool shared_memory::map(std::size_t bytes) noexcept {
    void* const low = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_descriptor, 0);
    if (low == MAP_FAILED) return false;
    m_low = static_cast<std::byte*>(low);
    m_size = bytes;
    return true;
}

void shared_memory::release() noexcept {
    int const kept = errno;
    if (m_low != nullptr) munmap(m_low, m_size);
    if (m_descriptor >= 0) close(m_descriptor);
    m_low = nullptr;
    m_size = 0;
    m_descriptor = -1;
    errno = kept;
}

// --- shared_file ---------------------------------------------------------------------------------

shared_file::shared_file(shared_file&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

shared_file& shared_file::operator=(shared_file&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

shared_file::~shared_file() {
    int const kept = errno;
    if (m_descriptor >= 0) close(m_descriptor);
    errno = kept;
}

shared_file shared_file::create(char const* name) noexcept {
    shared_file made;
    made.m_descriptor = memfd_create(name, MFD_CLOEXEC);
    return made;
}

shared_file shared_file::adopt(int descriptor) noexcept {
    shared_file found;
    found.m_descriptor = descriptor;
    struct stat about {};
    if (fstat(descriptor, &about) != 0) return {};
    if (!S_ISREG(about.st_mode)) {
        errno = EINVAL;
        return {};
    }
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 ? std::move(found) : shared_file();
}

shared_file::part shared_file::find_memory(std::uint64_t from, std::uint64_t end) const noexcept {
    auto const begin = ::lseek(m_descriptor, static_cast<off_t>(from), SEEK_DATA);
    if (begin < 0) return errno == ENXIO ? part{end, end} : part{from, end};
    auto const hole = ::lseek(m_descriptor, begin, SEEK_HOLE);
    auto const first = std::min(static_cast<std::uint64_t>(begin), end);
    return {first, hole < 0 ? end : std::min(static_cast<std::uint64_t>(hole), end)};
}

bool shared_file::has_memory(std::uint64_t from, std::uint64_t end) const noexcept {
    auto const begin = ::lseek(m_descriptor, static_cast<off_t>(from), SEEK_DATA);
    return begin < 0 ? errno != ENXIO : static_cast<std::uint64_t>(begin) < end;
}

bool shared_file::grow(std::size_t bytes) const noexcept { return set_size(m_descriptor, bytes); }

bool shared_file::keep_for_programs() const noexcept {
    return fcntl(m_descriptor, F_SETFD, 0) == 0;
}

} // namespace tulle::os
