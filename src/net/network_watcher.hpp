// SPDX-License-Identifier: Apache-2.0
// Wakes a sleeper when something comes from the network, where the network has descriptors that
// tell: an OS thread of its own sleeps in poll(2) on them.
// The descriptors may tell too much, as when connections are made; nothing, as some networks write
// to memory only; or may stay ready for ever. So a sleeper polls now and then all the same, and a
// watcher that has woken it in vain very often gives up.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace tulle::net {

class network_watcher {
public:
    // `wake`: by the watcher's thread, any number of times.
    network_watcher(std::vector<int> descriptors, std::function<void()> wake)
        : m_descriptors(std::move(descriptors)), m_wake(std::move(wake)) {}
    network_watcher(network_watcher const&) = delete;
    network_watcher& operator=(network_watcher const&) = delete;
    ~network_watcher() { stop(); }

    // An OS thread calls this that goes to sleep, one at a time: the next thing that comes wakes
    // it. It starts the watching thread at first; without one it does nothing.
    void watch() noexcept;
    // Like watch(), for a thread that sleeps already. Any OS thread may call it; it starts no
    // thread.
    void watch_on() noexcept;
    // A message has come.
    // relaxed: a count for its own sake
    void tell_message() noexcept { m_in_vain.store(0, std::memory_order_relaxed); }
    // The thread ends. Not while another OS thread is in watch().
    void stop() noexcept;

private:
    static constexpr std::uint32_t k_most_in_vain = 2000;

    [[nodiscard]] bool start() noexcept;
    void run() noexcept;
    void wait_until_wanted() noexcept;

    std::vector<int> m_descriptors; // empty: it does nothing
    std::function<void()> m_wake;
    int m_end = -1;                         // a descriptor that ends the thread's poll
    std::atomic<std::uint32_t> m_wanted{0}; // 1: somebody sleeps
    // Times that it has woken somebody since the last message.
    std::atomic<std::uint32_t> m_in_vain{0};
    std::atomic<bool> m_runs{false};
    std::atomic<bool> m_stops{false};
    std::thread m_thread;
};

} // namespace tulle::net
