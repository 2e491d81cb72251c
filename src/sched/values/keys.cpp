// SPDX-License-Identifier: Apache-2.0
#include "sched/values/keys.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace tulle::sched {

struct thread_values {
    struct entry {
        std::uint32_t sequence = 0; // of the key that the value was stored for
        void* value = nullptr;
    };
    std::uint32_t count;
    entry entries[1]; // `count` of them
};

namespace {

using destructor = void (*)(void*);

// The low two bits of a sequence are the state of the slot; each life of a slot is four further
// than the one before.
constexpr std::uint32_t k_state_mask = 3;
constexpr std::uint32_t k_free = 0;
constexpr std::uint32_t k_in_the_making = 1;
constexpr std::uint32_t k_live = 2;
constexpr std::uint32_t k_life = 4;

struct key_slot {
    std::atomic<std::uint32_t> sequence{k_free};
    std::atomic<destructor> destroy{nullptr};
};

constinit std::array<key_slot, k_most_keys> g_slots; // zero at rest; no destructor runs at exit

std::uint32_t index_of(key k) noexcept { return static_cast<std::uint32_t>(k); }
std::uint32_t sequence_of(key k) noexcept { return static_cast<std::uint32_t>(k >> 32U); }

// acquire pairs with the release in create_key: the destructor is visible.
bool is_live(std::uint32_t index, std::uint32_t sequence) noexcept {
    return g_slots[index].sequence.load(std::memory_order_acquire) == sequence;
}
bool is_key(key k) noexcept {
    return index_of(k) < k_most_keys && (sequence_of(k) & k_state_mask) == k_live;
}

bool try_create(std::uint32_t index, key& made, destructor destroy) noexcept {
    key_slot& slot = g_slots[index];
    // relaxed: the exchange decides.
    std::uint32_t found = slot.sequence.load(std::memory_order_relaxed);
    if ((found & k_state_mask) != k_free) return false;
    // acquire pairs with the release in delete_key.
    if (!slot.sequence.compare_exchange_strong(
            found, found + k_in_the_making, std::memory_order_acquire, std::memory_order_relaxed))
        return false;
    slot.destroy.store(destroy, std::memory_order_relaxed); // relaxed: published by the next line
    std::uint32_t const sequence = found + k_live;
    slot.sequence.store(sequence, std::memory_order_release); // pairs with is_live
    made = (std::uint64_t{sequence} << 32U) | index;
    return true;
}

constexpr std::size_t bytes_for(std::uint32_t count) noexcept {
    return sizeof(thread_values) + (count - 1) * sizeof(thread_values::entry);
}

// Room for the value at `index`; false: no memory.
bool grow(thread_identity& thread, std::uint32_t index) noexcept {
    thread_values* const old = thread.has(k_has_values) ? thread.values : nullptr;
    std::uint32_t const had = old == nullptr ? 0 : old->count;
    if (index < had) return true;
    std::uint32_t count = had == 0 ? 4 : had;
    while (count <= index) count *= 2;
    auto* const larger = static_cast<thread_values*>(std::realloc(old, bytes_for(count)));
    if (larger == nullptr) return false;
    for (std::uint32_t k = had; k < count; ++k) larger->entries[k] = {};
    larger->count = count;
    thread.values = larger;
    thread.at_end |= k_has_values;
    return true;
}

// One round; whether a destructor was called. A destructor may store values, so the array is found
// afresh each time.
bool destroy_values(thread_identity& thread) noexcept {
    bool called = false;
    for (std::uint32_t k = 0; k < thread.values->count; ++k) {
        auto const found = std::exchange(thread.values->entries[k], {});
        if (found.value == nullptr || !is_live(k, found.sequence)) continue;
        // relaxed: ordered by is_live.
        destructor const destroy = g_slots[k].destroy.load(std::memory_order_relaxed);
        if (destroy == nullptr) continue;
        destroy(found.value);
        called = true;
    }
    return called;
}

} // namespace

int create_key(key& made, destructor destroy) noexcept {
    for (std::uint32_t k = 0; k < k_most_keys; ++k) {
        if (try_create(k, made, destroy)) return 0;
    }
    return EAGAIN;
}

int delete_key(key deleted) noexcept {
    if (!is_key(deleted)) return EINVAL;
    std::uint32_t expected = sequence_of(deleted);
    std::uint32_t const next = expected - k_live + k_life;
    // release pairs with the acquire in try_create.
    bool const done = g_slots[index_of(deleted)].sequence.compare_exchange_strong(
        expected, next, std::memory_order_release, std::memory_order_relaxed);
    return done ? 0 : EINVAL;
}

int set_value(thread_identity& thread, key wanted, void* value) noexcept {
    std::uint32_t const index = index_of(wanted);
    if (!is_key(wanted) || !is_live(index, sequence_of(wanted))) return EINVAL;
    if (value == nullptr && value_of(thread, wanted) == nullptr) return 0;
    if (!grow(thread, index)) return ENOMEM;
    thread.values->entries[index] = {sequence_of(wanted), value};
    return 0;
}

void* value_of(thread_identity const& thread, key wanted) noexcept {
    std::uint32_t const index = index_of(wanted);
    if (!thread.has(k_has_values) || index >= thread.values->count) return nullptr;
    auto const& found = thread.values->entries[index];
    return found.sequence == sequence_of(wanted) && is_live(index, found.sequence) ? found.value
                                                                                   : nullptr;
}

void end_values(thread_identity& thread) noexcept {
    if (!thread.has(k_has_values)) return;
    for (int round = 0; round < k_destructor_rounds && destroy_values(thread); ++round) {}
    thread.at_end &= static_cast<std::uint8_t>(~k_has_values);
    std::free(std::exchange(thread.values, nullptr));
}

} // namespace tulle::sched
