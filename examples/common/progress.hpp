// SPDX-License-Identifier: Apache-2.0
//
// A progress line on the standard error for work of more than two seconds: what is being done, how
// far, since when.
// Silent unless the standard error is a terminal or the user asked. begin() is for the owner;
// advance() for any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace examples {

class progress {
public:
    explicit progress(bool asked);
    ~progress();
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;

    // Starts the next piece of work; total 0: its size is not known.
    void begin(std::string label, std::uint64_t total = 0);

    void advance(std::uint64_t amount) {
        // relaxed: a figure to show, it orders nothing
        m_done.fetch_add(amount, std::memory_order_relaxed);
    }

private:
    void tick();
    void show(double seconds);

    bool m_enabled;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::string m_label;       // m_mutex
    std::uint64_t m_total = 0; // m_mutex
    bool m_stop = false;       // m_mutex
    bool m_shown = false;      // m_mutex
    std::atomic<std::uint64_t> m_done{0};
    std::thread m_ticker;
};

} // namespace examples
