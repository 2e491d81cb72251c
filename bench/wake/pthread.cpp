// SPDX-License-Identifier: Apache-2.0
// A thread that waits at a condition variable, as programs do it by hand.
#include "wake.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace {

class pthread_poster {
public:
    static constexpr char const* k_name = "pthread";

    explicit pthread_poster(int) : m_server([this] { serve(); }) {}
    ~pthread_poster() {
        post([this] { m_stop = true; });
        m_server.join();
    }
    pthread_poster(pthread_poster const&) = delete;
    pthread_poster& operator=(pthread_poster const&) = delete;

    template <class F> void post(F f) {
        {
            std::lock_guard const hold(m_mutex);
            m_work = f;
        }
        m_posted.notify_one();
    }

private:
    void serve() {
        while (!m_stop) {
            std::unique_lock hold(m_mutex);
            m_posted.wait(hold, [this] { return static_cast<bool>(m_work); });
            auto const work = std::exchange(m_work, nullptr);
            hold.unlock();
            work();
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_posted;
    std::function<void()> m_work;
    bool m_stop = false;
    std::thread m_server;
};

} // namespace

tulle::bench::benchmark const registered("wake", "pthread", [](int argc, char** argv) {
    return tulle::bench::wake_main<pthread_poster>(argc, argv);
});
