// SPDX-License-Identifier: Apache-2.0
// In debug builds: which addresses are used as locks, to find threads that use them as full/empty
// words as well. An address counts from before its lock is tried until before it is released; while
// it is being released it counts for lock() only, as the next user may go on already.
#pragma once

#include "base/spin_lock.hpp"

#include <tulle/detail/thread_core.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <unordered_map>

namespace tulle::sync {

#ifdef NDEBUG
inline constexpr bool k_check_addresses = false;
#else
inline constexpr bool k_check_addresses = true;
#endif

class locked_addresses {
public:
    [[nodiscard]] static locked_addresses& instance() noexcept; // never destroyed

    // Called before the lock is tried. `is_empty` is called when nobody else uses the address as a
    // lock, and says whether it is empty all the same.
    template <class F> void will_lock(std::uintptr_t address, F is_empty) noexcept {
        if (is_foreign(address, is_empty)) refuse_lock(address);
        add_user(address);
    }
    void has_locked(std::uintptr_t address, thread_id self) noexcept;
    void has_not_locked(std::uintptr_t address) noexcept;
    void will_unlock(std::uintptr_t address) noexcept; // ends the program if nobody has locked it
    void has_unlocked(std::uintptr_t address) noexcept;
    // Called before a full/empty operation.
    void check_word(std::uintptr_t address) noexcept {
        // relaxed: a thread that uses an address as both has seen it counted
        if (m_count.load(std::memory_order_relaxed) != 0) check_word_slowly(address);
    }
    [[nodiscard]] thread_id holder(std::uintptr_t address) noexcept; // 0: not known
    void repair() noexcept;                                          // in a child process

private:
    struct entry {
        std::uint32_t users = 0;     // hold it, or try to
        std::uint32_t releasing = 0; // are about to be out of the unlock
        thread_id holder = 0;
    };
    struct shard {
        base::spin_lock lock; // guards the rest
        std::unordered_map<std::uintptr_t, entry> entries;
        std::uint64_t changes = 0;
        bool is_blind = false; // in a child process: it was being changed at the fork
    };

    [[nodiscard]] shard& shard_of(std::uintptr_t address) noexcept {
        return m_shards[(address >> 3U) % m_shards.size()];
    }
    template <class F> void change(std::uintptr_t address, F f) noexcept;
    void add_user(std::uintptr_t address) noexcept;
    // If nothing has changed meanwhile, the word was empty while nobody had locked it.
    template <class F> [[nodiscard]] bool is_foreign(std::uintptr_t address, F is_empty) noexcept {
        std::uint64_t before = 0, after = 0;
        return !is_used(address, before) && is_empty() && !is_used(address, after) &&
               before == after;
    }
    [[nodiscard]] bool is_used(std::uintptr_t address, std::uint64_t& changes) noexcept;
    [[noreturn]] static void refuse_lock(std::uintptr_t address) noexcept;
    void check_word_slowly(std::uintptr_t address) noexcept;

    std::array<shard, 64> m_shards;
    std::atomic<std::uint64_t> m_count{0}; // of all entries
};

} // namespace tulle::sync
