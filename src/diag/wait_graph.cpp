// SPDX-License-Identifier: Apache-2.0
#include "diag/wait_graph.hpp"

#include <algorithm>

namespace tulle::diag {

namespace {

template <class Entries, class Key>
std::uint32_t find(Entries const& sorted, Key key, std::uint32_t none) noexcept {
    auto const at =
        std::lower_bound(sorted.begin(), sorted.end(), typename Entries::value_type{key, 0});
    return at != sorted.end() && at->key == key ? at->node : none;
}

std::uintptr_t address_of(void const* object) noexcept {
    return reinterpret_cast<std::uintptr_t>(object);
}

} // namespace

void wait_graph::add(sched::thread_view const& seen, node const& n) {
    if (!n.holder.is_known() && n.stolen_word == nullptr) return;
    auto const index = static_cast<std::uint32_t>(m_nodes.size());
    m_nodes.push_back(n);
    if (seen.id != 0) m_by_id.push_back({seen.id, index});
    // Those wait with it.
    for (std::size_t k = 0; k < seen.outer_count; ++k) m_by_id.push_back({seen.outer[k], index});
    m_by_stack.push_back({address_of(seen.stands_on), index});
    if (seen.stolen != nullptr) m_by_word.push_back({address_of(&seen.stolen->state), index});
}

std::uint32_t wait_graph::next(std::uint32_t index) const noexcept {
    node const& n = m_nodes[index];
    if (n.holder.stack != nullptr) return find(m_by_stack, address_of(n.holder.stack), k_none);
    if (n.holder.id != 0) return find(m_by_id, n.holder.id, k_none);
    return n.stolen_word != nullptr ? find(m_by_word, address_of(n.stolen_word), k_none) : k_none;
}

// Goes along the waits, until nothing is known, or the way of another walk is met, or its own: then
// the circle is what follows from there.
std::pmr::vector<wait_graph::node> wait_graph::walk(std::uint32_t start) {
    std::pmr::vector<node> circle(&m_memory);
    std::uint32_t const own = start + 1;
    std::uint32_t at = start;
    for (; at != k_none && m_seen_in[at] == 0; at = next(at)) m_seen_in[at] = own;
    if (at == k_none || m_seen_in[at] != own) return circle;
    std::uint32_t const first = at;
    do circle.push_back(m_nodes[at]);
    while ((at = next(at)) != first);
    return circle;
}

std::pmr::vector<std::pmr::vector<wait_graph::node>> wait_graph::circles(std::size_t most) {
    std::pmr::vector<std::pmr::vector<node>> found(&m_memory);
    std::sort(m_by_id.begin(), m_by_id.end());
    std::sort(m_by_stack.begin(), m_by_stack.end());
    std::sort(m_by_word.begin(), m_by_word.end());
    m_seen_in.assign(m_nodes.size(), 0);
    for (std::uint32_t from = 0; from < m_nodes.size() && found.size() < most; ++from) {
        auto circle = walk(from);
        if (!circle.empty()) found.push_back(std::move(circle));
    }
    return found;
}

} // namespace tulle::diag
