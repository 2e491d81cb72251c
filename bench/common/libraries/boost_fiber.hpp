// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber, as the workloads see it (names: serial.hpp): launch::post, stacks of 16 KiB; round
// robin on one worker, work stealing on several.
#pragma once

#include "fork_join.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>

namespace tulle::bench {

class boost_fiber_runtime : public fork_join<boost_fiber_runtime> {
public:
    static constexpr char const* k_name = "boost_fiber";
    static constexpr std::size_t k_stack_size = 16 * 1024;

    explicit boost_fiber_runtime(int workers) {
        auto const count = static_cast<std::uint32_t>(workers);
        for (std::uint32_t i = 1; i < count; ++i)
            m_threads.emplace_back([this, count] { work(count); });
        if (count > 1)
            boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(count,
                                                                                        true);
    }

    ~boost_fiber_runtime() {
        {
            std::lock_guard const hold(m_mutex);
            m_done = true;
        }
        m_stopped.notify_all();
        for (std::thread& thread : m_threads) thread.join();
    }
    boost_fiber_runtime(boost_fiber_runtime const&) = delete;
    boost_fiber_runtime& operator=(boost_fiber_runtime const&) = delete;

    template <class F> void run(F&& f) {
        start([&f] { f(); }).join();
    }

    template <class F, class G> static auto both(F f, G g) {
        decltype(f()) a{};
        boost::fibers::fiber child = start([&a, f] { a = f(); });
        auto b = g();
        child.join();
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        boost::fibers::fiber child = start(f);
        g();
        child.join();
    }

    class group {
    public:
        template <class F> void spawn(F f) { m_fibers.push_back(start(f)); }
        void wait() {
            for (boost::fibers::fiber& fiber : m_fibers) fiber.join();
            m_fibers.clear();
        }

    private:
        std::vector<boost::fibers::fiber> m_fibers;
    };

    template <class F> static void detach(F f) { start(f).detach(); }

    static void yield() { boost::this_fiber::yield(); }

    using mutex = boost::fibers::mutex;

    class event {
    public:
        void wait() {
            std::unique_lock hold(m_mutex);
            m_changed.wait(hold, [this] { return m_set; });
        }
        void set() {
            {
                std::lock_guard const hold(m_mutex);
                m_set = true;
            }
            m_changed.notify_all();
        }

    private:
        boost::fibers::mutex m_mutex;
        boost::fibers::condition_variable m_changed;
        bool m_set = false;
    };

private:
    template <class F> static boost::fibers::fiber start(F f) {
        return {boost::fibers::launch::post, std::allocator_arg,
                boost::fibers::fixedsize_stack(k_stack_size), f};
    }

    void work(std::uint32_t count) {
        boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(count, true);
        std::unique_lock hold(m_mutex);
        m_stopped.wait(hold, [this] { return m_done; });
    }

    boost::fibers::mutex m_mutex;
    boost::fibers::condition_variable m_stopped;
    bool m_done = false;
    std::vector<std::thread> m_threads;
};

} // namespace tulle::bench
