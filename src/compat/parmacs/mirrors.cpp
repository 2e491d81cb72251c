// SPDX-License-Identifier: Apache-2.0
// A hash table of pages of shared memory, at the first place of the machine. Entries are added and
// stay.
#include "compat/parmacs/mirrors.hpp"

#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/waiting.hpp"

#include <tulle/c/global_memory.h>
#include <tulle/c/place.h>
#include <tulle/place.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace tulle::parmacs {

namespace {

constexpr std::uintptr_t k_page = 4096;
constexpr std::size_t k_pages = std::size_t{1} << 15U;
constexpr std::size_t k_page_bytes = k_page / k_line * k_mirror_bytes;

struct mirrored_page {
    std::atomic<std::uintptr_t> page{0}; // 0: none yet
    std::atomic<std::byte*> mirror{nullptr};
};
struct page_table {
    std::array<mirrored_page, k_pages> pages;
};

page_table* s_table = nullptr;

std::size_t hash_of(std::uintptr_t page) noexcept {
    constexpr std::uint64_t k_golden = 0x9E37'79B9'7F4A'7C15; // Fibonacci hashing (Knuth, 6.4)
    return static_cast<std::size_t>(page / k_page * k_golden >> 49U);
}

// Null: it is not there, and shall not be made.
mirrored_page* find_page(std::uintptr_t page, bool may_make) noexcept {
    for (std::size_t k = 0; k < k_pages; ++k) {
        mirrored_page& each = s_table->pages[(hash_of(page) + k) % k_pages];
        // relaxed, all: it stands for itself.
        std::uintptr_t found = each.page.load(std::memory_order_relaxed);
        if (found == 0 && !may_make) return nullptr;
        if (found == 0 && each.page.compare_exchange_strong(found, page, std::memory_order_relaxed))
            return &each;
        if (found == page) return &each;
    }
    if (may_make) fail("LOCK: locks at other hosts fill more than %zu pages", k_pages);
    return nullptr;
}

// Another process may be as quick.
std::byte* make_mirror(mirrored_page& of) noexcept {
    auto* const made = static_cast<std::byte*>(new_zeros(k_page_bytes));
    std::byte* before = nullptr;
    // release: the zeros come first; acquire: those of another.
    if (of.mirror.compare_exchange_strong(before, made, std::memory_order_release,
                                          std::memory_order_acquire))
        return made;
    static_cast<void>(tulle_global_free(made));
    return before;
}

std::uintptr_t page_of(void const* line) noexcept {
    return reinterpret_cast<std::uintptr_t>(line) & ~(k_page - 1);
}
std::byte* part_of(std::byte* mirror, void const* line) noexcept {
    return mirror + reinterpret_cast<std::uintptr_t>(line) % k_page / k_line * k_mirror_bytes;
}

} // namespace

// Addresses travel as complements (<tulle/place.hpp>).
void join_mirrors() {
    int const first = first_place_here();
    if (first == tulle_here()) {
        s_table = static_cast<page_table*>(new_zeros(sizeof(page_table)));
        return;
    }
    std::uint64_t const table =
        at(tulle::place(first), [] { return ~reinterpret_cast<std::uintptr_t>(s_table); });
    s_table = reinterpret_cast<page_table*>(~table); // NOLINT(performance-no-int-to-ptr)
}

void* find_mirror(void const* line) noexcept {
    mirrored_page* const found = find_page(page_of(line), false);
    if (found == nullptr) return nullptr;
    // acquire: pairs with make_mirror.
    std::byte* const mirror = found->mirror.load(std::memory_order_acquire);
    return mirror != nullptr ? part_of(mirror, line) : nullptr;
}

void* mirror_of(void const* line) noexcept {
    mirrored_page& found = *find_page(page_of(line), true);
    std::byte* mirror = found.mirror.load(std::memory_order_acquire); // pairs with make_mirror
    if (mirror == nullptr) mirror = make_mirror(found);
    return part_of(mirror, line);
}

} // namespace tulle::parmacs
