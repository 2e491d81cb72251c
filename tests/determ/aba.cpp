// SPDX-License-Identifier: Apache-2.0
// A lock-free stack of cells, which two threads take and give back. `planted`: pop() compares the
// first cell's address alone. If the cell was taken and given back meanwhile, the exchange succeeds
// although the second cell has been taken, and two threads own one cell.
// `mended`: the head has a count of changes beside the index.
#include "variant.hpp"

#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>

namespace {

constexpr std::uint32_t k_none = 0;
constexpr std::uint64_t k_one_change = std::uint64_t{1} << 32U;

// Sequentially consistent throughout: only the order of the steps matters here.
class stack {
public:
    explicit stack(bool counts_changes) : m_change(counts_changes ? k_one_change : 0) {}

    void push(std::uint32_t cell) {
        std::uint64_t head = m_head.load(std::memory_order_seq_cst);
        do {
            m_next[cell].store(index_of(head), std::memory_order_seq_cst);
            tulle::schedule_point();
        } while (!m_head.compare_exchange_strong(
            head, with_index(head, cell), std::memory_order_seq_cst, std::memory_order_seq_cst));
    }
    std::uint32_t pop() {
        std::uint64_t head = m_head.load(std::memory_order_seq_cst);
        for (;;) {
            if (index_of(head) == k_none) return k_none;
            std::uint32_t const next = m_next[index_of(head)].load(std::memory_order_seq_cst);
            tulle::schedule_point();
            if (m_head.compare_exchange_strong(head, with_index(head, next),
                                               std::memory_order_seq_cst,
                                               std::memory_order_seq_cst))
                return index_of(head);
        }
    }

private:
    static std::uint32_t index_of(std::uint64_t head) { return static_cast<std::uint32_t>(head); }
    std::uint64_t with_index(std::uint64_t head, std::uint32_t cell) const {
        return ((head + m_change) & ~(k_one_change - 1)) | cell;
    }

    std::uint64_t m_change;
    std::atomic<std::uint64_t> m_head{0};
    std::array<std::atomic<std::uint32_t>, 4> m_next{};
};

std::array<std::atomic<int>, 4> owners{};

void own(std::uint32_t cell) {
    if (cell == k_none) return;
    if (owners[cell].fetch_add(1, std::memory_order_seq_cst) != 0) {
        std::printf("cell %u has two owners\n", cell);
        std::exit(1);
    }
}
void disown(std::uint32_t cell) {
    if (cell != k_none) owners[cell].fetch_sub(1, std::memory_order_seq_cst);
}

} // namespace

int main(int argc, char** argv) {
    stack cells(!is_planted(argc, argv));
    for (std::uint32_t cell = 3; cell != k_none; --cell) cells.push(cell);
    auto const take_one = [&] {
        std::uint32_t const first = cells.pop();
        own(first);
        std::uint32_t const second = cells.pop();
        own(second);
    };
    auto const take_and_give = [&] {
        std::uint32_t const first = cells.pop();
        own(first);
        std::uint32_t const second = cells.pop();
        own(second);
        disown(first);
        if (first != k_none) cells.push(first);
    };
    auto a = tulle::spawn(take_one);
    auto b = tulle::spawn(take_and_give);
    a.join();
    b.join();
    return 0;
}
