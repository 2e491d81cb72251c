// SPDX-License-Identifier: Apache-2.0
// errno around something that the caller does not know of, and that may go on on another OS thread.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cerrno>

namespace tulle::base {

// Not by the address that the caller may remember, which is that of its OS thread.
TULLE_NOINLINE inline void set_errno(int value) noexcept { errno = value; }

class kept_errno {
public:
    kept_errno() noexcept = default;
    ~kept_errno() { set_errno(m_value); }
    kept_errno(kept_errno const&) = delete;
    kept_errno& operator=(kept_errno const&) = delete;

private:
    int m_value = errno;
};

} // namespace tulle::base
