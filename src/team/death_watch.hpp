// SPDX-License-Identifier: Apache-2.0
// Who has to do something when a place dies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tulle::teams {

// Calls `told` with each place that dies from now on, in a thread of the place of whoever has made
// this, one at a time, until this is gone. What is called must neither throw nor end its own watch.
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
