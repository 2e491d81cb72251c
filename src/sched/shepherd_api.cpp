// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/shepherd.hpp>.
#include "base/error.hpp"
#include "os/memory_node.hpp"
#include "os/topology.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/worker_decisions.hpp>
#include <tulle/shepherd.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <tuple>

namespace tulle::sched {

namespace {

shepherd const& shepherd_at(int index, char const* call) {
    auto const& all = running_scheduler().shepherds();
    base::check_error(index < 0 || static_cast<std::size_t>(index) >= all.size() ? EINVAL : 0,
                      call);
    return *all[static_cast<std::size_t>(index)];
}

os::locality locality_of(shepherd const& s) {
    return s.first_cpu < 0 ? os::locality{} : os::locality_of_cpu(s.first_cpu);
}

int distance(shepherd const& one, shepherd const& other) {
    return &one == &other ? 0 : os::node_distance(locality_of(one).node, locality_of(other).node);
}

// The post action of a fiber that is to go on on another shepherd.
void post_to_its_shepherd(void* pending, void*) noexcept {
    auto& f = *static_cast<fiber*>(pending);
    scheduler::instance().inject(f, f.shepherd);
}

} // namespace

} // namespace tulle::sched

namespace tulle {

using namespace tulle::sched;

int shepherd_distance(int from, int to) {
    constexpr char const* k_call = "tulle::shepherd_distance";
    return sched::distance(shepherd_at(from, k_call), shepherd_at(to, k_call));
}

std::vector<int> nearest_shepherds(int from) {
    shepherd const& here = shepherd_at(from, "tulle::nearest_shepherds");
    auto const count = static_cast<int>(running_scheduler().shepherds().size());
    std::vector<std::tuple<int, bool, int>> order; // distance, other cache, how many further
    for (int further = 1; further < count; ++further) {
        shepherd const& there = shepherd_at((from + further) % count, "");
        order.emplace_back(sched::distance(here, there),
                           !(sched::locality_of(here) == sched::locality_of(there)), further);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> nearest;
    for (auto const& [far, other, further] : order) nearest.push_back((from + further) % count);
    return nearest;
}

int node_of_shepherd(int index) {
    int const node = sched::locality_of(shepherd_at(index, "tulle::node_of_shepherd")).node;
    return node < 0 ? -1 : node;
}

int shepherd_of(void const* address) {
    auto const& all = running_scheduler().shepherds();
    int const node = os::node_of_page(address);
    std::vector<int> there;
    for (auto const& s : all) {
        if (node >= 0 && sched::locality_of(*s).node == node) there.push_back(s->index);
    }
    if (there.empty()) return -1;
    if (std::find(there.begin(), there.end(), this_thread::shepherd_index()) != there.end())
        return this_thread::shepherd_index();
    // Pages lie on them in turn.
    return there[(reinterpret_cast<std::uintptr_t>(address) >> 12U) % there.size()];
}

void disable_worker(int index) {
    base::check_error(running_scheduler().active().enable_worker(index, false),
                      "tulle::disable_worker");
}
void enable_worker(int index) {
    base::check_error(running_scheduler().active().enable_worker(index, true),
                      "tulle::enable_worker");
}
void disable_shepherd(int index) {
    base::check_error(running_scheduler().active().enable_shepherd(index, false),
                      "tulle::disable_shepherd");
}
void enable_shepherd(int index) {
    base::check_error(running_scheduler().active().enable_shepherd(index, true),
                      "tulle::enable_shepherd");
}
bool is_enabled_shepherd(int index) {
    // relaxed: a snapshot.
    return shepherd_at(index, "tulle::is_enabled_shepherd")
               .active.load(std::memory_order_relaxed) != 0;
}

std::int64_t detail::decisions_of_worker(int index) noexcept {
    auto const& all = sched::scheduler::instance().workers();
    if (index < 0 || static_cast<std::size_t>(index) >= all.size()) return -1;
    worker_remote const& w = *all[static_cast<std::size_t>(index)];
    // relaxed: a sample.
    return w.rest.is_set() ? -1 : std::int64_t{w.decisions.value()};
}

detail::shepherd_visit::shepherd_visit(int shepherd)
    : m_before(this_fiber().shepherd),
      m_has_begun(this_fiber().kind_of_stack == fiber_kind::pooled) {
    static_cast<void>(shepherd_at(shepherd, "tulle::on_shepherd"));
    if (m_has_begun) this_thread::migrate_to(shepherd);
}
detail::shepherd_visit::~shepherd_visit() {
    if (m_has_begun) this_thread::migrate_to(m_before);
}

void this_thread::migrate_to(int shepherd) {
    constexpr char const* k_call = "tulle::this_thread::migrate_to";
    if (shepherd != -1) static_cast<void>(shepherd_at(shepherd, k_call));
    fiber& self = this_fiber();
    base::check_error(self.kind_of_stack != fiber_kind::pooled ? EPERM : 0, k_call);
    self.shepherd = static_cast<std::int16_t>(shepherd);
    if (shepherd != -1 && shepherd != shepherd_index())
        suspend(&post_to_its_shepherd, &self, nullptr);
}

} // namespace tulle
