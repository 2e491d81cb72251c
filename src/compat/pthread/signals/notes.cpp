// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/signals/notes.hpp"

#include "base/spin_lock.hpp"
#include "compat/pthread/signals/uninterrupted.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

namespace tulle::posix::signal_notes {

namespace {

// As many as a process may have at least, by POSIX (_POSIX_SIGQUEUE_MAX is 32), and some more. No
// memory can be had in a handler.
constexpr std::size_t k_room = 1024;

struct note {
    note* next;
    thread const* to;
    int signal;
    siginfo_t about;
};

// How many there are. relaxed, all: whoever is told of a note reads it afterwards.
std::atomic<std::size_t> s_count{0};

base::spin_lock s_lock; // guards all below
std::array<note, k_room> s_notes;
std::size_t s_used = 0; // of these, at some time
note* s_free = nullptr;
note* s_first = nullptr;
note** s_end = &s_first;

template <class F> auto with_lock(F act) noexcept {
    return uninterrupted([&] {
        std::lock_guard const held(s_lock);
        return act();
    });
}

// All with the lock held.

note* make() noexcept {
    if (note* const n = s_free) {
        s_free = n->next;
        return n;
    }
    return s_used < k_room ? &s_notes[s_used++] : nullptr;
}

// The place that leads to the first one from there on; *place is null if there is none.
note** find(note** from, int signal, thread const* to) noexcept {
    while (*from != nullptr && ((*from)->signal != signal || (*from)->to != to))
        from = &(*from)->next;
    return from;
}

void remove(note** place) noexcept {
    note* const n = *place;
    *place = n->next;
    if (s_end == &n->next) s_end = place;
    n->next = s_free;
    s_free = n;
    s_count.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace

bool put(int signal, thread const* to, siginfo_t const& about) noexcept {
    return with_lock([&] {
        if (!is_queued(signal) && *find(&s_first, signal, to) != nullptr) return true;
        note* const n = make();
        if (n == nullptr) return false;
        *n = {nullptr, to, signal, about};
        *s_end = n;
        s_end = &n->next;
        s_count.fetch_add(1, std::memory_order_relaxed);
        return true;
    });
}

found take(int signal, thread const* to, siginfo_t& about) noexcept {
    if (s_count.load(std::memory_order_relaxed) == 0) return found::none;
    return with_lock([&] {
        note** const place = find(&s_first, signal, to);
        if (*place == nullptr) return found::none;
        about = (*place)->about;
        remove(place);
        return *find(place, signal, to) != nullptr ? found::one_of_some : found::last;
    });
}

std::size_t count(int signal, thread const* to) noexcept {
    return with_lock([&] {
        std::size_t all = 0;
        for (note* n = s_first; n != nullptr; n = n->next)
            all += n->signal == signal && n->to == to ? 1 : 0;
        return all;
    });
}

void drop(int signal, thread const* to) noexcept {
    siginfo_t about;
    while (take(signal, to, about) != found::none) {}
}

void drop_all(thread const& to) noexcept {
    if (s_count.load(std::memory_order_relaxed) == 0) return;
    static_cast<void>(with_lock([&] {
        for (note** place = &s_first; *place != nullptr;) {
            if ((*place)->to == &to)
                remove(place);
            else
                place = &(*place)->next;
        }
        return 0;
    }));
}

void forget() noexcept {
    ::new (static_cast<void*>(&s_lock)) base::spin_lock;
    s_count.store(0, std::memory_order_relaxed);
    s_used = 0;
    s_free = s_first = nullptr;
    s_end = &s_first;
}

} // namespace tulle::posix::signal_notes
