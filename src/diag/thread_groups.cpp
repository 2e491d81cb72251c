// SPDX-License-Identifier: Apache-2.0
#include "diag/thread_groups.hpp"

#include "base/rng.hpp"
#include "os/mapped_range.hpp"
#include "sync/inspect.hpp"

#include <algorithm>
#include <new>

namespace tulle::diag {

namespace {

// The stack of a guest, or of the thread that was adopted, is the system's: what may be read is the
// mapping around it.
stack_range range_of(sched::thread_view const& seen) noexcept {
    if (seen.stack)
        return {reinterpret_cast<std::uintptr_t>(seen.stack.low),
                reinterpret_cast<std::uintptr_t>(seen.stack.end())};
    auto const mapped = os::mapping_around(seen.from.value[arch::k_stack_pointer]);
    return {mapped.low, mapped.high};
}

stack_trace trace_of(sched::thread_view const& seen) noexcept {
    stack_trace trace;
    if (arch::k_can_unwind && seen.from.pc != 0) unwind(seen.from, range_of(seen), trace);
    return trace;
}

// Why it is there: by spawn, by a fork with this function, or by the system.
std::uintptr_t origin(sched::thread_view const& seen) noexcept {
    if (seen.site != nullptr || seen.stolen == nullptr)
        return reinterpret_cast<std::uintptr_t>(seen.site);
    return reinterpret_cast<std::uintptr_t>(seen.stolen->run);
}

std::uint64_t hash_of(sched::thread_view const& seen, stack_trace const& trace) noexcept {
    std::uint64_t hash = base::mix(static_cast<std::uint64_t>(seen.waits.kind), origin(seen));
    for (std::size_t k = 0; k < trace.count; ++k) hash = base::mix(hash, trace.pcs[k]);
    return hash;
}

bool are_alike(thread_group const& group, sched::thread_view const& seen,
               stack_trace const& trace) noexcept {
    return group.first.waits.kind == seen.waits.kind && group.first.worker == seen.worker &&
           origin(group.first) == origin(seen) &&
           std::equal(group.pcs.begin(), group.pcs.end(), trace.pcs.begin(),
                      trace.pcs.begin() + static_cast<std::ptrdiff_t>(trace.count));
}

void keep_smallest(thread_group& group, thread_id id) noexcept {
    std::size_t const used = std::min(group.count, thread_group::k_most_ids);
    auto const end = group.ids.begin() + static_cast<std::ptrdiff_t>(used);
    auto const at = std::upper_bound(group.ids.begin(), end, id);
    if (at == group.ids.end()) return;
    std::move_backward(at, used < thread_group::k_most_ids ? end : end - 1,
                       used < thread_group::k_most_ids ? end + 1 : end);
    *at = id;
}

} // namespace

thread_group& thread_groups::group_of(sched::thread_view const& seen, stack_trace const& trace) {
    std::uint64_t const hash = hash_of(seen, trace);
    for (auto [at, end] = m_index.equal_range(hash); at != end; ++at) {
        if (are_alike(m_groups[at->second], seen, trace)) return m_groups[at->second];
    }
    thread_group& made = m_groups.emplace_back(&m_memory);
    made.first = seen;
    made.pcs.assign(trace.pcs.begin(),
                    trace.pcs.begin() + static_cast<std::ptrdiff_t>(trace.count));
    made.cut = trace.cut;
    // last: what fails before leaves a group without threads, which collect() drops
    m_index.emplace(hash, m_groups.size() - 1);
    return made;
}

void thread_groups::add(sched::thread_view const& seen) {
    thread_group& group = group_of(seen, trace_of(seen));
    keep_smallest(group, seen.id);
    group.same_object = group.same_object && group.first.waits.object == seen.waits.object;
    ++group.count;
    // The thread itself, and those that it runs for their joiners.
    std::size_t const running = std::max(seen.nested, std::size_t{1});
    m_count += running;
    if (seen.worker >= 0) m_running += running;
    sync::wait_facts const facts = sync::inspect(seen.waits);
    m_graph.add(seen, {seen.id, seen.waits, facts.holder, facts.stolen_word});
}

bool thread_groups::collect(sched::scheduler& scheduler, circle_finder const* members) noexcept {
    struct choice {
        thread_groups& groups;
        circle_finder const* members;
        bool is_complete;
    } chosen{*this, members, true};
    auto const add_chosen = [](void* argument, sched::thread_view const& seen) noexcept {
        auto& c = *static_cast<choice*>(argument);
        try {
            if (c.members == nullptr || c.members->is_member(seen)) c.groups.add(seen);
        } catch (std::bad_alloc const&) { // out of stacks is mostly out of memory
            c.is_complete = false;
        }
    };
    sched::census(scheduler).visit(add_chosen, &chosen);
    std::erase_if(m_groups, [](thread_group const& g) { return g.count == 0; });
    std::sort(m_groups.begin(), m_groups.end(),
              [](auto const& a, auto const& b) { return a.ids[0] < b.ids[0]; });
    return chosen.is_complete;
}

} // namespace tulle::diag
