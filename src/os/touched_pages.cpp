// SPDX-License-Identifier: Apache-2.0
#include "os/touched_pages.hpp"

#include "os/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fcntl.h>
#include <unistd.h>

namespace tulle::os {
namespace {

constexpr std::size_t k_batch = 512; // pages

using entries = std::array<std::uint64_t, k_batch>;

// What the system says of `count` pages; "touched" of all if it says nothing.
void read_entries(int pagemap, std::size_t first_page, std::size_t count, entries& e) noexcept {
    auto const bytes = static_cast<ssize_t>(count * sizeof e[0]);
    auto const offset = static_cast<off_t>(first_page * sizeof e[0]);
    if (pagemap < 0 || ::pread(pagemap, e.data(), static_cast<std::size_t>(bytes), offset) != bytes)
        e.fill(~std::uint64_t{0});
}

} // namespace

void for_each_touched_page(std::byte* low, std::size_t bytes,
                           void (*visit)(std::byte* page, void* context) noexcept,
                           void* context) noexcept {
    constexpr std::uint64_t k_in_memory_or_swapped = std::uint64_t{3} << 62;
    std::size_t const page = page_size();
    std::size_t const first = reinterpret_cast<std::uintptr_t>(low) / page;
    int const pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    entries e;
    for (std::size_t at = 0; at < bytes / page; at += k_batch) {
        std::size_t const count = std::min(k_batch, bytes / page - at);
        read_entries(pagemap, first + at, count, e);
        for (std::size_t k = 0; k < count; ++k) {
            if ((e[k] & k_in_memory_or_swapped) != 0) visit(low + (at + k) * page, context);
        }
    }
    if (pagemap >= 0) ::close(pagemap);
}

} // namespace tulle::os
