// SPDX-License-Identifier: Apache-2.0
// A thread whose one fiber takes functions from a channel; another thread puts them in.
#include "wake.hpp"

#include <functional>

#include <boost/fiber/all.hpp>

namespace {

class fiber_poster {
public:
    static constexpr char const* k_name = "boost_fiber";

    explicit fiber_poster(int) : m_server([this] { serve(); }) {}
    ~fiber_poster() {
        m_work.close();
        m_server.join();
    }
    fiber_poster(fiber_poster const&) = delete;
    fiber_poster& operator=(fiber_poster const&) = delete;

    template <class F> void post(F f) { m_work.push(f); }

private:
    void serve() {
        boost::fibers::fiber([this] {
            for (std::function<void()> work;
                 m_work.pop(work) == boost::fibers::channel_op_status::success;)
                work();
        }).join();
    }

    boost::fibers::buffered_channel<std::function<void()>> m_work{64};
    std::thread m_server;
};

} // namespace

tulle::bench::benchmark const registered("wake", "boost_fiber", [](int argc, char** argv) {
    return tulle::bench::wake_main<fiber_poster>(argc, argv);
});
