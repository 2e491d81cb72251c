// SPDX-License-Identifier: Apache-2.0
// What people write who have no full/empty cells: a mutex and two condition variables (names:
// cells.hpp).
#pragma once

#include <mutex>

namespace tulle::bench {

template <class Mutex, class Condition> class monitor_cell {
public:
    void write_ef(long value) {
        std::unique_lock hold(m_mutex);
        m_emptied.wait(hold, [this] { return !m_full; });
        m_value = value;
        m_full = true;
        m_filled.notify_one();
    }
    long read_fe() {
        std::unique_lock hold(m_mutex);
        m_filled.wait(hold, [this] { return m_full; });
        m_full = false;
        m_emptied.notify_one();
        return m_value;
    }
    long read_ff() {
        std::unique_lock hold(m_mutex);
        m_filled.wait(hold, [this] { return m_full; });
        return m_value;
    }

private:
    Mutex m_mutex;
    Condition m_filled, m_emptied;
    long m_value = 0;
    bool m_full = false;
};

} // namespace tulle::bench
