// SPDX-License-Identifier: Apache-2.0
// Global memory as one place sees it. What loads and stores reach is read and written by them. For
// the rest, and for allocations, places ask each other: one message there and one back for each
// piece, served by the polling thread, so that they need no thread of a place that computes.
// It is mapped when it is used for the first time, at each place.
#pragma once

#include "base/spin_lock.hpp"
#include "gmem/manager.hpp"
#include "gmem/segments.hpp"
#include "net/transport.hpp"
#include "os/fixed_range.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tulle::messenger {

class endpoint;

} // namespace tulle::messenger

namespace tulle::gmem_access {

using messenger::endpoint;
using net::packet;
using net::rank;

struct memory_settings {
    std::uint64_t bytes = std::uint64_t{16} << 20U; // of all places together
    rank group = 0;                                 // places that are managed together; 0: all
    gmem::algorithm algorithm = gmem::algorithm::first_fit;
    bool reports = false; // at the end
    bool is_low = false;  // at addresses below 4 GiB
};

enum class memory_operation : std::uint8_t {
    get,
    put,
    fill,
    add,
    exchange,
    compare_exchange,
    allocate,
    release,
    size_of
};

class global_memory {
public:
    // Null: there is one place. Throws nothing; what cannot be had is told at first use.
    global_memory(endpoint* carrier, memory_settings const& chosen) noexcept;
    global_memory(global_memory const&) = delete;
    global_memory& operator=(global_memory const&) = delete;
    ~global_memory();

    // The table, mapped if need be. Null: it cannot be; error() says why.
    [[nodiscard]] gmem::segments const* table() noexcept {
        auto const* const found = m_shown.load(std::memory_order_acquire); // pairs with map
        return found != nullptr ? found : map();
    }
    [[nodiscard]] int error() noexcept;
    [[nodiscard]] memory_settings const& settings() const noexcept { return m_settings; }

    // --- by threads; each an errno value, 0: done ------------------------------------------------
    // EINVAL: null, or more than there is. EFAULT: not in global memory. Else: it cannot be mapped.
    // `direct` null: loads and stores do not reach it all.
    [[nodiscard]] int locate(std::uint64_t address, std::uint64_t bytes,
                             std::byte*& direct) noexcept;
    [[nodiscard]] int read(std::byte* to, std::uint64_t from, std::uint64_t bytes) noexcept;
    [[nodiscard]] int write(std::byte const* from, std::uint64_t to, std::uint64_t bytes) noexcept;
    [[nodiscard]] int clear(std::uint64_t address, std::uint64_t bytes) noexcept;
    // Changes a word of `width` bytes (4, 8), aligned, which one place has. `value`: the operand,
    // then what was there before.
    [[nodiscard]] int change(memory_operation operation, std::uint64_t address, unsigned width,
                             std::uint64_t& value, std::uint64_t expected) noexcept;
    // ENOMEM: no hole is large enough, in no group, or at that place. EINVAL: nothing is asked for.
    // This and the others: EHOSTDOWN: a place that was asked has died.
    [[nodiscard]] int allocate(std::uint64_t bytes, rank place, std::uint64_t& address) noexcept;
    // EINVAL: no allocation begins there. EFAULT: not in global memory. `size`: that was asked for.
    [[nodiscard]] int release(std::uint64_t address) noexcept;
    [[nodiscard]] int size_of(std::uint64_t address, std::uint64_t& size) noexcept;

    // The allocations in the group that this place leads; throws std::bad_alloc.
    [[nodiscard]] std::vector<gmem::allocation> list_here();
    [[nodiscard]] rank places_of_group() const noexcept;
    // Called at the end: prints, if that was asked for, what is allocated in the group that this
    // place leads.
    void report() noexcept;

private:
    struct waiting;
    struct asked;
    struct piece;
    struct request;
    class batch;

    [[nodiscard]] gmem::segments const* map() noexcept;
    [[nodiscard]] std::uintptr_t address() const noexcept; // where it is to lie
    [[nodiscard]] int map_alone(std::uint64_t each) noexcept;
    [[nodiscard]] int map_over(std::uint64_t each);
    [[nodiscard]] bool leads() const noexcept;
    [[nodiscard]] rank leader_of(rank place) const noexcept {
        return place / places_of_group() * places_of_group();
    }
    [[nodiscard]] rank next_leader(rank after) const noexcept;
    [[nodiscard]] bool reaches(std::uint64_t address, std::uint64_t bytes) const noexcept;
    [[nodiscard]] int ask(rank place, request const& wanted, std::uint64_t& value) noexcept;
    [[nodiscard]] int allocate_by(rank leader, std::uint64_t bytes, rank place,
                                  std::uint64_t& address) noexcept;
    [[nodiscard]] int ask_manager(memory_operation operation, std::uint64_t address,
                                  std::uint64_t& value) noexcept;
    [[nodiscard]] int transfer(memory_operation operation, std::uint64_t address, std::byte* local,
                               std::uint64_t bytes) noexcept;
    void send(rank to, request const& wanted, asked& answer) noexcept;
    [[nodiscard]] std::uint64_t operate(memory_operation operation, std::uint64_t address,
                                        unsigned width, std::uint64_t value,
                                        std::uint64_t expected) noexcept;
    // Handlers of messages.
    void serve(packet const& head, std::byte const* payload) noexcept;
    void take_answer(packet const& head, std::byte const* payload) noexcept;
    void serve_memory(packet const& head, std::byte const* payload) noexcept;
    void serve_manager(packet const& head) noexcept;
    void answer(rank to, packet const& head, int error, std::uint64_t value,
                std::byte const* bytes = nullptr, std::uint32_t size = 0) noexcept;

    endpoint* m_carrier;
    net::transport* m_transport;
    memory_settings m_settings;
    rank m_here;
    rank m_count;
    std::atomic<gmem::segments const*> m_shown{nullptr}; // &m_table, once it is there
    base::spin_lock m_map_lock;                          // guards the next ones until then
    int m_error = 0;
    bool m_reaches_all = false;
    gmem::segments m_table;
    os::fixed_range m_own; // with one place
    std::unique_ptr<gmem::manager> m_manager;
};

// The global memory of the place whose messages these are.
[[nodiscard]] global_memory& memory_of(endpoint const& e) noexcept;
// The global memory of the caller's place; starts the run time if need be.
[[nodiscard]] global_memory& memory_of_caller();
// Takes what the options say; called before the process becomes a place, or uses global memory.
void set_memory_settings(memory_settings const& chosen) noexcept;
[[nodiscard]] memory_settings memory_settings_of_process() noexcept;
// Called where there is one place: frees its global memory, after a report if that was asked for.
void forget_memory_of_process() noexcept;

} // namespace tulle::gmem_access
