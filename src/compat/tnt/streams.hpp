// SPDX-License-Identifier: Apache-2.0
// Streams of nodes for which node 0 reads.
#pragma once

namespace tulle::tnt {

// Whether the option `io` asks for that: the nodes join before main then. Not where they share
// variables, as `stdin` is one.
[[nodiscard]] bool is_input_of_home() noexcept;
// `stdin` and std::cin of this node are read at node 0 from now on, a line at a time for whoever
// asks.
void take_input_of_home();

} // namespace tulle::tnt
