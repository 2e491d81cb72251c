// SPDX-License-Identifier: Apache-2.0
//
// Buffers of one size for whoever needs one for a while; as many as are in use at once are made,
// and used again.
// Any thread may take and give back. A std::mutex is right here: it is held for a few instructions
// and never over a switch.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace examples {

class buffer_pool {
public:
    explicit buffer_pool(std::size_t bytes) : m_bytes(bytes) {}

    // A buffer on loan: goes back when destroyed.
    class loan {
    public:
        explicit loan(buffer_pool& pool) : m_pool(&pool), m_data(pool.take()) {}
        ~loan() { m_pool->give_back(std::move(m_data)); }
        loan(loan const&) = delete;
        loan& operator=(loan const&) = delete;

        [[nodiscard]] char* data() const { return m_data.get(); }
        [[nodiscard]] std::size_t size() const { return m_pool->m_bytes; }

    private:
        buffer_pool* m_pool;
        std::unique_ptr<char[]> m_data;
    };

private:
    std::unique_ptr<char[]> take() {
        {
            std::lock_guard const lock(m_mutex);
            if (!m_free.empty()) {
                auto data = std::move(m_free.back());
                m_free.pop_back();
                return data;
            }
        }
        return std::make_unique_for_overwrite<char[]>(m_bytes);
    }

    void give_back(std::unique_ptr<char[]> data) {
        std::lock_guard const lock(m_mutex);
        m_free.push_back(std::move(data));
    }

    std::size_t m_bytes;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<char[]>> m_free; // m_mutex
};

} // namespace examples
