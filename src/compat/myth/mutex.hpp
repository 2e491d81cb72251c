// SPDX-License-Identifier: Apache-2.0
// What a condition does with the mutex of a wait.
#pragma once

#include <myth/myth.h>

#include <cstdint>

namespace tulle::myth {

// The owner's part of a mutex that is not normal, put aside while its holder waits.
class ownership {
public:
    // 0, or EPERM: the caller does not hold it.
    [[nodiscard]] int give_up(myth_mutex_t& m) noexcept;
    void take_back(myth_mutex_t& m) const noexcept;

private:
    std::uint64_t m_owner = 0;
    unsigned m_depth = 0;
};

} // namespace tulle::myth
