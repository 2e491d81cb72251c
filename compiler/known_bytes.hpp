// SPDX-License-Identifier: Apache-2.0
// Which bytes have been checked, as distances from origins. Two bytes that are checked and at most
// a line apart lie in one line or in two neighbours, so that all between them is checked as well.
#pragma once

#include "accesses.hpp"
#include "origin.hpp"

#include <cstddef>
#include <map>
#include <set>

namespace tulle::compiler {

class known_bytes {
public:
    // An access whose bytes are checked, or will have been when it happens.
    void add(origin const* base, std::int64_t first, std::int64_t last, mode how);
    [[nodiscard]] bool has(origin const* base, std::int64_t first, std::int64_t last,
                           mode how) const;
    // Of any number of bytes, that there is one which is known in each line.
    [[nodiscard]] bool has_all(origin const* base, std::int64_t first, std::int64_t last,
                               mode how) const;

    [[nodiscard]] std::size_t count() const;
    void clear() { m_known.clear(); }
    // What is known on both of two ways.
    void keep_common(known_bytes const& other);
    void forget_values_of(llvm::BasicBlock const& block);

    bool operator==(known_bytes const& other) const { return m_known == other.m_known; }
    bool operator!=(known_bytes const& other) const { return !(*this == other); }

private:
    using key = std::pair<origin const*, mode>;

    std::map<key, std::set<std::int64_t>> m_known;
};

} // namespace tulle::compiler
