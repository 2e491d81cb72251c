// SPDX-License-Identifier: Apache-2.0
#include "compat/program/program_data.hpp"

#include "base/sanitize.hpp"
#include "compat/program/program_reader.hpp"
#include "os/touched_pages.hpp"

#include <tulle/c/place.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include <unistd.h>

namespace tulle::program {

namespace {

constexpr std::size_t k_piece = std::size_t{64} << 10U;
constexpr std::size_t k_word = sizeof(std::uint64_t);

template <class T> T* at_address(std::uint64_t address) noexcept {
    return reinterpret_cast<T*>(address); // NOLINT(performance-no-int-to-ptr)
}

// Variables have gaps between them that a sanitizer guards, so neither it nor a function that it
// knows sees these writes. `from` null: zeros; else as far from the beginning of a word as `to`.
TULLE_NO_SANITIZE void fill(std::uint64_t to, std::byte const* from, std::size_t bytes) noexcept {
    std::size_t at = 0;
    for (; at < bytes && (to + at) % k_word != 0; ++at)
        *at_address<std::byte volatile>(to + at) = from != nullptr ? from[at] : std::byte{0};
    for (; at + k_word <= bytes; at += k_word)
        *at_address<std::uint64_t volatile>(to + at) =
            from != nullptr ? *reinterpret_cast<std::uint64_t const*>(from + at) : 0;
    for (; at < bytes; ++at)
        *at_address<std::byte volatile>(to + at) = from != nullptr ? from[at] : std::byte{0};
}

int fetch(int place, range const& wanted, std::vector<std::uint64_t>& buffer) noexcept {
    for (std::uint64_t at = wanted.begin; at < wanted.end;) {
        std::size_t const bytes =
            std::min<std::uint64_t>((buffer.size() - 1) * k_word, wanted.end - at);
        std::byte* const copy = reinterpret_cast<std::byte*>(buffer.data()) + at % k_word;
        if (int const error = tulle_pull(copy, place, at_address<void>(at), bytes)) return error;
        fill(at, copy, bytes);
        at += bytes;
    }
    return 0;
}

struct page_list {
    ranges found;
    std::uint64_t page = 0;
    bool is_complete = true;
};

void add_page(std::byte* page, void* context) noexcept {
    auto& list = *static_cast<page_list*>(context);
    auto const low = reinterpret_cast<std::uintptr_t>(page);
    try {
        if (!list.found.empty() && list.found.back().end == low)
            list.found.back().end += list.page;
        else
            list.found.push_back({low, low + list.page});
    } catch (std::bad_alloc const&) {
        list.is_complete = false;
    }
}

// Those of [low, high), whose pages are the program's alone.
ranges touched_pages(std::uint64_t low, std::uint64_t high) {
    page_list list;
    list.page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::uint64_t const end = (high + list.page - 1) / list.page * list.page;
    if (low < end)
        os::for_each_touched_page(at_address<std::byte>(low), end - low, &add_page, &list);
    if (!list.is_complete) throw std::bad_alloc();
    if (!list.found.empty()) list.found.back().end = std::min(list.found.back().end, high);
    return list.found;
}

std::uint64_t page_of(std::uint64_t address) noexcept {
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return address / page * page;
}
std::uint64_t next_page(std::uint64_t address) noexcept {
    auto const page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return page_of(address + page - 1);
}

} // namespace

program_data const& program_data::of_process() {
    static program_data const s_own = program_reader::read();
    return s_own;
}

bool program_data::has(void const* address) const noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    return std::any_of(m_program.begin(), m_program.end(),
                       [at](range const& r) { return r.begin <= at && at < r.end; });
}

ranges program_data::touched() const { return without(all_touched(), m_kept); }

ranges program_data::all_touched() const {
    ranges all;
    for (segment const& s : m_writable) {
        std::uint64_t const zeros = std::min(next_page(s.zeros), s.whole.end);
        all.push_back({s.whole.begin, zeros});
        ranges const pages = touched_pages(next_page(s.zeros), s.whole.end);
        all.insert(all.end(), pages.begin(), pages.end());
    }
    return joined(std::move(all));
}

ranges program_data::pages() const {
    ranges all;
    ranges fixed;
    for (segment const& s : m_writable)
        all.push_back({page_of(s.whole.begin), next_page(s.whole.end)});
    for (range const& r : m_fixed) fixed.push_back({page_of(r.begin), page_of(r.end)});
    return without(joined(std::move(all)), joined(std::move(fixed)));
}

// Between variables there may be gaps that a sanitizer guards.
void program_data::copy_pages(ranges const& pages, std::byte* memory) const {
    ranges const written = all_touched();
    for (range const& page : pages) {
        for (range const& r : written) {
            range const both{std::max(r.begin, page.begin), std::min(r.end, page.end)};
            if (both.begin < both.end)
                fill(reinterpret_cast<std::uintptr_t>(memory) + (both.begin - page.begin),
                     at_address<std::byte>(both.begin), both.end - both.begin);
        }
        memory += page.end - page.begin;
    }
}

int program_data::replace(int place, ranges const& sent,
                          std::vector<std::uint64_t> const& links) const {
    if (links.size() != m_links.size()) return -EINVAL;
    ranges const left_over = without(touched(), sent);
    for (range const& r : left_over) fill(r.begin, nullptr, r.end - r.begin);
    std::vector<std::uint64_t> buffer(k_piece / k_word + 1);
    for (range const& r : sent)
        if (int const error = fetch(place, r, buffer)) return error;
    for (std::size_t k = 0; k < links.size(); ++k) {
        auto const* const word = at_address<std::byte>(m_links[k]);
        if (std::memcmp(word, &links[k], k_word) == 0)
            fill(m_links[k], reinterpret_cast<std::byte const*>(&m_links_at_start[k]), k_word);
    }
    return 0;
}

} // namespace tulle::program
