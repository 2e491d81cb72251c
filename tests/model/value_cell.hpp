// SPDX-License-Identifier: Apache-2.0
// A value of the simulated memory, as full/empty words and objects see it.
#pragma once

#include "explorer/explore.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::model {

class value_cell {
public:
    explicit value_cell(atomic<std::uint64_t>& value) : m_value(&value) {}
    [[nodiscard]] std::uint64_t load() const { return m_value->load(std::memory_order_acquire); }
    void store(std::uint64_t value) const { m_value->store(value, std::memory_order_release); }
    void copy_out(void* buffer) const { *static_cast<std::uint64_t*>(buffer) = load(); }
    void move_out(void* buffer) const { copy_out(buffer); }
    void copy_in(void const* buffer) const { store(*static_cast<std::uint64_t const*>(buffer)); }
    void move_in(void const* buffer) const { copy_in(buffer); }
    static void pass(void* to, void const* from) {
        *static_cast<std::uint64_t*>(to) = *static_cast<std::uint64_t const*>(from);
    }

private:
    atomic<std::uint64_t>* m_value;
};

} // namespace tulle::model
