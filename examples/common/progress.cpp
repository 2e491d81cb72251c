// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <chrono>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace examples {

using namespace std::chrono_literals;

progress::progress(bool asked) : m_enabled(asked || isatty(STDERR_FILENO) == 1) {
    if (m_enabled) m_ticker = std::thread([this] { tick(); });
}

progress::~progress() {
    if (!m_enabled) return;
    {
        std::lock_guard const lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_one();
    m_ticker.join();
    if (m_shown) std::fputs("\r\033[K", stderr);
}

void progress::begin(std::string label, std::uint64_t total) {
    std::lock_guard const lock(m_mutex);
    m_label = std::move(label);
    m_total = total;
    // relaxed: the mutex orders it against the ticker
    m_done.store(0, std::memory_order_relaxed);
}

void progress::tick() {
    auto const start = std::chrono::steady_clock::now();
    std::unique_lock lock(m_mutex);
    auto wait = 2000ms;
    while (!m_wake.wait_for(lock, wait, [this] { return m_stop; })) {
        show(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        wait = 250ms;
    }
}

void progress::show(double seconds) {
    // relaxed: a figure to show, it orders nothing
    auto const done = static_cast<double>(m_done.load(std::memory_order_relaxed));
    m_shown = true;
    if (m_total == 0)
        std::fprintf(stderr, "\r\033[K%s, %.0f s", m_label.c_str(), seconds);
    else
        std::fprintf(stderr, "\r\033[K%s: %.0f %%, %.0f s", m_label.c_str(),
                     100.0 * done / static_cast<double>(m_total), seconds);
    std::fflush(stderr);
}

} // namespace examples
