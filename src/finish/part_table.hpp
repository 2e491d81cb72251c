// SPDX-License-Identifier: Apache-2.0
// The parts of other places' finishes that live at a place, by their homes and roots: a hash table
// of lists that the parts themselves are links of, and the memory of a few parts that have ended,
// so that a part that begins allocates nothing and passes a few instructions.
// Plain data; its user locks. It owns the parts.
#pragma once

#include "base/intrusive_list.hpp"
#include "finish/finish_scope.hpp"

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace tulle::finishes {

class part_table {
public:
    // `at`: the service whose parts these are.
    explicit part_table(finish_service* at) noexcept : m_at(at) {}
    part_table(part_table const&) = delete;
    part_table& operator=(part_table const&) = delete;
    ~part_table() {
        for (list& chain : chains()) free_all(chain);
        free_all(m_spares);
    }

    // Null: there is none.
    [[nodiscard]] finish_part* find(rank home, std::uint64_t root) const noexcept {
        for (finish_part& part : chain_of(home, root))
            if (part.root == root && part.home == home) return &part;
        return nullptr;
    }
    // There is none of this home and root yet. std::bad_alloc, with nothing changed.
    finish_part& begin(rank home, std::uint64_t root, std::uint64_t epoch, std::uint32_t deaths) {
        finish_part* part = m_spares.pop();
        if (TULLE_LIKELY(part != nullptr)) {
            --m_spare_count;
            part->begin_anew(home, root, epoch, deaths);
        } else {
            part = make(home, root, epoch, deaths);
        }
        ++m_live;
        chain_of(home, root).push(*part);
        return *part;
    }
    // It has ended, and is the caller's until it is given to keep().
    void take_out(finish_part& part) noexcept {
        chain_of(part.home, part.root).remove(part);
        --m_live;
    }
    // What has been cleared. True: another part will begin where it lies. False: there are enough
    // of these, and the caller frees it.
    [[nodiscard]] bool keep(finish_part& cleared) noexcept {
        if (m_spare_count == k_spares) return false;
        ++m_spare_count;
        m_spares.push(cleared);
        return true;
    }
    // In no order.
    template <class Visit> void for_each(Visit visit) const {
        for (list const& chain : chains())
            for (finish_part const& part : chain) visit(part);
    }
    [[nodiscard]] std::size_t size() const noexcept { return m_live; }

private:
    using list = base::intrusive_stack<&finish_part::next>;
    static constexpr unsigned k_few_bits = 4;
    static constexpr unsigned k_least_shift = 64 - 20;
    static constexpr std::size_t k_spares = 16;

    [[nodiscard]] std::span<list> chains() const noexcept {
        return {m_chains, std::size_t{1} << (64 - m_shift)};
    }
    // Roots are addresses on stacks, which differ in the middle of their bits: a product has what
    // tells them apart in its upper ones. Source: Knuth, The Art of Computer Programming, 6.4.
    [[nodiscard]] list& chain_of(rank home, std::uint64_t root) const noexcept {
        return m_chains[(root ^ home) * 0x9E3779B97F4A7C15U >> m_shift];
    }
    [[nodiscard]] TULLE_NOINLINE finish_part* make(rank home, std::uint64_t root,
                                                   std::uint64_t epoch, std::uint32_t deaths) {
        auto* const part = new finish_part(m_at, home, root, epoch, deaths);
        if (m_live >= chains().size()) grow();
        return part;
    }
    // Without memory for it the lists become longer.
    void grow() noexcept {
        if (m_shift == k_least_shift) return;
        std::unique_ptr<list[]> more(new (std::nothrow) list[2 * chains().size()]);
        if (more == nullptr) return;
        list all;
        for (list& chain : chains())
            while (finish_part* const part = chain.pop()) all.push(*part);
        m_many = std::move(more);
        m_chains = m_many.get();
        --m_shift;
        while (finish_part* const part = all.pop()) chain_of(part->home, part->root).push(*part);
    }
    static void free_all(list& parts) noexcept {
        while (finish_part* const part = parts.pop()) delete part;
    }

    finish_service* m_at;
    list m_few[1U << k_few_bits];       // NOLINT(modernize-avoid-c-arrays)
    std::unique_ptr<list[]> m_many;     // null: the few do
    list* m_chains = m_few;             // those that are used
    unsigned m_shift = 64 - k_few_bits; // 64 less the bits of their number
    std::size_t m_live = 0;
    list m_spares;
    std::size_t m_spare_count = 0;
};

} // namespace tulle::finishes
