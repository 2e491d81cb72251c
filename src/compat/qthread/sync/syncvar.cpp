// SPDX-License-Identifier: Apache-2.0
// Words with their state inside (layout: syncvar_t). The word is changed by compare-and-swap; only
// who must wait, or finds that somebody waits, takes the lock of its shard, where the waiters are,
// in the order of their coming.
//   state 0  full           1  full, and somebody waits until it is empty
//   state 2  empty          3  empty, and somebody waits until it is full
//   INV-1  states 1 and 3 are entered, changed and left under the lock; a waiter of the word is in
//          the shard then, and in no other state
// The bit `lock` is always 0. A waiter is a frame of its thread; who serves it makes its word
// `done` full, as the last access.
#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/result.hpp"
#include "compat/qthread/threads/pending_results.hpp"

#include <qthread/hash.h>

#include <tulle/full_empty.hpp>
#include <tulle/schedule_point.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

namespace tulle::compat {

namespace {

using bits = std::uint64_t;

constexpr bits k_waited = 1, k_empty = 2; // of the state

constexpr bits state_of(bits word) noexcept { return (word >> 1U) & 7; }
constexpr bits data_of(bits word) noexcept { return word >> 4U; }
constexpr bits make(bits data, bits state) noexcept { return (data << 4U) | (state << 1U); }
constexpr bool is_empty(bits word) noexcept { return (state_of(word) & k_empty) != 0; }
constexpr bool is_waited(bits word) noexcept { return (state_of(word) & k_waited) != 0; }

enum class operation : std::uint8_t { read_ff, read_fe, write_ef, write_f, increment, empty, fill };

constexpr bool may_go(operation what, bits word) noexcept {
    switch (what) {
        case operation::read_ff:
        case operation::read_fe: return !is_empty(word);
        case operation::write_ef: return is_empty(word);
        default: return true;
    }
}

// What the word is afterwards, as if nobody waited; `value` is what is given or found.
bits apply(operation what, bits word, bits& value) noexcept {
    bits const data = data_of(word);
    switch (what) {
        case operation::read_ff: value = data; return make(data, 0);
        case operation::read_fe: value = data; return make(data, k_empty);
        // Fills a word that somebody waits for, and leaves the state of others.
        case operation::increment:
            value = INT64TOINT60(data + value);
            return make(value, is_waited(word) ? 0 : state_of(word));
        case operation::empty: return make(data, k_empty);
        case operation::fill: return make(data, 0);
        default: return make(value, 0);
    }
}

struct waiter {
    syncvar_t const* of;
    operation what;
    bits value;
    waiter* next = nullptr;
    waiter* previous = nullptr;
    full_empty<bits> done{}; // empty
};

struct alignas(64) shard {
    base::spin_lock lock; // guards the list
    base::intrusive_list<&waiter::next, &waiter::previous> waiters;
};
using served_waiters = base::intrusive_stack<&waiter::next>;

shard& shard_of(syncvar_t const* v) noexcept {
    static constinit std::array<shard, 64> s_shards{};
    return s_shards[qt_hash64(reinterpret_cast<std::uintptr_t>(v)) % s_shards.size()];
}

// Pairs with change.
bits load(syncvar_t* v) noexcept { return __atomic_load_n(&v->u.w, __ATOMIC_ACQUIRE); }
bool change(syncvar_t* v, bits& before, bits after) noexcept {
    // Pairs with load and itself.
    return __atomic_compare_exchange_n(&v->u.w, &before, after, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

// The next one that may go: readers first, as they change nothing, then the oldest. Null: nobody.
// Under the lock.
waiter* pick(shard const& s, syncvar_t const* v, bits word) noexcept {
    waiter* chosen = nullptr;
    for (waiter& w : s.waiters) {
        if (w.of != v || !may_go(w.what, word)) continue;
        if (w.what == operation::read_ff) return &w;
        if (chosen == nullptr) chosen = &w;
    }
    return chosen;
}

bool is_waited_for(shard const& s, syncvar_t const* v) noexcept {
    return std::any_of(s.waiters.begin(), s.waiters.end(),
                       [v](waiter const& w) { return w.of == v; });
}

// Goes on with all that may go; they are moved to `served`. Whether somebody is left. Under the
// lock.
bool serve(shard& s, syncvar_t const* v, bits& word, served_waiters& served) noexcept {
    while (waiter* const w = pick(s, v, word)) {
        word = apply(w->what, word, w->value);
        s.waiters.remove(*w);
        served.push(*w);
    }
    return is_waited_for(s, v);
}

void wake(served_waiters served) noexcept {
    while (waiter* const w = served.pop()) {
        bits const value = w->value;
        w->done.write_ef(value);
    }
}

enum class outcome { done, refused, queued };

// Under the lock. `self` null: never waits. Another thread may change the word as long as nobody
// waits for it.
outcome perform(shard& s, syncvar_t* v, operation what, bits& value, waiter* self,
                served_waiters& served) noexcept {
    bits before = load(v);
    for (;;) {
        if (!may_go(what, before)) {
            if (self == nullptr) return outcome::refused;
            if (!is_waited(before) && !change(v, before, before | (k_waited << 1U))) continue;
            s.waiters.push_back(*self);
            return outcome::queued;
        }
        bits found = value;
        bits after = apply(what, before, found);
        if (is_waited(before) && serve(s, v, after, served)) after |= k_waited << 1U;
        if (!is_waited(before) && !change(v, before, after)) continue;
        // INV-1; pairs with load.
        if (is_waited(before)) __atomic_store_n(&v->u.w, after, __ATOMIC_RELEASE);
        value = found;
        return outcome::done;
    }
}

bool run_slowly(syncvar_t* v, operation what, bits& value, bool waits) noexcept {
    waiter self{v, what, value};
    shard& s = shard_of(v);
    served_waiters served;
    outcome result = outcome::refused;
    {
        std::lock_guard const held(s.lock);
        result = perform(s, v, what, value, waits ? &self : nullptr, served);
    }
    wake(served);
    if (result == outcome::queued) {
        waiting_mark const mark;
        value = self.done.read_fe();
    }
    return result != outcome::refused;
}

// False: the state was not the right one, and it is not to wait.
bool run(syncvar_t* v, operation what, bits& value, bool waits) noexcept {
    schedule_point();
    for (bits before = load(v); !is_waited(before) && may_go(what, before);) {
        bits found = value;
        bits const after = apply(what, before, found);
        if (after == before || change(v, before, after)) {
            value = found;
            return true;
        }
    }
    return run_slowly(v, what, value, waits);
}

int read(uint64_t* dest, syncvar_t* src, operation what, bool waits = true) noexcept {
    if (!is_object<syncvar_t>(src) || !is_object_or_null(dest)) return QTHREAD_BADARGS;
    bits value = 0;
    if (waits && is_empty(load(src))) run_pending_result(src);
    if (!run(src, what, value, waits)) return QTHREAD_OPFAIL;
    if (dest != nullptr) *dest = value;
    return QTHREAD_SUCCESS;
}

// A value of more than 60 bits does not fit.
int write(syncvar_t* dest, bits value, operation what, bool waits = true) noexcept {
    if (!is_object<syncvar_t>(dest)) return QTHREAD_BADARGS;
    if (INT64TOINT60(value) != value) return QTHREAD_OVERFLOW;
    return run(dest, what, value, waits) ? QTHREAD_SUCCESS : QTHREAD_OPFAIL;
}
int write_from(syncvar_t* dest, uint64_t const* src, operation what, bool waits = true) noexcept {
    return is_object(src) ? write(dest, *src, what, waits) : QTHREAD_BADARGS;
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;

int qthread_syncvar_status(syncvar_t* const v) {
    return is_object<syncvar_t>(v) && !is_empty(load(v)) ? 1 : 0;
}
int qthread_syncvar_empty(syncvar_t* restrict dest) { return write(dest, 0, operation::empty); }
int qthread_syncvar_fill(syncvar_t* restrict dest) { return write(dest, 0, operation::fill); }

int qthread_syncvar_writeEF(syncvar_t* restrict dest, uint64_t const* restrict src) {
    return write_from(dest, src, operation::write_ef);
}
int qthread_syncvar_writeEF_const(syncvar_t* restrict dest, uint64_t src) {
    return write(dest, src, operation::write_ef);
}
int qthread_syncvar_writeEF_nb(syncvar_t* restrict dest, uint64_t const* restrict src) {
    return write_from(dest, src, operation::write_ef, false);
}
int qthread_syncvar_writeEF_const_nb(syncvar_t* restrict dest, uint64_t src) {
    return write(dest, src, operation::write_ef, false);
}
int qthread_syncvar_writeF(syncvar_t* restrict dest, uint64_t const* restrict src) {
    return write_from(dest, src, operation::write_f);
}
int qthread_syncvar_writeF_const(syncvar_t* restrict dest, uint64_t src) {
    return write(dest, src, operation::write_f);
}

int qthread_syncvar_readFF(uint64_t* restrict dest, syncvar_t* restrict src) {
    return read(dest, src, operation::read_ff);
}
int qthread_syncvar_readFF_nb(uint64_t* restrict dest, syncvar_t* restrict src) {
    return read(dest, src, operation::read_ff, false);
}
int qthread_syncvar_readFE(uint64_t* restrict dest, syncvar_t* restrict src) {
    return read(dest, src, operation::read_fe);
}
int qthread_syncvar_readFE_nb(uint64_t* restrict dest, syncvar_t* restrict src) {
    return read(dest, src, operation::read_fe, false);
}

uint64_t qthread_syncvar_incrF(syncvar_t* restrict operand, uint64_t inc) {
    if (!is_object<syncvar_t>(operand)) return 0;
    bits value = inc;
    static_cast<void>(run(operand, operation::increment, value, true));
    return value;
}
