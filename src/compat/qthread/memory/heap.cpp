// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/memory/heap.hpp"

#include "compat/qthread/library/os_thread_number.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace tulle::compat {

namespace {

constexpr std::uint64_t k_page = 4096;
constexpr std::uint64_t k_alignment = 16;

// Sizes of pieces in pages of a dynamic heap.
constexpr std::array<std::uint16_t, 18> k_classes{16,  32,  48,  64,  96,  128,  160,  192,  256,
                                                  320, 448, 512, 672, 800, 1008, 1360, 2048, 4096};

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t to) noexcept {
    return (n + to - 1) / to * to;
}

std::size_t class_for(std::size_t size) noexcept {
    return static_cast<std::size_t>(std::lower_bound(k_classes.begin(), k_classes.end(), size) -
                                    k_classes.begin());
}

} // namespace

// --- both kinds ----------------------------------------------------------------------------------

bool heap::lay_out(heap_header& h) {
    constexpr std::uint64_t k_most = std::uint64_t{1} << 42U;
    if (h.size > k_most || h.streams == 0 || h.streams > h.size || h.item > h.size) return false;
    switch (h.kind) {
        case heap_kind::fixed: static_heap::lay_out(h); break;
        case heap_kind::dynamic: dynamic_heap::lay_out(h); break;
        default: return false; // of a damaged file
    }
    return h.begin < h.size;
}

heap* heap::open(char const* name, heap_header const& wanted) {
    std::unique_ptr<heap> h;
    if (wanted.kind == heap_kind::fixed) {
        h = std::make_unique<static_heap>();
    } else {
        h = std::make_unique<dynamic_heap>();
    }
    h->m_streams = std::vector<stream>(static_cast<std::size_t>(wanted.streams));
    if (!h->m_file.open(name, wanted)) return nullptr;
    if (h->m_file.is_new() || h->is_sound()) return h.release();
    h->close();
    errno = EINVAL;
    return nullptr;
}

std::size_t heap::preferred_stream() const noexcept { return os_thread_number() % stream_count(); }

void heap::write_back() {
    std::vector<std::unique_lock<std::mutex>> held;
    for (stream& s : m_streams) held.emplace_back(s.lock);
    held.emplace_back(m_fresh_lock);
    m_file.write_back();
}

bool heap::may_be_piece(std::uint64_t offset, std::uint64_t size) const noexcept {
    heap_header const& h = m_file.header();
    return offset >= h.begin && offset < h.size && size <= h.size - offset &&
           offset % sizeof(std::uint64_t) == 0;
}

void* heap::pop(std::uint64_t& head, std::uint64_t size) const noexcept {
    if (head == 0) return nullptr;
    if (!may_be_piece(head, size)) {
        head = 0;
        return nullptr;
    }
    std::byte* const piece = m_file.at(head);
    head = m_file.word(head);
    return piece;
}

void heap::push(std::uint64_t& head, std::uint64_t piece) const noexcept {
    m_file.word(piece) = head;
    head = piece;
}

// --- static --------------------------------------------------------------------------------------

void static_heap::lay_out(heap_header& h) {
    h.item = round_up(std::max<std::uint64_t>(h.item, 1), sizeof(std::uint64_t));
    h.begin = round_up(sizeof(heap_header) + h.streams * sizeof(std::uint64_t), k_alignment);
    h.fresh = h.begin;
}

void* static_heap::allocate(std::size_t) {
    std::size_t const preferred = preferred_stream();
    for (std::size_t k = 0; k != stream_count(); ++k) {
        std::size_t const s = (preferred + k) % stream_count();
        std::lock_guard const held(m_streams[s].lock);
        if (void* const piece = pop(list_head(s), m_file.header().item)) return piece;
        if (k != 0) continue;
        std::lock_guard const fresh_held(m_fresh_lock);
        heap_header& h = m_file.header();
        if (h.size - h.fresh < h.item) continue;
        h.fresh += h.item;
        return m_file.at(h.fresh - h.item);
    }
    errno = ENOMEM;
    return nullptr;
}

bool static_heap::is_sound() const noexcept {
    heap_header const& h = m_file.header();
    if (h.fresh < h.begin || h.fresh > h.size || (h.fresh - h.begin) % h.item != 0) return false;
    for (std::size_t s = 0; s != stream_count(); ++s)
        if (list_head(s) != 0 && !may_be_piece(list_head(s), h.item)) return false;
    return true;
}

void static_heap::free(void* piece) {
    std::size_t const s = preferred_stream();
    std::lock_guard const held(m_streams[s].lock);
    push(list_head(s), m_file.offset(piece));
}

// --- dynamic -------------------------------------------------------------------------------------

// Lists, table of pages, pages.
void dynamic_heap::lay_out(heap_header& h) {
    h.item = 0;
    std::uint64_t const lists =
        sizeof(heap_header) + h.streams * k_classes.size() * sizeof(std::uint64_t);
    h.begin = round_up(lists + h.size / k_page * sizeof(std::uint32_t), k_page);
    h.fresh = 0;
}

// A process that was ended in the middle of a call may have left pages that nobody has.
bool dynamic_heap::is_sound() const noexcept {
    std::uint64_t const count = page_count();
    for (std::uint64_t p = 0; p != count; ++p) {
        std::uint32_t const u = page_use(p);
        std::uint32_t const length = u & ~static_cast<std::uint32_t>(use::run);
        bool const is_known =
            u == length ? u <= k_classes.size() || u == static_cast<std::uint32_t>(use::inside_run)
                        : length <= count - p;
        if (!is_known) return false;
    }
    for (std::size_t k = 0; k != stream_count() * k_classes.size(); ++k)
        if (list_head(k) != 0 && !may_be_piece(list_head(k), k_classes[k % k_classes.size()]))
            return false;
    return m_file.header().fresh < std::max<std::uint64_t>(count, 1);
}

std::uint64_t dynamic_heap::page_count() const noexcept {
    return (m_file.header().size - m_file.header().begin) / k_page;
}

std::uint32_t& dynamic_heap::page_use(std::uint64_t page) const noexcept {
    std::uint64_t const table =
        sizeof(heap_header) + stream_count() * k_classes.size() * sizeof(std::uint64_t);
    return reinterpret_cast<std::uint32_t*>(m_file.at(table))[page];
}

void* dynamic_heap::allocate(std::size_t size) {
    void* piece = nullptr;
    if (size <= k_classes.back()) {
        piece = allocate_small(class_for(size));
    } else if (size <= m_file.header().size) {
        std::lock_guard const held(m_fresh_lock);
        piece = allocate_run(round_up(size, k_page) / k_page);
    }
    if (piece == nullptr) errno = ENOMEM;
    return piece;
}

void* dynamic_heap::allocate_small(std::size_t size_class) {
    std::size_t const preferred = preferred_stream();
    for (std::size_t k = 0; k != stream_count(); ++k) {
        std::size_t const s = (preferred + k) % stream_count();
        std::lock_guard const held(m_streams[s].lock);
        std::uint64_t& head = list_head(s * k_classes.size() + size_class);
        if (void* const piece = pop(head, k_classes[size_class])) return piece;
        if (k != 0) continue;
        std::lock_guard const fresh_held(m_fresh_lock);
        void* const page = allocate_run(1);
        if (page == nullptr) continue;
        carve((m_file.offset(page) - m_file.header().begin) / k_page, size_class, head);
        return pop(head, k_classes[size_class]);
    }
    return nullptr;
}

void dynamic_heap::carve(std::uint64_t page, std::size_t size_class, std::uint64_t& head) noexcept {
    page_use(page) = static_cast<std::uint32_t>(size_class + 1);
    std::uint64_t const size = k_classes[size_class];
    std::uint64_t const begin = m_file.header().begin + page * k_page;
    for (std::uint64_t k = k_page / size; k != 0; --k) push(head, begin + (k - 1) * size);
}

// The first of so many free pages in a row; `end`: none.
std::uint64_t dynamic_heap::find_run(std::uint64_t pages, std::uint64_t from,
                                     std::uint64_t end) const noexcept {
    std::uint64_t length = 0;
    for (std::uint64_t p = from; p != end; ++p) {
        std::uint32_t const u = page_use(p);
        length = u == static_cast<std::uint32_t>(use::free_page) ? length + 1 : 0;
        if (length == pages) return p + 1 - pages;
    }
    return end;
}

void* dynamic_heap::allocate_run(std::uint64_t pages) {
    heap_header& h = m_file.header();
    std::uint64_t const count = page_count();
    std::uint64_t first = find_run(pages, h.fresh, count);
    if (first == count) first = find_run(pages, 0, count);
    if (first == count) return nullptr;
    page_use(first) = static_cast<std::uint32_t>(use::run) | static_cast<std::uint32_t>(pages);
    for (std::uint64_t p = first + 1; p != first + pages; ++p)
        page_use(p) = static_cast<std::uint32_t>(use::inside_run);
    h.fresh = first + pages == count ? 0 : first + pages;
    return m_file.at(h.begin + first * k_page);
}

void dynamic_heap::free_run(std::uint64_t page) noexcept {
    std::uint64_t const pages = page_use(page) & ~static_cast<std::uint32_t>(use::run);
    for (std::uint64_t p = page; p != page + pages; ++p)
        page_use(p) = static_cast<std::uint32_t>(use::free_page);
}

void dynamic_heap::free(void* piece) {
    std::uint64_t const offset = m_file.offset(piece);
    std::uint64_t const page = (offset - m_file.header().begin) / k_page;
    std::size_t const s = preferred_stream();
    // The use of a page that has a piece in use changes only by freeing that.
    std::uint32_t const u = page_use(page);
    if ((u & static_cast<std::uint32_t>(use::run)) != 0) {
        std::lock_guard const held(m_fresh_lock);
        return free_run(page);
    }
    if (u == 0 || u > k_classes.size()) return; // no piece of this heap
    std::lock_guard const held(m_streams[s].lock);
    push(list_head(s * k_classes.size() + u - 1), offset);
}

} // namespace tulle::compat
