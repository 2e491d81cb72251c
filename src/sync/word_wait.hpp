// SPDX-License-Identifier: Apache-2.0
// An operation on a full/empty word, from the first attempt to the last wait.
//
// Home: the word with its lock. lock, unlock; under the lock attempt(operation, buffer),
// enqueue(waiter), withdraw(waiter), and for the most frequent case enqueue_first(waiter); without
// it wake(buffer), and get_memory(), which gets what attempt has asked for. unlock() must not touch
// the home after its store: the frame that it is in may be gone.
// k_has_owner: the thread that has emptied the word may use it as a variable. k_is_lock: the word
// is emptied to lock its address.
#pragma once

#include "sync/word_queue.hpp"

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/deadline.hpp>

#include <atomic>
#include <cstdint>

namespace tulle::sync {

enum class word_result {
    done,
    waits,    // it must wait, or has waited until its time was up: nothing was done
    no_memory // nothing was done
};

[[nodiscard]] constexpr bool needs_full(feb_operation operation) noexcept {
    return operation <= feb_operation::write_ff;
}
// The operation may make a full word empty.
[[nodiscard]] constexpr bool empties(feb_operation operation) noexcept {
    return operation == feb_operation::read_fe || operation == feb_operation::empty ||
           operation == feb_operation::purge;
}
// The operation makes an empty word full.
[[nodiscard]] constexpr bool fills(feb_operation operation) noexcept {
    return operation == feb_operation::write_ef || operation == feb_operation::write_f ||
           operation == feb_operation::fill;
}
[[nodiscard]] constexpr wait::wait_kind kind_of(feb_operation operation) noexcept {
    return needs_full(operation) ? wait::wait_kind::word_full : wait::wait_kind::word_empty;
}

template <class Parking, class Home> class word_wait {
public:
    using node = word_waiter<Parking>;

    word_wait(Home& home, void const* object) noexcept : m_home(home), m_object(object) {}

    // no_memory is what get_memory() has failed for.
    [[nodiscard]] word_result perform(feb_operation operation, void* buffer,
                                      limit<Parking> until) noexcept {
        m_home.lock();
        return perform_locked(operation, buffer, until);
    }
    // The caller has taken the lock.
    [[nodiscard]] word_result perform_locked(feb_operation operation, void* buffer,
                                             limit<Parking> until) noexcept {
        word_result const result = m_home.attempt(operation, buffer);
        m_home.unlock();
        return finish(result, operation, buffer, until);
    }
    // Called when the state has been seen to be the wrong one.
    [[nodiscard]] word_result wait(feb_operation operation, void* buffer,
                                   limit<Parking> until) noexcept {
        return finish(word_result::waits, operation, buffer, until);
    }

private:
    struct request {
        Home& home;
        node& self;
        limit_timer<Parking>* ending; // or null
        word_result result = word_result::waits;
    };

    [[nodiscard]] word_result try_once(feb_operation operation, void* buffer) noexcept {
        m_home.lock();
        word_result const result = m_home.attempt(operation, buffer);
        m_home.unlock();
        return result;
    }
    [[nodiscard]] word_result finish(word_result result, feb_operation operation, void* buffer,
                                     limit<Parking> until) noexcept {
        while (result != word_result::done) {
            if (result == word_result::no_memory) {
                if (!m_home.get_memory()) return result;
                result = try_once(operation, buffer);
                continue;
            }
            if (until.is_over()) return result;
            result =
                until.is_none() ? park(operation, buffer) : park_until(operation, buffer, until);
            if (result == word_result::waits) return result;
        }
        // release pairs with B2 of full_empty_word::read_unlocked.
        if (Home::k_has_owner && empties(operation))
            Parking::machine::fence(std::memory_order_release);
        m_home.wake(buffer);
        return result;
    }
    // done: by the caller itself or by another thread for it; or no_memory.
    [[nodiscard]] word_result park(feb_operation operation, void* buffer) noexcept {
        node self;
        suspend(self, operation, buffer, nullptr);
        return m_result;
    }
    [[nodiscard]] word_result park_until(feb_operation operation, void* buffer,
                                         limit<Parking> until) noexcept {
        timed_waiter<Parking, node> self(until);
        if (!suspend(self, operation, buffer, &self)) return m_result;
        bool const ended = self.has_ended();
        if (ended) {
            m_home.lock(); // released by the thread that has started the limit
            if (self.linked) m_home.withdraw(self);
            m_home.unlock();
        }
        self.stop();
        return ended ? word_result::waits : word_result::done;
    }
    // True: it has waited; else m_result is what became of another attempt.
    bool suspend(node& self, feb_operation operation, void* buffer,
                 limit_timer<Parking>* ending) noexcept {
        self.wants = operation;
        self.buffer = buffer;
        Parking::set_wait(
            self.thread,
            {Home::k_is_lock ? wait::wait_kind::address_lock : kind_of(operation), m_object});
        request r{m_home, self, ending};
        Parking::suspend(&post, &r, nullptr);
        bool const waited = TULLE_LIKELY(r.result == word_result::waits);
        m_result = waited ? word_result::done : r.result;
        return waited;
    }
    // As soon as the limit runs, the request may be gone; the home stays until the lock is
    // released, and then the waiter may be gone, too.
    static void post(void* argument, void*) noexcept {
        auto& r = *static_cast<request*>(argument);
        Home& home = r.home;
        home.lock();
        if (TULLE_UNLIKELY(!home.enqueue_first(r.self))) return try_again(r);
        if (r.ending != nullptr) r.ending->start();
        home.unlock();
    }
    // post() continues here when other threads wait, or the state is the right one now.
    TULLE_NOINLINE static void try_again(request& r) noexcept {
        Home& home = r.home;
        auto const thread = r.self.thread;
        r.result = home.attempt(r.self.wants, r.self.buffer);
        bool const waits = r.result == word_result::waits;
        if (waits) home.enqueue(r.self);
        if (waits && r.ending != nullptr) r.ending->start();
        home.unlock();
        if (!waits) Parking::resume(thread);
    }

    Home& m_home;
    void const* m_object;
    word_result m_result = word_result::done;
};

} // namespace tulle::sync
