// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber has no calls for sockets, but lets a program say how an OS thread waits that has no
// fiber to run: here in an epoll, whose events make fibers ready. Each worker has its own, and its
// own connections, as nothing may be stolen from a scheduler that waits for descriptors.
#include "../common/libraries/boost_fiber.hpp"
#include "../common/echo_server.hpp"
#include "echo.hpp"
#include "loops.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include <boost/fiber/algo/round_robin.hpp>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tulle::bench {

namespace {

using boost::fibers::context;

// The scheduler of one OS thread. It calls suspend_until() when all its fibers wait.
class waits_in_epoll : public boost::fibers::algo::round_robin {
public:
    waits_in_epoll()
        : m_epoll(::epoll_create1(EPOLL_CLOEXEC)), m_notified(::eventfd(0, EFD_CLOEXEC)) {
        watch(m_notified, nullptr);
        s_here = this;
    }
    ~waits_in_epoll() override {
        ::close(m_notified);
        ::close(m_epoll);
    }
    waits_in_epoll(waits_in_epoll const&) = delete;
    waits_in_epoll& operator=(waits_in_epoll const&) = delete;

    static waits_in_epoll& here() noexcept { return *s_here; }

    // The fiber is made ready whenever all fibers wait and there is something to read.
    bool watch(int file, context* fiber) const noexcept {
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        wanted.data.ptr = fiber;
        return ::epoll_ctl(m_epoll, EPOLL_CTL_ADD, file, &wanted) == 0;
    }

    void suspend_until(std::chrono::steady_clock::time_point const& limit) noexcept override {
        std::array<epoll_event, 256> found{};
        int const count = ::epoll_wait(m_epoll, found.data(), found.size(), milliseconds_to(limit));
        for (int k = 0; k < count; ++k) {
            auto* const fiber = static_cast<context*>(found[static_cast<std::size_t>(k)].data.ptr);
            std::uint64_t notifications = 0;
            if (fiber != nullptr)
                awakened(fiber);
            else if (::read(m_notified, &notifications, sizeof notifications) < 0)
                return;
        }
    }
    // From other OS threads.
    void notify() noexcept override {
        std::uint64_t const one = 1;
        if (::write(m_notified, &one, sizeof one) < 0) return; // it has been told often enough
    }

private:
    static int milliseconds_to(std::chrono::steady_clock::time_point const& limit) noexcept {
        if (limit == std::chrono::steady_clock::time_point::max()) return -1;
        auto const left =
            std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
    }

    static thread_local waits_in_epoll* s_here;
    int m_epoll;
    int m_notified;
};

thread_local waits_in_epoll* waits_in_epoll::s_here = nullptr;

// As in the loop over an epoll nothing is read in vain. What is written is so short that it fits.
struct fiber_calls {
    static ssize_t read(int file, void* to, std::size_t size) {
        context::active()->suspend();
        return ::read(file, to, size);
    }
    static ssize_t write(int file, void const* from, std::size_t size) {
        return ::write(file, from, size);
    }
    static void close(int file) { ::close(file); }
};

class loop_of_fibers {
public:
    bool add(int socket) {
        m_sockets.push_back(socket);
        return true;
    }
    void run() {
        boost::fibers::use_scheduling_algorithm<waits_in_epoll>();
        boost_fiber_runtime::group fibers;
        for (int const socket : m_sockets) {
            fibers.spawn([socket] {
                if (waits_in_epoll::here().watch(socket, context::active()))
                    serve_connection<fiber_calls>(socket);
            });
        }
        fibers.wait();
    }

private:
    std::vector<int> m_sockets;
};

} // namespace

benchmark const registered("echo", "boost_fiber", [](int argc, char** argv) {
    return echo_main_by("boost_fiber", argc, argv, [](settings const& s) {
        return [&s](echo_clients const& clients, int connections, auto while_held) {
            return serve_by_loops<loop_of_fibers>(s.workers, clients, connections, while_held);
        };
    });
});

} // namespace tulle::bench
