// SPDX-License-Identifier: Apache-2.0
// On which node a thread is to start.
#pragma once

namespace tulle::tnt {

// The node that the policy of the caller's node chooses; it is told of the thread's end if the
// policy counts threads.
struct chosen_node {
    int node;
    bool is_counted; // in the table at node 0
};
[[nodiscard]] chosen_node choose_node();
// Before a node may have to tell an end. std::bad_alloc.
void expect_ends();
// Of a thread that is counted. If node 0 cannot be told, it is with the next one.
void tell_end(int node) noexcept;

} // namespace tulle::tnt
