// SPDX-License-Identifier: Apache-2.0
// Lists of descriptors that threads wait for by poll. An epoll stands for such a list, and the
// kernel takes a descriptor out of it that another thread closes: what has happened to it just
// before, such as its shutdown, is not told any more. So whoever closes it has the list asked anew.
#pragma once

#include "compat/pthread/thread.hpp"

#include <atomic>

#include <poll.h>

namespace tulle::posix {

// Of the caller, while one exists; it is there before the epoll is made.
class poll_list {
public:
    poll_list(thread& caller, pollfd const* asked, nfds_t count) noexcept;
    poll_list(poll_list const&) = delete;
    poll_list& operator=(poll_list const&) = delete;
    ~poll_list();

    // One of its numbers stands for another file, or for none, and a new epoll is needed.
    [[nodiscard]] bool is_old() const noexcept {
        return m_is_old.load(std::memory_order_acquire); // pairs with note_replaced
    }
    // The number stands for another file by now, or for none. Any OS thread, also in a handler.
    static void note_replaced(int number) noexcept {
        // A full fence, between the caller's system call and this; either it sees a list, or the
        // one who makes it finds the number replaced (poll_list).
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (TULLE_UNLIKELY(s_count.load(std::memory_order_relaxed) != 0)) // relaxed: the fence
            note_replaced_cold(number);
    }
    // In a forked child, whose only thread is the caller: those of others are in the parent.
    static void forget() noexcept;

private:
    friend class poll_lists;
    static void note_replaced_cold(int number) noexcept;
    [[nodiscard]] bool has(int number) const noexcept;

    static constinit std::atomic<int> s_count;

    thread& m_thread;
    pollfd const* const m_asked;
    nfds_t const m_count;
    std::atomic<bool> m_is_old{false};
    poll_list* m_next = nullptr; // both under the lock
    poll_list* m_previous = nullptr;
};

} // namespace tulle::posix
