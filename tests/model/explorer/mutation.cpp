// SPDX-License-Identifier: Apache-2.0
#include "mutation.hpp"

#include <algorithm>

namespace tulle::model {

using std::memory_order;

char const* name_of(memory_order order) noexcept {
    switch (order) {
        case std::memory_order_relaxed: return "relaxed";
        case std::memory_order_consume: return "consume";
        case std::memory_order_acquire: return "acquire";
        case std::memory_order_release: return "release";
        case std::memory_order_acq_rel: return "acq_rel";
        case std::memory_order_seq_cst: return "seq_cst";
    }
    return "?";
}

std::string_view file_name(source_location const& where) noexcept {
    std::string_view const path = where.file_name();
    return path.substr(path.rfind('/') + 1);
}

std::string describe(site const& s) {
    return s.file + ":" + std::to_string(s.line) + ":" + std::to_string(s.column) + " " +
           name_of(s.order);
}

std::vector<mutation> weakenings(site const& s) {
    using enum std::memory_order;
    if (s.kind == access_kind::heavy_fence) return {{s, relaxed}};
    switch (s.order) {
        case relaxed: return {};
        case acq_rel: return {{s, acquire}, {s, release}};
        case seq_cst:
            if (s.kind == access_kind::load) return {{s, acquire}};
            if (s.kind == access_kind::store) return {{s, release}};
            return {{s, acq_rel}};
        default: return {{s, relaxed}};
    }
}

memory_order site_book::pass(source_location const& where, access_kind kind, memory_order order) {
    if (m_collecting && order != std::memory_order_relaxed) {
        site const here{std::string(file_name(where)), where.line(), where.column(), kind, order};
        auto const at = std::lower_bound(m_sites.begin(), m_sites.end(), here);
        if (at == m_sites.end() || *at != here) m_sites.insert(at, here);
    }
    if (!m_mutation) return order;
    site const& s = m_mutation->where;
    bool const here = where.line() == s.line && where.column() == s.column && kind == s.kind &&
                      order == s.order && file_name(where) == s.file;
    return here ? m_mutation->weakened : order;
}

} // namespace tulle::model
