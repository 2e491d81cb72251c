// SPDX-License-Identifier: Apache-2.0
// The threads of a node that are in a barrier, which arrive there together: one of them, the
// leader, calls the manager and stays there until some of the node are let go, and wakes these.
// Those that come meanwhile are added by one call at a time for all that have come since the last.
// Before it calls either lets others of the node come, if more of them were in the last round. So a
// round takes a message for each node and direction, however many threads it has there.
#pragma once

#include "compat/tnt/registry.hpp"

namespace tulle::tnt {

// By a thread of this node. EINVAL, EIO: the barrier or its manager is gone; std::bad_alloc.
[[nodiscard]] int pass_barrier(number name);

} // namespace tulle::tnt
