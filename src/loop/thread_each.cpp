// SPDX-License-Identifier: Apache-2.0
#include "loop/thread_each.hpp"

#include <tulle/detail/caught_exception.hpp>
#include <tulle/thread.hpp>

#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace tulle::loop {

bool thread_each::run() {
    if (m_count > std::numeric_limits<std::int32_t>::max())
        throw std::length_error("tulle: a loop of more than 2^31 - 1 threads");
    detail::run_chunks(m_count, {},
                       [this](std::uint64_t begin, std::uint64_t end) { spawn_all(begin, end); });
    m_alive.wait();
    if (m_exception != nullptr) std::rethrow_exception(std::exchange(m_exception, nullptr));
    // relaxed: all that might set it happens before the end of the wait
    return !m_stopped.load(std::memory_order_relaxed);
}

// Each thread is counted before it is there, as it may end at once.
void thread_each::spawn_all(std::uint64_t begin, std::uint64_t end) noexcept {
    for (std::uint64_t i = begin; i != end; ++i) {
        m_alive.add_signalers(1);
        try {
            if (is_stopped()) return m_alive.notify();
            spawn_detached([this, i] { run_one(i); });
        } catch (...) {
            keep_exception();
            m_alive.notify();
        }
    }
}

// relaxed: an iteration more or less; what was thrown is published by the signal.
bool thread_each::is_stopped() {
    if (m_until.is_possible() && m_until.is_requested())
        m_stopped.store(true, std::memory_order_relaxed);
    return m_stopped.load(std::memory_order_relaxed);
}

void thread_each::run_one(std::uint64_t i) noexcept {
    try {
        if (!is_stopped()) m_body.run(m_context, i, i + 1);
    } catch (...) {
        keep_exception();
    }
    m_alive.notify(); // the last access
}

void thread_each::keep_exception() noexcept {
    {
        std::lock_guard const held(m_lock);
        if (m_exception == nullptr) m_exception = detail::caught_exception();
    }
    m_stopped.store(true, std::memory_order_relaxed); // relaxed: as above
}

} // namespace tulle::loop
