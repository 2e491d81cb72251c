// SPDX-License-Identifier: Apache-2.0
// A function that is called when a place dies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tulle::teams {

// Calls `told` with each place that dies from now on, in a thread of the place that has made
// this object, one at a time, until the object is gone. `told` must neither throw nor end its own
// watch.
class death_watch {
public:
    explicit death_watch(std::function<void(int)> told); // std::bad_alloc
    death_watch(death_watch const&) = delete;
    death_watch& operator=(death_watch const&) = delete;
    ~death_watch();

private:
    std::shared_ptr<void> m_registry;
    std::uint64_t m_number;
};

} // namespace tulle::teams
