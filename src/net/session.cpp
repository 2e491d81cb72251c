// SPDX-License-Identifier: Apache-2.0
#include "net/session.hpp"

#include <cerrno>
#include <csignal>
#include <new>
#include <utility>

#include <unistd.h>

namespace tulle::net {

namespace {

constexpr std::uint32_t k_lines = 1024;    // of each ring, 64 KiB
constexpr std::uint32_t k_few_lines = 128; // where there are many rings
constexpr rank k_few_places = 32;
// The staging area of each place; pages that are not used take no memory.
constexpr std::size_t k_staging_bytes = std::size_t{16} << 20U;
constexpr std::size_t k_few_staging_bytes = std::size_t{1} << 20U;
constexpr std::size_t k_steal_area_bytes = std::size_t{4} << 20U; // of each place, like those
constexpr std::size_t k_few_steal_area_bytes = std::size_t{1} << 19U;
constexpr std::size_t k_page = 4096;

constexpr std::uint32_t lines_of_rings(rank places) {
    return places <= k_few_places ? k_lines : k_few_lines;
}

constexpr std::size_t entries_at() { return (sizeof(session_head) + 63) / 64 * 64; }
constexpr std::size_t controls_at(rank places) {
    return entries_at() + places * sizeof(place_entry);
}
constexpr std::size_t up_to_page(std::size_t bytes) {
    return (bytes + k_page - 1) / k_page * k_page;
}
constexpr std::size_t rings_at(rank places) {
    return up_to_page(controls_at(places) +
                      std::size_t{places} * places * sizeof(shared_ring_control));
}
constexpr std::size_t staging_of(rank places) {
    return places <= k_few_places ? k_staging_bytes : k_few_staging_bytes;
}
constexpr std::size_t staging_at(rank places, std::uint32_t lines) {
    return up_to_page(rings_at(places) + std::size_t{places} * places * lines * sizeof(ring_line));
}
constexpr std::size_t steal_area_bytes(rank places) {
    return places <= k_few_places ? k_steal_area_bytes : k_few_steal_area_bytes;
}
constexpr std::size_t steal_areas_at(rank places, std::uint32_t lines) {
    return staging_at(places, lines) + places * staging_of(places);
}
constexpr std::size_t bytes_of(rank places, std::uint32_t lines) {
    return steal_areas_at(places, lines) + places * steal_area_bytes(places);
}

// What create() makes.
bool is_one(os::shared_memory const& memory, session_head const& head) {
    if (memory.size() < sizeof(session_head)) return false;
    // Pairs with create.
    if (head.format.load(std::memory_order_acquire) != session_head::k_format) return false;
    return head.places >= 1 && head.places <= k_most_places &&
           head.lines == lines_of_rings(head.places) &&
           memory.size() >= bytes_of(head.places, head.lines);
}

} // namespace

session session::create(rank places) noexcept {
    session made;
    if (places == 0 || places > k_most_places) {
        errno = EINVAL;
        return made;
    }
    std::uint32_t const lines = lines_of_rings(places);
    made.m_memory = os::shared_memory::create("tulle-places", bytes_of(places, lines));
    if (!made.is_valid()) return made;
    made.m_segments = os::shared_file::create("tulle-global-memory");
    if (!made.m_segments.is_open()) return {};
    auto* const head = ::new (static_cast<void*>(made.m_memory.low())) session_head;
    head->places = places;
    head->lines = lines;
    head->launcher = getpid();
    for (rank r = 0; r < places; ++r) ::new (static_cast<void*>(&made.entry(r))) place_entry;
    head->format.store(session_head::k_format, std::memory_order_release); // pairs with adopt
    return made;
}

session session::adopt(int descriptor, int segments) noexcept {
    session found;
    if (segments >= 0) found.m_segments = os::shared_file::adopt(segments);
    if (segments >= 0 && !found.m_segments.is_open()) return {};
    found.m_memory = os::shared_memory::adopt(descriptor);
    if (!found.is_valid()) return found;
    if (is_one(found.memory(), found.head())) return found;
    errno = EINVAL;
    return {};
}

// If they have that size already nothing happens, so no place has to be the first.
bool session::grow_segments(std::size_t bytes) const noexcept {
    std::uint64_t size = 0;
    // relaxed: a process that maps the file sees its size in any case.
    if (head().segments_size.compare_exchange_strong(size, bytes, std::memory_order_relaxed) ||
        size == bytes)
        return m_segments.grow(bytes);
    errno = EINVAL;
    return false;
}

bool session::make_room(rank most) noexcept {
    std::uint32_t decided = 0;
    // relaxed: a process that maps the file sees its size in any case.
    if (!head().room.compare_exchange_strong(decided, most, std::memory_order_relaxed) &&
        decided != most) {
        errno = EINVAL;
        return false;
    }
    return m_memory.grow(bytes_of(places(), lines()));
}

// The signal is one that the process takes anyway, when a place ends.
bool session::ask_for_places(rank count) const noexcept {
    std::uint32_t before = head().wanted.load(std::memory_order_relaxed); // relaxed: a first guess
    // Pairs with wanted_places.
    while (before < count &&
           !head().wanted.compare_exchange_weak(before, count, std::memory_order_release,
                                                std::memory_order_relaxed)) {}
    return kill(head().launcher, SIGCHLD) == 0;
}

bool session::keep_for_programs() const noexcept {
    return m_memory.keep_for_programs() && m_segments.keep_for_programs();
}

place_entry& session::entry(rank place) const noexcept {
    return reinterpret_cast<place_entry*>(m_memory.low() + entries_at())[place];
}

shared_ring_control& session::control(rank from, rank to) const noexcept {
    auto* const first =
        reinterpret_cast<shared_ring_control*>(m_memory.low() + controls_at(places()));
    return first[std::size_t{to} * places() + from]; // those of one consumer side by side
}

ring_line* session::ring(rank from, rank to) const noexcept {
    auto* const first = reinterpret_cast<ring_line*>(m_memory.low() + rings_at(places()));
    return first + (std::size_t{to} * places() + from) * lines();
}

std::byte* session::staging(rank place) const noexcept {
    return m_memory.low() + staging_at(places(), lines()) + place * staging_bytes();
}

std::size_t session::staging_bytes() const noexcept { return staging_of(places()); }

std::span<std::byte> session::steal_area(rank place) const noexcept {
    std::size_t const bytes = steal_area_bytes(places());
    return {m_memory.low() + steal_areas_at(places(), lines()) + place * bytes, bytes};
}

void session::declare_dead(rank dead, int wait_status) const noexcept {
    place_entry& e = entry(dead);
    // relaxed: only so that it is not counted twice
    if (e.state.load(std::memory_order_relaxed) == place_state::dead) return;
    // relaxed: published by the next line
    e.wait_status.store(wait_status, std::memory_order_relaxed);
    // Pairs with each read of the state.
    if (e.state.exchange(place_state::dead, std::memory_order_release) == place_state::dead) return;
    // Pairs with the polls that read the number of deaths.
    head().deaths.fetch_add(1, std::memory_order_release);
    wake_all();
}

void session::wake_all() const noexcept {
    for (rank r = 0; r < places(); ++r) entry(r).doorbell.wake();
}

} // namespace tulle::net
