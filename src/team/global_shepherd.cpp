// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/global_shepherd.hpp>. Each place is asked for what it knows of
// itself.
#include "messenger/calls.hpp"
#include "os/memory_node.hpp"
#include "os/topology.hpp"

#include <tulle/global_shepherd.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include <sched.h>

namespace tulle {

namespace {

std::vector<int> nodes_here() {
    std::vector<int> nodes;
    for (int s = 0; s < shepherd_count(); ++s) nodes.push_back(node_of_shepherd(s));
    return nodes;
}
std::vector<int> nodes_at(place p) {
    return at(p, [] { return nodes_here(); });
}

// Between shepherds of the caller's place and of another one.
int distance_to_place(int node, int other_place, int other_node) {
    messenger::endpoint* const e = messenger::endpoint_of_caller();
    if (!e->transport().reaches(static_cast<net::rank>(other_place)))
        return os::node_distance(node, node) + k_distance_of_hosts;
    return os::node_distance(node, other_node) + k_distance_of_places;
}

// `from` is of the caller's place.
int distance_from_here(int from, global_shepherd to) {
    if (to.place == detail::here_index()) return shepherd_distance(from, to.shepherd);
    int const other = at(
        place(to.place), [](int s) { return node_of_shepherd(s); }, to.shepherd);
    return distance_to_place(node_of_shepherd(from), to.place, other);
}

std::vector<global_shepherd> nearest_from_here(int from) {
    std::vector<global_shepherd> nearest;
    int const here = detail::here_index();
    for (int const s : nearest_shepherds(from)) nearest.push_back({here, s});
    std::vector<std::tuple<int, int, int>> order; // distance, how many places further, shepherd
    for (int further = 1; further < place_count(); ++further) {
        place const there((here + further) % place_count());
        std::vector<int> const nodes = nodes_at(there);
        for (std::size_t s = 0; s < nodes.size(); ++s)
            order.emplace_back(distance_to_place(node_of_shepherd(from), there.index(), nodes[s]),
                               further, static_cast<int>(s));
    }
    std::sort(order.begin(), order.end());
    for (auto const& [far, further, s] : order)
        nearest.push_back({(here + further) % place_count(), s});
    return nearest;
}

} // namespace

std::vector<global_shepherd> global_shepherds() {
    std::vector<global_shepherd> all;
    for (place const p : places()) {
        int const count = at(p, [] { return shepherd_count(); });
        for (int s = 0; s < count; ++s) all.push_back({p.index(), s});
    }
    return all;
}

int shepherd_distance(global_shepherd from, global_shepherd to) {
    place const checked(to.place);
    return at(
        place(from.place),
        [](int s, global_shepherd other) { return distance_from_here(s, other); }, from.shepherd,
        global_shepherd{checked.index(), to.shepherd});
}

std::vector<global_shepherd> nearest_shepherds(global_shepherd from) {
    return at(
        place(from.place), [](int s) { return nearest_from_here(s); }, from.shepherd);
}

thread_location this_thread::get_location() {
    int const cpu = ::sched_getcpu();
    return {detail::here_index(), shepherd_index(), worker_index(), cpu,
            cpu < 0 ? -1 : os::locality_of_cpu(cpu).node};
}

} // namespace tulle
