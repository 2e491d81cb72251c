// SPDX-License-Identifier: Apache-2.0
// POSIX threads have no channels: a ring, a mutex and two condition variables. Without a buffer,
// the sender waits until its number is taken.
#include "../common/libraries/pthread.hpp"
#include "channel.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace {

template <std::size_t Room> class numbers {
public:
    void put(long k) {
        std::unique_lock held(m_lock);
        m_changed_by_taker.wait(held, [this] { return m_items.size() < (Room == 0 ? 1 : Room); });
        m_items.push_back(k);
        m_changed_by_sender.notify_one();
        if constexpr (Room == 0) m_changed_by_taker.wait(held, [this] { return m_items.empty(); });
    }
    long take() {
        std::unique_lock held(m_lock);
        m_changed_by_sender.wait(held, [this] { return !m_items.empty(); });
        long const k = m_items.front();
        m_items.pop_front();
        m_changed_by_taker.notify_one();
        return k;
    }

private:
    std::mutex m_lock;
    std::condition_variable m_changed_by_sender, m_changed_by_taker;
    std::deque<long> m_items;
};

struct channels {
    using buffered = numbers<tulle::bench::k_room>;
    using meeting = numbers<0>;
};

} // namespace

tulle::bench::benchmark const registered("channel", "pthread", [](int argc, char** argv) {
    return tulle::bench::channel_main<tulle::bench::pthread_runtime, channels>(argc, argv);
});
