// SPDX-License-Identifier: Apache-2.0
// What coherent memory has to know of the OS threads of this process that run checked code, where
// there are several (grace_periods.hpp); who knows them is above.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

// What point_of says of one that holds no check now.
inline constexpr std::uint64_t k_holds_no_check = ~std::uint64_t{0};

class checking_threads {
public:
    checking_threads() = default;
    checking_threads(checking_threads const&) = delete;
    checking_threads& operator=(checking_threads const&) = delete;
    virtual ~checking_threads() = default;

    // Numbers of OS threads are below this, and below count() those that there are so far.
    [[nodiscard]] virtual std::size_t most() const noexcept = 0;
    [[nodiscard]] virtual std::size_t count() const noexcept = 0;
    // The number of the calling one; count() or more: it is none of them.
    [[nodiscard]] virtual std::size_t caller() const noexcept = 0;
    // The calling one is the only one that there is ever.
    [[nodiscard]] virtual bool is_only_one() const noexcept = 0;
    // As grace_periods.hpp says.
    [[nodiscard]] virtual std::uint64_t point_of(std::size_t number) const noexcept = 0;
};

} // namespace tulle::dsm
