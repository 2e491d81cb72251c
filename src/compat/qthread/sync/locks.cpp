// SPDX-License-Identifier: Apache-2.0
// Locks by address: the native ones, but where qthread_lock_init() has made a lock for the address.
#include "compat/qthread/sync/locks.hpp"

#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/result.hpp"

#include <tulle/address_lock.hpp>
#include <tulle/mutex.hpp>
#include <tulle/recursive_mutex.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tulle::compat {

namespace {

struct made_lock {
    explicit made_lock(bool recursive) : is_recursive(recursive) {}

    void lock() { is_recursive ? again.lock() : once.lock(); }
    [[nodiscard]] bool try_lock() { return is_recursive ? again.try_lock() : once.try_lock(); }
    void unlock() { is_recursive ? again.unlock() : once.unlock(); }

    bool const is_recursive;
    tulle::mutex once;
    tulle::recursive_mutex again;
};

std::mutex s_table_lock; // guards the table; held for a look only
std::atomic<std::size_t> s_count{0};

std::unordered_map<aligned_t const*, std::shared_ptr<made_lock>>& table() {
    // Threads may outlive static objects.
    static auto* const s_table =
        new std::unordered_map<aligned_t const*, std::shared_ptr<made_lock>>;
    return *s_table;
}

std::shared_ptr<made_lock> find(aligned_t const* a) {
    std::lock_guard const held(s_table_lock);
    auto const at = table().find(a);
    return at == table().end() ? nullptr : at->second;
}

// Calls `use` with the lock of the address, which mostly is the native one.
template <class F> int with_lock(aligned_t const* a, F use) noexcept {
    if (!is_bytes(a, 1)) return QTHREAD_BADARGS;
    return guarded([&] {
        // relaxed: who locks an address knows of its lock_init
        if (s_count.load(std::memory_order_relaxed) != 0) {
            if (auto const made = find(a)) return use(*made);
        }
        tulle::address_lock native(a);
        use(native);
    });
}

} // namespace

void forget_locks() noexcept {
    std::lock_guard const held(s_table_lock);
    table().clear();
    s_count.store(0, std::memory_order_relaxed); // relaxed: as in find
}

} // namespace tulle::compat

using namespace tulle::compat;

int qthread_lock(aligned_t const* a) {
    return with_lock(a, [](auto& l) { l.lock(); });
}

int qthread_trylock(aligned_t const* a) {
    bool done = false;
    int const error = with_lock(a, [&done](auto& l) { done = l.try_lock(); });
    return error != QTHREAD_SUCCESS ? error : done ? QTHREAD_SUCCESS : QTHREAD_OPFAIL;
}

int qthread_unlock(aligned_t const* a) {
    return with_lock(a, [](auto& l) { l.unlock(); });
}

int qthread_lock_init(aligned_t const* a, bool const is_recursive) {
    if (!is_bytes(a, 1)) return QTHREAD_BADARGS;
    bool is_new = false;
    int const error = guarded([&] {
        std::lock_guard const held(s_table_lock);
        is_new = table().try_emplace(a, std::make_shared<made_lock>(is_recursive)).second;
        s_count.store(table().size(), std::memory_order_relaxed); // relaxed: as in find
    });
    return error != QTHREAD_SUCCESS ? error : is_new ? QTHREAD_SUCCESS : QTHREAD_OPFAIL;
}

int qthread_lock_destroy(aligned_t* a) {
    if (!is_bytes(a, 1)) return QTHREAD_BADARGS;
    std::lock_guard const held(s_table_lock);
    table().erase(a);
    s_count.store(table().size(), std::memory_order_relaxed); // relaxed: as in find
    return QTHREAD_SUCCESS;
}
