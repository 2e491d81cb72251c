// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/memory/heap_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tulle::compat {

namespace {

constexpr std::array<char, 8> k_magic{'q', 'a', 'l', 'l', 'o', 'c', '-', '1'};

class descriptor {
public:
    explicit descriptor(int number) noexcept : m_number(number) {}
    descriptor(descriptor const&) = delete;
    descriptor& operator=(descriptor const&) = delete;
    ~descriptor() {
        int const error = errno;
        if (m_number >= 0) ::close(m_number);
        errno = error;
    }
    [[nodiscard]] int get() const noexcept { return m_number; }

private:
    int m_number;
};

bool fail(int error) noexcept {
    errno = error;
    return false;
}

// Whether the file has a header that fits its size.
bool load_header(int file, std::uint64_t size, heap_header& found) {
    if (size < sizeof found) return fail(EINVAL);
    if (::pread(file, &found, sizeof found, 0) != static_cast<ssize_t>(sizeof found))
        return fail(errno != 0 ? errno : EINVAL);
    bool const is_sound = found.magic == k_magic && found.size == size && found.base != 0;
    return is_sound || fail(EINVAL);
}

bool same_layout(heap_header const& a, heap_header const& b) noexcept {
    return a.size == b.size && a.kind == b.kind && a.item == b.item && a.streams == b.streams &&
           a.begin == b.begin;
}

} // namespace

bool heap_file::read_header(char const* name, heap_header& found) {
    descriptor const file(::open(name, O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return false;
    return load_header(file.get(), static_cast<std::uint64_t>(status.st_size), found);
}

bool heap_file::open(char const* name, heap_header wanted) {
    descriptor const file(::open(name, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return false;
    m_is_new = status.st_size == 0;
    if (m_is_new) {
        if (::ftruncate(file.get(), static_cast<off_t>(wanted.size)) != 0) return false;
    } else {
        heap_header found{};
        if (!load_header(file.get(), static_cast<std::uint64_t>(status.st_size), found))
            return false;
        if (!same_layout(found, wanted)) return fail(EINVAL);
        wanted.base = found.base;
    }
    return map(file.get(), wanted);
}

bool heap_file::map(int file, heap_header const& wanted) {
    int const fixed = m_is_new ? 0 : MAP_FIXED_NOREPLACE;
    auto* const where = reinterpret_cast<void*>(wanted.base); // as it was written by this library
    void* const p = ::mmap(where, wanted.size, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, file, 0);
    if (p == MAP_FAILED) return false;
    if (!m_is_new && p != where) { // a kernel that takes the address for a hint
        ::munmap(p, wanted.size);
        return fail(EEXIST);
    }
    m_base = static_cast<std::byte*>(p);
    m_size = wanted.size;
    if (m_is_new) {
        header() = wanted;
        header().magic = k_magic;
        header().base = reinterpret_cast<std::uintptr_t>(p);
    }
    return true;
}

void heap_file::close() noexcept {
    ::munmap(m_base, m_size);
    m_base = nullptr;
}

void heap_file::write_back() const noexcept { ::msync(m_base, m_size, MS_SYNC); }

} // namespace tulle::compat
