// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/poll_lists.hpp"

#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace tulle::posix {

constinit std::atomic<int> poll_list::s_count{0};

// All that there are.
class poll_lists {
public:
    void add(poll_list& l) noexcept {
        std::lock_guard const held(m_lock);
        m_all.push_back(l);
    }
    void remove(poll_list& l) noexcept {
        std::lock_guard const held(m_lock);
        m_all.remove(l);
    }
    void note_replaced(int number) noexcept {
        std::lock_guard const held(m_lock);
        for (poll_list& l : m_all) {
            if (!l.has(number)) continue;
            l.m_is_old.store(true, std::memory_order_release); // pairs with is_old
            static_cast<void>(l.m_thread.attention.request());
        }
    }

private:
    base::spin_lock m_lock;
    base::intrusive_list<&poll_list::m_next, &poll_list::m_previous> m_all;
};

namespace {

constinit poll_lists s_lists;

} // namespace

poll_list::poll_list(thread& caller, pollfd const* asked, nfds_t count) noexcept
    : m_thread(caller), m_asked(asked), m_count(count) {
    s_lists.add(*this);
    // seq_cst: before the epoll is made (note_replaced).
    s_count.fetch_add(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

poll_list::~poll_list() {
    s_count.fetch_sub(1, std::memory_order_relaxed); // relaxed: one more look does no harm
    s_lists.remove(*this);
}

bool poll_list::has(int number) const noexcept {
    return std::any_of(m_asked, m_asked + m_count,
                       [number](pollfd const& asked) { return asked.fd == number; });
}

// Handlers run on a worker only where it is not in here; on other OS threads they are kept out, as
// they may close something, too.
TULLE_COLD void poll_list::note_replaced_cold(int number) noexcept {
    if (self() != nullptr) return s_lists.note_replaced(number);
    static_cast<void>(os::with_signals_blocked([number] {
        s_lists.note_replaced(number);
        return 0;
    }));
}

void poll_list::forget() noexcept {
    s_count.store(0, std::memory_order_relaxed); // relaxed: there is one thread
    ::new (static_cast<void*>(&s_lists)) poll_lists;
}

} // namespace tulle::posix
