// SPDX-License-Identifier: Apache-2.0
// From the number of a descriptor to those that wait for it. Entries are made when they are first
// asked for, some at a time, and stay where they are.
#pragma once

#include "io/descriptor.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace tulle::io {

class descriptor_table {
public:
    static constexpr int k_most = 1 << 20; // descriptors; the default of fs.nr_open

    descriptor_table() noexcept = default;
    descriptor_table(descriptor_table const&) = delete;
    descriptor_table& operator=(descriptor_table const&) = delete;

    // Null: there is no memory, or the number is not one that a descriptor can have.
    [[nodiscard]] descriptor* find_or_make(int number) noexcept;
    // Null: it has not been made.
    [[nodiscard]] descriptor* find(int number) const noexcept;
    // Nobody waits, or those that do are in the parent of this forked child; and no epoll knows of
    // any descriptor.
    void forget_all() noexcept;

private:
    static constexpr std::size_t k_per_block = 256;
    using block = std::array<descriptor, k_per_block>;

    [[nodiscard]] block* make_block(std::size_t index) noexcept;

    std::array<std::atomic<block*>, k_most / k_per_block> m_blocks{};
};

} // namespace tulle::io
