// SPDX-License-Identifier: Apache-2.0
#include "sync/locked_addresses.hpp"

#include "base/error.hpp"

#include <mutex>
#include <new>

namespace tulle::sync {

namespace {

void* pointer(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }

} // namespace

// This is no static of a function: a child process may have been forked off while another thread
// was in its initialisation.
locked_addresses& locked_addresses::instance() noexcept {
    static constinit std::atomic<locked_addresses*> s_all{nullptr};
    // Pairs with the exchange.
    if (locked_addresses* const made = s_all.load(std::memory_order_acquire)) return *made;
    auto* const fresh = new locked_addresses;
    locked_addresses* first = nullptr;
    // release pairs with the load; acquire: another thread was faster.
    if (s_all.compare_exchange_strong(first, fresh, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return *fresh;
    delete fresh;
    return *first;
}

// Ends the program without memory: a debug build only.
template <class F> void locked_addresses::change(std::uintptr_t address, F f) noexcept {
    shard& s = shard_of(address);
    std::lock_guard const held(s.lock);
    if (s.is_blind) return;
    auto const [at, is_new] = s.entries.try_emplace(address);
    m_count.fetch_add(is_new ? 1 : 0, std::memory_order_relaxed); // relaxed: see check_word
    ++s.changes;
    f(at->second);
    if (at->second.users + at->second.releasing != 0) return;
    s.entries.erase(at);
    m_count.fetch_sub(1, std::memory_order_relaxed); // relaxed: see check_word
}

bool locked_addresses::is_used(std::uintptr_t address, std::uint64_t& changes) noexcept {
    shard& s = shard_of(address);
    std::lock_guard const held(s.lock);
    changes = s.changes;
    return s.is_blind || s.entries.contains(address);
}

void locked_addresses::add_user(std::uintptr_t address) noexcept {
    change(address, [](entry& e) { ++e.users; });
}
void locked_addresses::has_locked(std::uintptr_t address, thread_id self) noexcept {
    change(address, [self](entry& e) { e.holder = self; });
}
void locked_addresses::has_not_locked(std::uintptr_t address) noexcept {
    change(address, [](entry& e) { --e.users; });
}
void locked_addresses::will_unlock(std::uintptr_t address) noexcept {
    change(address, [address](entry& e) {
        if (e.users == 0)
            base::fatal_misuse("address %p is unlocked, but nobody has locked it",
                               pointer(address));
        --e.users;
        ++e.releasing;
        e.holder = 0;
    });
}
void locked_addresses::has_unlocked(std::uintptr_t address) noexcept {
    change(address, [](entry& e) { --e.releasing; });
}

// A report calls this, perhaps in a copy of the process, in which nobody gives a lock back.
thread_id locked_addresses::holder(std::uintptr_t address) noexcept {
    shard& s = shard_of(address);
    if (!s.lock.try_lock()) return 0;
    std::lock_guard const held(s.lock, std::adopt_lock);
    auto const at = s.entries.find(address);
    return at == s.entries.end() ? 0 : at->second.holder;
}

void locked_addresses::check_word_slowly(std::uintptr_t address) noexcept {
    shard& s = shard_of(address);
    std::lock_guard const held(s.lock);
    auto const at = s.entries.find(address);
    if (at != s.entries.end() && at->second.users != 0)
        base::fatal_misuse(
            "address %p is used as a full/empty word while %u threads have locked it, or "
            "are about to; use one or the other",
            pointer(address), at->second.users);
}

void locked_addresses::refuse_lock(std::uintptr_t address) noexcept {
    base::fatal_misuse(
        "address %p is locked while it is an empty full/empty word, and 0 threads have "
        "locked it; use one or the other",
        pointer(address));
}

// Nobody waits in the child; a thread that held an address still does.
void locked_addresses::repair() noexcept {
    for (shard& s : m_shards) {
        if (s.lock.looks_held()) {
            ::new (&s) shard;
            s.is_blind = true;
        }
        for (auto& [address, e] : s.entries) e.users = e.users != 0 ? 1 : 0;
    }
}

} // namespace tulle::sync
