// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/global_memory.hpp>: errno values become exceptions.
#include "messenger/calls.hpp"
#include "gmem_access/memory.hpp"

#include "base/error.hpp"

#include <tulle/global_memory.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace tulle::gmem_access {

using messenger::endpoint_of_caller;
using messenger::message_kind;

namespace {

base::spin_lock s_process_lock; // guards the next two
memory_settings s_settings;
global_memory* s_alone = nullptr; // with one place, once it is used

std::string hexadecimal(std::uint64_t address) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
    return text.data();
}

// Address 0: an allocation that nobody could make.
[[noreturn]] void refuse_for_death(std::uint64_t address, std::uint64_t bytes) {
    endpoint const& e = *endpoint_of_caller();
    rank first = e.count();
    if (address != 0)
        memory_of_caller().table()->for_each_part(address, bytes,
                                                  [&](rank place, std::uint64_t, std::uint64_t) {
                                                      if (first == e.count() && e.is_dead(place))
                                                          first = place;
                                                  });
    for (rank r = 0; r < e.count() && first == e.count(); ++r)
        if (e.is_dead(r)) first = r;
    e.throw_death(first);
}

[[noreturn]] void refuse(int error, std::uint64_t address, std::uint64_t bytes) {
    if (error == EHOSTDOWN) refuse_for_death(address, bytes);
    std::string const what =
        "tulle: global memory: " + std::to_string(bytes) + " bytes at " + hexadecimal(address);
    if (error == EINVAL)
        throw std::invalid_argument(what +
                                    (address == 0 ? ": a null pointer" : ": there is not so much"));
    if (error == EFAULT) throw std::out_of_range(what + " are not all in it");
    throw std::system_error(error, std::generic_category(),
                            "tulle: global memory cannot be mapped");
}

void check(int error, std::uint64_t address, std::uint64_t bytes) {
    if (error != 0) refuse(error, address, bytes);
}

// This is checked first, where the same errno value would mean something else.
void check_mapped(global_memory& memory, std::uint64_t address, std::uint64_t bytes) {
    if (memory.table() == nullptr) refuse(memory.error(), address, bytes);
}

void check_alignment(std::uint64_t address, std::size_t alignment) {
    if (address % alignment != 0)
        throw std::invalid_argument("tulle: global memory: " + hexadecimal(address) +
                                    " is not aligned to " + std::to_string(alignment) + " bytes");
}

// Runs at the end of the process; threads may be alive and use the memory.
void report_alone() {
    std::lock_guard const held(s_process_lock);
    if (s_alone != nullptr) s_alone->report();
}

global_memory& memory_alone() {
    std::lock_guard const held(s_process_lock);
    if (s_alone != nullptr) return *s_alone;
    s_alone = new global_memory(nullptr, s_settings);
    if (s_settings.reports) std::atexit(&report_alone);
    return *s_alone;
}

memory_operation operation_of(detail::global_change change) noexcept {
    switch (change) {
        case detail::global_change::add: return memory_operation::add;
        case detail::global_change::exchange: return memory_operation::exchange;
        default: return memory_operation::compare_exchange;
    }
}

} // namespace

global_memory& memory_of(endpoint const& e) noexcept {
    return *static_cast<global_memory*>(e.handler_of(message_kind::memory));
}

global_memory& memory_of_caller() {
    endpoint const* const e = endpoint_of_caller();
    return e != nullptr ? memory_of(*e) : memory_alone();
}

void set_memory_settings(memory_settings const& chosen) noexcept {
    std::lock_guard const held(s_process_lock);
    s_settings = chosen;
}
memory_settings memory_settings_of_process() noexcept {
    std::lock_guard const held(s_process_lock);
    return s_settings;
}

void forget_memory_of_process() noexcept {
    std::unique_ptr<global_memory> gone;
    std::lock_guard const held(s_process_lock);
    gone.reset(std::exchange(s_alone, nullptr));
    if (gone != nullptr) gone->report();
}

void global_memory::report() noexcept try {
    // Pairs with map.
    if (!m_settings.reports || m_shown.load(std::memory_order_acquire) == nullptr ||
        m_manager == nullptr)
        return;
    auto const left = m_manager->list();
    std::uint64_t bytes = 0;
    if (left.empty()) return;
    for (auto const& one : left) bytes += one.bytes;
    base::warn("global memory: %zu allocations of %llu bytes together have not been freed",
               left.size(), static_cast<unsigned long long>(bytes));
    constexpr std::size_t k_most_lines = 20;
    for (std::size_t k = 0; k < std::min(left.size(), k_most_lines); ++k)
        base::warn("global memory: %llu bytes at 0x%llx by place %u",
                   static_cast<unsigned long long>(left[k].bytes),
                   static_cast<unsigned long long>(left[k].address), left[k].owner);
} catch (std::bad_alloc const&) {
    base::warn("no memory to report what is left of global memory");
}

} // namespace tulle::gmem_access

namespace tulle::detail {

using gmem_access::memory_of_caller;

void* reach_global(std::uint64_t address, std::size_t bytes, std::size_t alignment) {
    std::byte* direct = nullptr;
    if (int const error = memory_of_caller().locate(address, bytes, direct))
        gmem_access::refuse(error, address, bytes);
    gmem_access::check_alignment(address, alignment);
    return direct;
}

void read_global(void* to, std::uint64_t from, std::size_t bytes) {
    read_global(memory_here(), to, from, bytes);
}
void write_global(void const* from, std::uint64_t to, std::size_t bytes) {
    write_global(memory_here(), from, to, bytes);
}

// memory_of_place is a name for gmem_access::global_memory.
memory_of_place* memory_here() { return reinterpret_cast<memory_of_place*>(&memory_of_caller()); }

void read_global(memory_of_place* by, void* to, std::uint64_t from, std::size_t bytes) {
    if (bytes != 0)
        gmem_access::check(reinterpret_cast<gmem_access::global_memory*>(by)->read(
                               static_cast<std::byte*>(to), from, bytes),
                           from, bytes);
}
void write_global(memory_of_place* by, void const* from, std::uint64_t to, std::size_t bytes) {
    auto* const memory = reinterpret_cast<gmem_access::global_memory*>(by);
    if (bytes != 0)
        gmem_access::check(memory->write(static_cast<std::byte const*>(from), to, bytes), to,
                           bytes);
}

std::uint64_t change_global(global_change change, std::uint64_t address, unsigned width,
                            std::uint64_t value, std::uint64_t expected) {
    gmem_access::check_alignment(address, width);
    gmem_access::check(memory_of_caller().change(gmem_access::operation_of(change), address, width,
                                                 value, expected),
                       address, width);
    return value;
}

std::uint64_t allocate_global(std::size_t bytes, int place, bool cleared) {
    gmem_access::global_memory& memory = memory_of_caller();
    std::uint64_t address = 0;
    gmem_access::check_mapped(memory, address, bytes);
    int error = memory.allocate(bytes, place < 0 ? gmem::k_anywhere : static_cast<net::rank>(place),
                                address);
    if (error == ENOMEM) throw out_of_global_memory();
    if (error == EINVAL)
        throw std::invalid_argument("tulle: global memory: an allocation of no bytes");
    gmem_access::check(error, address, bytes);
    if (cleared) error = memory.clear(address, bytes);
    if (error != 0) static_cast<void>(memory.release(address));
    gmem_access::check(error, address, bytes);
    return address;
}

std::uint64_t reallocate_global(std::uint64_t address, std::size_t bytes) {
    if (address == 0) return allocate_global(bytes, -1, false);
    std::size_t const before = size_of_global(address);
    std::uint64_t const made = allocate_global(bytes, -1, false);
    try {
        std::vector<std::byte> part(std::min({before, bytes, std::size_t{1} << 18U}));
        for (std::size_t done = 0; done < std::min(before, bytes); done += part.size()) {
            std::size_t const size = std::min(part.size(), std::min(before, bytes) - done);
            read_global(part.data(), address + done, size);
            write_global(part.data(), made + done, size);
        }
    } catch (...) {
        free_global(made);
        throw;
    }
    free_global(address);
    return made;
}

namespace {

void check_beginning(int error, std::uint64_t address) {
    if (error == EINVAL)
        throw std::invalid_argument("tulle: global memory: no allocation begins at " +
                                    gmem_access::hexadecimal(address) +
                                    ": it has been freed, or this is inside of one");
    if (error == ENOMEM) throw std::bad_alloc();
    gmem_access::check(error, address, 1);
}

} // namespace

void free_global(std::uint64_t address) {
    gmem_access::check_mapped(memory_of_caller(), address, 1);
    check_beginning(memory_of_caller().release(address), address);
}

std::size_t size_of_global(std::uint64_t address) {
    std::uint64_t size = 0;
    gmem_access::check_mapped(memory_of_caller(), address, 1);
    check_beginning(memory_of_caller().size_of(address, size), address);
    return size;
}

int place_of_global(std::uint64_t address) {
    gmem_access::global_memory& memory = memory_of_caller();
    std::byte* direct = nullptr;
    gmem_access::check(memory.locate(address, 1, direct), address, 1);
    return static_cast<int>(memory.table()->place_of(address));
}

std::size_t bytes_of_global(std::size_t count, std::size_t size) {
    if (count == 0) throw std::invalid_argument("tulle: global memory: no objects are asked for");
    if (count > SIZE_MAX / size) throw out_of_global_memory();
    return count * size;
}

} // namespace tulle::detail

namespace tulle {

namespace {

std::vector<global_allocation> allocations_here() {
    std::vector<global_allocation> all;
    for (auto const& one : gmem_access::memory_of_caller().list_here())
        all.push_back({one.address, one.bytes, static_cast<int>(one.owner)});
    return all;
}

} // namespace

// Places that have memory only lead groups, too.
std::vector<global_allocation> global_allocations() {
    std::vector<global_allocation> all;
    int const places = place_count() + memory_places().size();
    auto const group = static_cast<int>(gmem_access::memory_of_caller().places_of_group());
    for (int leader = 0; leader < places; leader += group) {
        auto const part = detail::serve_at(place(leader), [] { return allocations_here(); });
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

} // namespace tulle
