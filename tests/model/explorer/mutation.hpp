// SPDX-License-Identifier: Apache-2.0
//
// Call sites of atomic accesses and fences, and the weakening of one of them: whether a test would
// notice a wrong order.
#pragma once

#include "source_location.hpp"

#include <atomic>
#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace tulle::model {

enum class access_kind { load, store, read_modify_write, fence, heavy_fence };

struct site {
    std::string file; // without its folders
    unsigned line = 0;
    unsigned column = 0;
    access_kind kind = access_kind::load;
    std::memory_order order = std::memory_order_relaxed;

    friend auto operator<=>(site const&, site const&) = default;
};

/// The accesses at one source position get another order.
struct mutation {
    site where;
    std::memory_order weakened;
};

[[nodiscard]] char const* name_of(std::memory_order order) noexcept;
[[nodiscard]] std::string_view file_name(source_location const& where) noexcept;
[[nodiscard]] std::string describe(site const& s);
/// The next weaker orders: acquire and release become relaxed, acq_rel loses either half, seq_cst
/// becomes acq_rel.
[[nodiscard]] std::vector<mutation> weakenings(site const& s);

/// Collects the sites an execution passes, and applies the mutation under test.
class site_book {
public:
    [[nodiscard]] std::memory_order pass(source_location const& where, access_kind kind,
                                         std::memory_order order);
    void mutate(mutation m) { m_mutation = std::move(m); }
    void collect() noexcept { m_collecting = true; }
    /// Those with an order stronger than relaxed, sorted, each once.
    [[nodiscard]] std::vector<site> const& sites() const noexcept { return m_sites; }

private:
    std::optional<mutation> m_mutation;
    bool m_collecting = false;
    std::vector<site> m_sites;
};

} // namespace tulle::model
