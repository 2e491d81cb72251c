// SPDX-License-Identifier: Apache-2.0
// Which processors each place of this host runs on. If there is one for each worker, each place has
// its own: the kernel would keep places that wake each other on the same processor, which costs
// each message a switch between processes. Otherwise all places run on all. Those that have memory
// only need none, and always run on all.
#pragma once

#include <vector>

namespace tulle::tool {

class processor_shares {
public:
    // Of those that this process may use. Puts the number of workers of a place into the
    // environment, if it does not say how many.
    processor_shares(unsigned places, bool may_bind);

    // All places together.
    [[nodiscard]] unsigned count() const noexcept {
        return static_cast<unsigned>(m_allowed.size());
    }
    // The process that is to be a place calls this. One that is started later has no share, and
    // runs on all. A refusal does no harm.
    void take(unsigned place) const noexcept;

private:
    unsigned m_places; // that run threads
    bool m_binds = false;
    std::vector<int> m_allowed;
};

} // namespace tulle::tool
