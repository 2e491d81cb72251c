// SPDX-License-Identifier: Apache-2.0
#include "messenger/payload_store.hpp"

#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

namespace tulle::messenger {

namespace {

// Blocks from this size on are kept, in powers of two. The heap keeps smaller ones itself.
constexpr unsigned k_least_bits = 15;
constexpr unsigned k_most_bits = 24;

// The string moves of some processors (Zen 4: glibc bug 30994) take several times as long where
// source and target have nearly the same offset in their pages, as large blocks of the heap have.
constexpr std::size_t k_skew = 512;

struct free_block {
    free_block* next;
};

class payload_store {
public:
    [[nodiscard]] free_block* take(unsigned bits) noexcept {
        std::lock_guard const held(m_lock);
        free_block* const block = list(bits).pop();
        if (block != nullptr) m_kept -= std::size_t{1} << bits;
        return block;
    }
    // False: there are enough.
    [[nodiscard]] bool keep(std::byte* block, unsigned bits) noexcept {
        std::lock_guard const held(m_lock);
        std::size_t const bytes = std::size_t{1} << bits;
        if (m_kept + bytes > k_most_kept_bytes) return false;
        m_kept += bytes;
        list(bits).push(*::new (block) free_block{nullptr});
        return true;
    }
    [[nodiscard]] std::size_t kept() noexcept {
        std::lock_guard const held(m_lock);
        return m_kept;
    }

private:
    using free_list = base::intrusive_stack<&free_block::next>;

    [[nodiscard]] free_list& list(unsigned bits) noexcept { return m_lists[bits - k_least_bits]; }

    base::spin_lock m_lock; // guards the rest
    std::array<free_list, k_most_bits - k_least_bits + 1> m_lists;
    std::size_t m_kept = 0;
};

payload_store s_store;

void keep_or_free(detail::payload_owner const& self, std::byte* bytes) noexcept {
    std::byte* const block = bytes - k_skew;
    if (!s_store.keep(block, static_cast<unsigned>(self.number))) delete[] block;
}

} // namespace

detail::payload_bytes take_block(std::size_t bytes) {
    auto const bits =
        std::max(k_least_bits, static_cast<unsigned>(std::bit_width(bytes + k_skew - 1)));
    if (bits > k_most_bits || bytes < (std::size_t{1} << (k_least_bits - 1U)))
        return detail::payload_bytes(new std::byte[bytes]);
    void* block = s_store.take(bits);
    if (block == nullptr) block = new std::byte[std::size_t{1} << bits];
    return {static_cast<std::byte*>(block) + k_skew, {&keep_or_free, nullptr, bits, 0}};
}

std::size_t kept_bytes() noexcept { return s_store.kept(); }

} // namespace tulle::messenger
