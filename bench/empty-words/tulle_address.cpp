// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "empty_words.hpp"

#include <tulle/feb.hpp>

namespace {

// The state is in the table.
class address_cells {
public:
    static constexpr double k_word_bytes = sizeof(long);

    explicit address_cells(std::size_t n) : m_words(n) {}
    void empty(std::size_t k) { tulle::feb::purge(m_words[k], 1); }
    void fill(std::size_t k) { tulle::feb::write_ef(m_words[k], 2); }
    [[nodiscard]] bool is_full(std::size_t k) const { return tulle::feb::is_full(m_words[k]); }

private:
    std::vector<long> m_words;
};

} // namespace

tulle::bench::benchmark const registered("empty-words", "tulle_address", [](int argc, char** argv) {
    return tulle::bench::empty_words_main<tulle::bench::tulle_runtime, address_cells>(
        argc, argv, "tulle_address");
});
