// SPDX-License-Identifier: Apache-2.0
// Cells that are full or empty, as the workloads full-empty and pingpong see them:   write_ef(long)
// long read_fe()   long read_ff() A new one is empty.
#pragma once

#include <tulle/feb.hpp>
#include <tulle/full_empty.hpp>

namespace tulle::bench {

struct object_cell : tulle::full_empty<long> {};

// A word of memory, whose state is in the table.
class address_cell {
public:
    address_cell() { feb::empty(m_word); }
    ~address_cell() { feb::fill(m_word); }
    address_cell(address_cell const&) = delete;
    address_cell& operator=(address_cell const&) = delete;

    void write_ef(long value) { feb::write_ef(m_word, value); }
    long read_fe() { return feb::read_fe(m_word); }
    long read_ff() { return feb::read_ff(m_word); }

private:
    long m_word = 0;
};

} // namespace tulle::bench
