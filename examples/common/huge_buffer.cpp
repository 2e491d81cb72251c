// SPDX-License-Identifier: Apache-2.0
#include "huge_buffer.hpp"

#include <cerrno>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <utility>

namespace examples {

namespace {

char* checked(void* mapped, std::size_t bytes) {
    if (mapped == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(),
                                "cannot get " + std::to_string(bytes) + " bytes of memory");
    madvise(mapped, bytes, MADV_HUGEPAGE); // where the system has none, small pages do
    return static_cast<char*>(mapped);
}

} // namespace

huge_buffer::huge_buffer(std::size_t bytes) : m_size(bytes == 0 ? 1 : bytes) {
    m_data = checked(mmap(nullptr, m_size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                     m_size);
}

huge_buffer::~huge_buffer() {
    if (m_data != nullptr) munmap(m_data, m_size);
}

huge_buffer::huge_buffer(huge_buffer&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)), m_size(std::exchange(other.m_size, 0)) {}

huge_buffer& huge_buffer::operator=(huge_buffer&& other) noexcept {
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    return *this;
}

void huge_buffer::grow(std::size_t bytes) {
    m_data = checked(mremap(m_data, m_size, bytes, MREMAP_MAYMOVE), bytes);
    m_size = bytes;
}

} // namespace examples
