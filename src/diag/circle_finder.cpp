// SPDX-License-Identifier: Apache-2.0
#include "diag/circle_finder.hpp"

#include "base/rng.hpp"
#include "sync/inspect.hpp"

#include <algorithm>
#include <new>

namespace tulle::diag {

namespace {

// A program in which more threads wait for holders is not searched.
constexpr std::size_t k_most_waiting = 4096;
constexpr std::size_t k_most_circles = 8;

bool may_have_holder(wait::wait_reason waits) noexcept {
    return waits.kind == wait::wait_kind::stolen_child || sync::may_have_holder(waits.kind);
}

wait_graph::node node_of(sched::thread_view const& seen) noexcept {
    wait_graph::node n{seen.id, seen.waits, {}, nullptr};
    if (seen.waits.kind == wait::wait_kind::stolen_child)
        n.stolen_word = seen.waits.object;
    else
        n.holder = sync::find_holder(seen.waits);
    return n;
}

// The signature is the same wherever the walk has begun.
std::uint64_t signature_of(std::pmr::vector<wait_graph::node> const& circle) noexcept {
    std::uint64_t sum = 0;
    for (wait_graph::node const& n : circle)
        sum += base::mix(base::mix(0, n.id), reinterpret_cast<std::uintptr_t>(n.waits.object));
    return sum;
}

} // namespace

// Takes no memory: the pool is locked.
void circle_finder::add(void* self, sched::thread_view const& seen) noexcept {
    auto& finder = *static_cast<circle_finder*>(self);
    if (!may_have_holder(seen.waits)) return;
    if (finder.m_waiting.size() == finder.m_waiting.capacity())
        finder.m_has_more = true;
    else
        finder.m_waiting.push_back(seen);
}

sched::circle_search circle_finder::search(sched::scheduler& searched) noexcept try {
    m_waiting.reserve(std::max(m_waiting.capacity(), std::size_t{64}));
    do {
        if (m_has_more) m_waiting.reserve(4 * m_waiting.capacity());
        m_waiting.clear();
        m_has_more = false;
        sched::census(searched).visit(&add, this, sched::census::depth::waits);
    } while (m_has_more && m_waiting.capacity() < k_most_waiting);
    if (m_has_more || m_waiting.size() < 2) m_waiting.clear();
    wait_graph graph(*std::pmr::new_delete_resource());
    for (sched::thread_view const& seen : m_waiting) graph.add(seen, node_of(seen));
    return judge(graph.circles(k_most_circles));
} catch (std::bad_alloc const&) {
    return sched::circle_search::none;
}

circle_finder::sighting& circle_finder::find(std::uint64_t signature) {
    auto const at = std::find_if(m_seen.begin(), m_seen.end(), [signature](sighting const& s) {
        return s.signature == signature;
    });
    return at != m_seen.end() ? *at : m_seen.emplace_back(sighting{signature});
}

sched::circle_search circle_finder::judge(std::pmr::vector<circle> const& circles) {
    auto result = sched::circle_search::none;
    m_members.clear();
    for (circle const& c : circles) {
        sighting& seen = find(signature_of(c));
        seen.is_now = true;
        if (++seen.times < k_sightings && result == sched::circle_search::none)
            result = sched::circle_search::doubtful;
        if (seen.times != k_sightings) continue;
        result = sched::circle_search::found;
        m_members.insert(m_members.end(), c.begin(), c.end());
    }
    std::erase_if(m_seen, [](sighting const& s) { return !s.is_now; });
    for (sighting& s : m_seen) s.is_now = false;
    return result;
}

bool circle_finder::is_member(sched::thread_view const& seen) const noexcept {
    return std::any_of(m_members.begin(), m_members.end(), [&seen](wait_graph::node const& n) {
        return n.id == seen.id && n.waits.kind == seen.waits.kind &&
               n.waits.object == seen.waits.object;
    });
}

} // namespace tulle::diag
