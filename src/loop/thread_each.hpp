// SPDX-License-Identifier: Apache-2.0
// The loop whose iterations are threads of their own: spawned by a loop over the workers, and
// waited for.
#pragma once

#include <tulle/detail/loop_engine.hpp>
#include <tulle/mutex.hpp>
#include <tulle/signal.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace tulle::loop {

class thread_each {
public:
    thread_each(detail::loop_body const& body, void* context, std::uint64_t count,
                loop_stop until) noexcept
        : m_body(body), m_context(context), m_count(count), m_until(until) {}
    // Does what detail::run_loop does. Errors besides: std::system_error, what spawn says, when the
    // threads that were spawned have ended.
    bool run();

private:
    void spawn_all(std::uint64_t begin, std::uint64_t end) noexcept;
    void run_one(std::uint64_t i) noexcept;
    [[nodiscard]] bool is_stopped();
    void keep_exception() noexcept;

    detail::loop_body m_body;
    void* m_context;
    std::uint64_t m_count;
    loop_stop m_until;
    signal m_alive; // threads
    std::atomic<bool> m_stopped{false};
    mutex m_lock; // guards the exception
    std::exception_ptr m_exception;
};

} // namespace tulle::loop
