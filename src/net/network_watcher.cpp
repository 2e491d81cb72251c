// SPDX-License-Identifier: Apache-2.0
#include "net/network_watcher.hpp"

#include "os/futex.hpp"
#include "os/thread.hpp"

#include <new>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tulle::net {

void network_watcher::watch() noexcept {
    if (!m_descriptors.empty() && (m_thread.joinable() || start())) watch_on();
}

void network_watcher::watch_on() noexcept {
    // relaxed: a sleeper polls now and then, which makes up for a watch that is missed
    if (!m_runs.load(std::memory_order_relaxed)) return;
    if (m_wanted.load(std::memory_order_relaxed) != 0) return; // relaxed: as above
    // Pairs with wait_until_wanted.
    if (m_wanted.exchange(1, std::memory_order_release) == 0) os::futex_wake(m_wanted, 1);
}

bool network_watcher::start() noexcept try {
    m_end = eventfd(0, EFD_CLOEXEC);
    if (m_end >= 0) {
        os::signals_blocked const handlers_are_for_other_threads;
        m_thread = std::thread([this] { run(); });
    }
    if (!m_thread.joinable()) m_descriptors.clear();
    m_runs.store(m_thread.joinable(), std::memory_order_relaxed); // relaxed: as in watch_on
    return m_thread.joinable();
} catch (std::system_error const&) {
    m_descriptors.clear();
    return false;
}

void network_watcher::stop() noexcept {
    if (m_thread.joinable()) {
        // relaxed: published by the next line
        m_stops.store(true, std::memory_order_relaxed);
        // Pairs with wait_until_wanted.
        if (m_wanted.exchange(1, std::memory_order_release) == 0) os::futex_wake(m_wanted, 1);
        static_cast<void>(eventfd_write(m_end, 1));
        m_thread.join();
    }
    if (m_end >= 0) close(m_end);
    m_end = -1;
    m_descriptors.clear();
}

void network_watcher::wait_until_wanted() noexcept {
    while (m_wanted.load(std::memory_order_acquire) == 0) // pairs with watch and stop
        static_cast<void>(os::futex_wait(m_wanted, 0));
}

void network_watcher::run() noexcept try {
    os::set_name("tulle-network");
    std::vector<pollfd> wanted{{m_end, POLLIN, 0}};
    for (int const d : m_descriptors) wanted.push_back({d, POLLIN, 0});
    for (;;) {
        wait_until_wanted();
        int const ready = poll(wanted.data(), wanted.size(), -1);
        // relaxed: published by m_wanted, or by what ends the poll
        if (m_stops.load(std::memory_order_relaxed)) return;
        if (ready <= 0) continue;
        // relaxed: a count for its own sake
        if (m_in_vain.fetch_add(1, std::memory_order_relaxed) >= k_most_in_vain) return;
        // relaxed: a thread that wants it again does so after it has been woken
        m_wanted.store(0, std::memory_order_relaxed);
        m_wake();
    }
} catch (std::bad_alloc const&) {
    return; // as without a watcher
}

} // namespace tulle::net
