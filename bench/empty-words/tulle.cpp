// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "empty_words.hpp"

#include <tulle/full_empty.hpp>

namespace {

// The state lies beside the value.
class object_cells {
public:
    static constexpr double k_word_bytes = sizeof(long);

    explicit object_cells(std::size_t n) : m_cells(n) {}
    void empty(std::size_t k) { m_cells[k].purge(1); }
    void fill(std::size_t k) { m_cells[k].write_ef(2); }
    [[nodiscard]] bool is_full(std::size_t k) const { return m_cells[k].is_full(); }

private:
    std::vector<tulle::full_empty<long>> m_cells;
};

} // namespace

tulle::bench::benchmark const registered("empty-words", "tulle", [](int argc, char** argv) {
    return tulle::bench::empty_words_main<tulle::bench::tulle_runtime, object_cells>(argc, argv,
                                                                                     "tulle");
});
