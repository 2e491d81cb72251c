// SPDX-License-Identifier: Apache-2.0
#include "os/locality.hpp"

#include <cstddef>
#include <memory>
#include <utility>

#include <hwloc.h>

namespace tulle::os {
namespace {

struct topology_deleter {
    void operator()(hwloc_topology* machine) const noexcept { hwloc_topology_destroy(machine); }
};
using machine_handle = std::unique_ptr<hwloc_topology, topology_deleter>;

machine_handle load_machine() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) {
        return nullptr;
    }
    machine_handle machine(raw);
    return hwloc_topology_load(raw) == 0 ? std::move(machine) : nullptr;
}

int cache_of(hwloc_obj_t unit) {
    for (hwloc_obj_t above = unit->parent; above != nullptr; above = above->parent) {
        if (above->type == HWLOC_OBJ_L3CACHE) {
            return static_cast<int>(above->logical_index);
        }
    }
    return -1;
}

locality locality_of(hwloc_obj_t unit) {
    int const node = unit->nodeset == nullptr ? -1 : hwloc_bitmap_first(unit->nodeset);
    return {node, cache_of(unit)};
}

} // namespace

std::vector<locality> hwloc_localities() {
    machine_handle const machine = load_machine();
    int const last = machine == nullptr ? -1 : hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(machine.get()));
    std::vector<locality> found(static_cast<std::size_t>(last + 1), k_unknown_locality);
    for (int cpu = 0; cpu <= last; ++cpu) {
        hwloc_obj_t const unit = hwloc_get_pu_obj_by_os_index(machine.get(), static_cast<unsigned>(cpu));
        if (unit != nullptr) {
            found[static_cast<std::size_t>(cpu)] = locality_of(unit);
        }
    }
    return found;
}

} // namespace tulle::os
