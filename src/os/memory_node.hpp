// SPDX-License-Identifier: Apache-2.0
// NUMA nodes: of a page of memory, and how far they are from each other.
#pragma once

namespace tulle::os {

// The node that the page of an address lies on; a page that nobody has touched is given one first.
// -1: unknown.
[[nodiscard]] int node_of_page(void const* address) noexcept;

// The distance that the firmware tells, 10 for a node and itself, more for others; `nodes`: the
// system's folder. Without such a table it is 10 or 20.
[[nodiscard]] int node_distance(int from, int to, char const* nodes = "/sys/devices/system/node");

} // namespace tulle::os
