// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "empty_words.hpp"

#include <condition_variable>

namespace {

class monitor_cells {
public:
    static constexpr double k_word_bytes = sizeof(long);

    explicit monitor_cells(std::size_t n) : m_cells(n), m_full(n, true) {}
    void empty(std::size_t k) {
        m_cells[k].write_ef(1);
        static_cast<void>(m_cells[k].read_fe());
        m_full[k] = false;
    }
    void fill(std::size_t k) {
        m_cells[k].write_ef(2);
        m_full[k] = true;
    }
    [[nodiscard]] bool is_full(std::size_t k) const { return m_full[k]; }

private:
    std::vector<tulle::bench::monitor_cell<std::mutex, std::condition_variable>> m_cells;
    std::vector<bool> m_full;
};

} // namespace

tulle::bench::benchmark const registered("empty-words", "pthread", [](int argc, char** argv) {
    return tulle::bench::empty_words_main<tulle::bench::pthread_runtime, monitor_cells>(argc, argv,
                                                                                        "pthread");
});
