// SPDX-License-Identifier: Apache-2.0
#include "net/transport.hpp"

#include <cerrno>

namespace tulle::net {

bool transport::reserve_segments(std::size_t each) noexcept {
    if (each > SIZE_MAX / count()) {
        errno = ENOMEM;
        return false;
    }
    if (!m_segments.is_valid())
        m_segments = os::fixed_range::reserve(m_segments_at, each * count());
    // It stays when what is to lie there cannot be had, and is filled when somebody tries again.
    return m_segments.is_valid();
}

std::byte* transport::map_segments(std::size_t each) noexcept {
    if (!reserve_segments(each) || !m_segments.fill(here() * each, each)) return nullptr;
    return m_segments.low();
}

} // namespace tulle::net
