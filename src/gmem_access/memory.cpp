// SPDX-License-Identifier: Apache-2.0
// Mapping, and what threads ask for. What others ask for: memory_service.cpp.
#include "gmem_access/memory.hpp"

#include "gmem_access/memory_request.hpp"
#include "messenger/calls.hpp"
#include "messenger/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

namespace tulle::gmem_access {

using messenger::message_kind;
using messenger::object_at;

namespace {

// Segments are multiples of it: whole pages, whatever their size.
constexpr std::uint64_t k_part = 64 * 1024;
constexpr std::uint64_t k_end_of_low = std::uint64_t{1} << 32U;

} // namespace

global_memory::global_memory(endpoint* carrier, memory_settings const& chosen) noexcept
    : m_carrier(carrier),
      m_transport(carrier != nullptr ? &carrier->transport() : nullptr),
      m_settings(chosen),
      m_here(carrier != nullptr ? carrier->here() : 0),
      m_count(carrier != nullptr ? carrier->count() : 1) {
    if (carrier == nullptr) return;
    carrier->handle<&global_memory::serve>(message_kind::memory, *this);
    carrier->handle<&global_memory::take_answer>(message_kind::memory_answer, *this);
    carrier->set_common_addresses({[](void* memory, std::uint64_t address) noexcept {
                                       auto const* const table =
                                           static_cast<global_memory*>(memory)->table();
                                       return table != nullptr && table->contains(address, 1);
                                   },
                                   this});
}

global_memory::~global_memory() = default;

// --- mapping -------------------------------------------------------------------------------------

gmem::segments const* global_memory::map() noexcept {
    std::lock_guard const held(m_map_lock);
    // relaxed: under the lock
    if (m_shown.load(std::memory_order_relaxed) != nullptr) return &m_table;
    std::uint64_t const each =
        std::max(m_settings.bytes / m_count / k_part, std::uint64_t{1}) * k_part;
    if (m_settings.is_low && each * m_count > k_end_of_low - os::fixed_range::low_address()) {
        m_error = ENOMEM;
        return nullptr;
    }
    try {
        m_error = m_transport != nullptr ? map_over(each) : map_alone(each);
        if (m_error != 0) return nullptr;
        if (leads())
            m_manager = std::make_unique<gmem::manager>(
                m_settings.algorithm, m_table.begin_of(m_here), m_here,
                std::min(places_of_group(), m_count - m_here), each);
    } catch (std::bad_alloc const&) {
        m_error = ENOMEM;
        return nullptr;
    }
    m_shown.store(&m_table, std::memory_order_release); // pairs with table
    return &m_table;
}

std::uintptr_t global_memory::address() const noexcept {
    return m_settings.is_low ? os::fixed_range::low_address() : os::fixed_range::usual_address();
}

int global_memory::map_alone(std::uint64_t each) noexcept {
    if (!m_own.is_valid()) m_own = os::fixed_range::reserve(address(), each);
    // No other place has to name it.
    if (!m_own.is_valid() && errno == EEXIST && !m_settings.is_low)
        m_own = os::fixed_range::reserve(0, each);
    if (!m_own.is_valid() || !m_own.fill(0, each)) return errno;
    m_table = gmem::segments(reinterpret_cast<std::uintptr_t>(m_own.low()), each, 1);
    m_reaches_all = true;
    return 0;
}

int global_memory::map_over(std::uint64_t each) {
    m_transport->choose_segments_address(address());
    std::byte* const low = m_transport->map_segments(each);
    if (low == nullptr) return errno;
    m_table = gmem::segments(reinterpret_cast<std::uintptr_t>(low), each, m_count);
    m_reaches_all = true;
    for (rank r = 0; r < m_count; ++r) m_reaches_all = m_reaches_all && m_transport->reaches(r);
    return 0;
}

int global_memory::error() noexcept {
    std::lock_guard const held(m_map_lock);
    return m_error;
}

rank global_memory::places_of_group() const noexcept {
    return m_settings.group == 0 ? m_count : std::min(m_settings.group, m_count);
}
bool global_memory::leads() const noexcept { return leader_of(m_here) == m_here; }
rank global_memory::next_leader(rank after) const noexcept {
    rank const next = leader_of(after) + places_of_group();
    return next < m_count ? next : 0;
}

bool global_memory::reaches(std::uint64_t address, std::uint64_t bytes) const noexcept {
    bool all = true;
    m_table.for_each_part(address, bytes, [&](rank place, std::uint64_t, std::uint64_t) {
        all = all && m_transport->reaches(place);
    });
    return all;
}

// --- reading and writing -------------------------------------------------------------------------

int global_memory::locate(std::uint64_t address, std::uint64_t bytes, std::byte*& direct) noexcept {
    gmem::segments const* const all = table();
    if (all == nullptr) return error();
    if (address == 0 || bytes > all->size()) return EINVAL;
    if (!all->contains(address, bytes)) return EFAULT;
    direct = m_reaches_all || reaches(address, bytes) ? &object_at<std::byte>(address) : nullptr;
    return 0;
}

int global_memory::read(std::byte* to, std::uint64_t from, std::uint64_t bytes) noexcept {
    std::byte* direct = nullptr;
    if (int const error = locate(from, bytes, direct)) return error;
    if (bytes == 0) return 0;
    if (direct == nullptr) return transfer(memory_operation::get, from, to, bytes);
    std::memmove(to, direct, bytes);
    return 0;
}

int global_memory::write(std::byte const* from, std::uint64_t to, std::uint64_t bytes) noexcept {
    std::byte* direct = nullptr;
    if (int const error = locate(to, bytes, direct)) return error;
    if (bytes == 0) return 0;
    // A put stores nothing at `local`.
    if (direct == nullptr)
        return transfer(memory_operation::put, to, const_cast<std::byte*>(from), bytes); // NOLINT
    std::memmove(direct, from, bytes);
    return 0;
}

int global_memory::clear(std::uint64_t address, std::uint64_t bytes) noexcept {
    std::byte* direct = nullptr;
    if (int const error = locate(address, bytes, direct)) return error;
    if (bytes == 0) return 0;
    if (direct == nullptr) return transfer(memory_operation::fill, address, nullptr, bytes);
    std::memset(direct, 0, bytes);
    return 0;
}

// Requests that are under way together, so that those to several places overlap.
class global_memory::batch {
public:
    explicit batch(global_memory& memory, memory_operation operation) noexcept
        : m_memory(memory), m_operation(operation) {}

    void add(rank to, std::uint64_t address, std::byte* local, std::uint64_t bytes) noexcept {
        if (m_count == m_pieces.size()) finish();
        piece& one = m_pieces[m_count++];
        one.place = to;
        one.address = address;
        one.local = local;
        one.bytes = static_cast<std::uint32_t>(bytes);
    }
    // Waits for all requests. Returns 0 or an errno value.
    int finish() noexcept {
        waiting all(m_count);
        for (std::size_t k = 0; k < m_count; ++k) {
            piece& p = m_pieces[k];
            p.answer.waiter = &all;
            m_memory.send(
                p.place,
                {m_operation, 0, p.address, p.bytes, reinterpret_cast<std::uintptr_t>(p.local), 0},
                p.answer);
        }
        if (m_count != 0) all.answered.wait();
        m_count = 0;
        // relaxed: published by the signal
        if (m_error == 0) m_error = all.error.load(std::memory_order_relaxed);
        return m_error;
    }

private:
    static constexpr std::size_t k_together = 64;

    global_memory& m_memory;
    memory_operation m_operation;
    std::array<piece, k_together> m_pieces;
    std::size_t m_count = 0;
    int m_error = 0;
};

int global_memory::transfer(memory_operation operation, std::uint64_t address, std::byte* local,
                            std::uint64_t bytes) noexcept {
    batch under_way(*this, operation);
    m_table.for_each_part(address, bytes, [&](rank place, std::uint64_t begin, std::uint64_t size) {
        std::uint64_t const most =
            operation == memory_operation::fill ? k_most_filled : m_transport->most_bytes_to(place);
        for (std::uint64_t done = 0; done < size; done += most)
            under_way.add(place, begin + done,
                          local != nullptr ? local + (begin - address) + done : nullptr,
                          std::min(most, size - done));
    });
    return under_way.finish();
}

// --- words ---------------------------------------------------------------------------------------

int global_memory::change(memory_operation operation, std::uint64_t address, unsigned width,
                          std::uint64_t& value, std::uint64_t expected) noexcept {
    std::byte* direct = nullptr;
    if (address % width != 0) return EINVAL;
    if (int const error = locate(address, width, direct)) return error;
    if (direct == nullptr)
        return ask(m_table.place_of(address), {operation, width, address, 0, value, expected},
                   value);
    value = operate(operation, address, width, value, expected);
    return 0;
}

// --- allocation ----------------------------------------------------------------------------------

int global_memory::allocate(std::uint64_t bytes, rank place, std::uint64_t& address) noexcept {
    gmem::segments const* const all = table();
    if (all == nullptr) return error();
    if (bytes == 0) return EINVAL;
    if (bytes > all->size()) return ENOMEM;
    rank leader = leader_of(place == gmem::k_anywhere ? m_here : place);
    rank groups =
        place == gmem::k_anywhere ? (m_count + places_of_group() - 1) / places_of_group() : 1;
    for (;; leader = next_leader(leader)) {
        int const error = allocate_by(leader, bytes, place, address);
        if ((error != ENOMEM && error != EHOSTDOWN) || --groups == 0) return error;
    }
}

int global_memory::allocate_by(rank leader, std::uint64_t bytes, rank place,
                               std::uint64_t& address) noexcept {
    if (leader != m_here)
        return ask(leader, {memory_operation::allocate, 0, place, 0, bytes, 0}, address);
    auto const own = m_manager->allocate(bytes, m_here, place);
    address = own.value;
    return errno_of(own.status);
}

int global_memory::ask_manager(memory_operation operation, std::uint64_t address,
                               std::uint64_t& value) noexcept {
    std::byte* direct = nullptr;
    if (int const error = locate(address, 1, direct)) return error;
    rank const leader = leader_of(m_table.place_of(address));
    if (leader != m_here) return ask(leader, {operation, 0, address, 0, 0, 0}, value);
    auto const own = operation == memory_operation::release ? m_manager->release(address)
                                                            : m_manager->size_of(address);
    value = own.value;
    return errno_of(own.status);
}

int global_memory::release(std::uint64_t address) noexcept {
    std::uint64_t unused = 0;
    return ask_manager(memory_operation::release, address, unused);
}
int global_memory::size_of(std::uint64_t address, std::uint64_t& size) noexcept {
    return ask_manager(memory_operation::size_of, address, size);
}

std::vector<gmem::allocation> global_memory::list_here() {
    if (table() == nullptr || m_manager == nullptr) return {};
    return m_manager->list();
}

} // namespace tulle::gmem_access
