// SPDX-License-Identifier: Apache-2.0
#include "compat/tnt/node_barrier.hpp"

#include "base/last_counts.hpp"
#include "compat/tnt/managed_barrier.hpp"

#include <tnt.h>
#include <tulle/signal.hpp>
#include <tulle/this_thread.hpp>

#include <limits>

namespace tulle::tnt {

namespace {

// One that is in a barrier. It is woken once, when it is let go or becomes the leader; who leads
// from the start is not woken. All but that is guarded by the lock of all barriers.
struct waiter {
    waiter* next = nullptr;
    tulle::signal woken{1};
    int result = 0;
    bool leads = false;
    bool is_released = false;
};

// In the order of their arrival. They are gone as soon as they are woken.
class waiter_list {
public:
    [[nodiscard]] bool is_empty() const noexcept { return m_first == nullptr; }
    [[nodiscard]] waiter* first() const noexcept { return m_first; }
    void push_back(waiter& last) noexcept {
        last.next = nullptr;
        (m_first == nullptr ? m_first : m_last->next) = &last;
        m_last = &last;
    }
    waiter& pop_front() noexcept { return *std::exchange(m_first, m_first->next); }
    void wake_all() noexcept {
        while (!is_empty()) pop_front().woken.notify();
    }

private:
    waiter* m_first = nullptr;
    waiter* m_last = nullptr;
};

// Guarded by the lock of all.
struct node_barrier {
    waiter_list waiters;
    std::uint64_t present = 0;    // of these
    std::uint64_t unreported = 0; // the last ones of these, of which the manager does not know
    bool has_leader = false;
    bool is_leader_calling = false; // it takes along who comes before
    bool has_reporter = false;

    // The first ones are released; who has to be woken is added to `released`.
    void let_go(std::uint64_t threads, int result, waiter_list& released) noexcept {
        for (; threads != 0 && !waiters.is_empty(); --threads, --present) {
            waiter& first = waiters.pop_front();
            first.result = result;
            first.is_released = true;
            if (!first.leads) released.push_back(first);
        }
    }
    // After an error nobody knows what the manager has counted: it is that of all who are here.
    void fail(int error, waiter_list& released) noexcept {
        let_go(std::numeric_limits<std::uint64_t>::max(), error, released);
        unreported = 0;
    }
};

// Call(barrier) at the manager.
template <class Call>
barrier_release ask(number name, std::uint64_t threads, Call /*without captures*/) {
    barrier_release got;
    got.error = guarded([&] {
        got = at(
            place(node_of(name)),
            [](number of, int node, std::uint64_t count) {
                auto const found = registry_of<managed_barrier>().find(of);
                return found == nullptr ? barrier_release{0, false, EINVAL, 0}
                                        : Call{}(*found, of, node, count);
            },
            name, here().index(), threads);
        return got.error;
    });
    return got;
}

// Those in which threads of this node are.
class node_barriers {
public:
    int pass(number name) {
        waiter self;
        std::unique_lock held(m_lock);
        node_barrier& b = m_all[name];
        b.waiters.push_back(self);
        ++b.present;
        ++b.unreported;
        self.leads = !std::exchange(b.has_leader, true);
        if (self.leads) return lead(held, name, b, self);
        if (b.is_leader_calling && !std::exchange(b.has_reporter, true)) report(held, name, b);
        if (held.owns_lock()) held.unlock();
        self.woken.wait();
        if (!self.leads) return self.result;
        held.lock();
        return lead(held, name, b, self);
    }

private:
    using lock = std::unique_lock<tulle::mutex>;

    // With the lock at the beginning, without it in the end.
    int lead(lock& held, number name, node_barrier& b, waiter& self) {
        while (!self.is_released) {
            let_others_come(held, name, b);
            waiter_list released;
            b.is_leader_calling = true;
            barrier_release const got = call(
                held, name, b, [](managed_barrier& at, number of, int node, std::uint64_t threads) {
                    return at.add_and_wait(of, node, threads);
                });
            b.is_leader_calling = false;
            got.error != 0 ? b.fail(got.error, released) : release(name, b, got, released);
            held.unlock();
            released.wake_all();
            held.lock();
        }
        resign(name, b);
        held.unlock();
        return self.result;
    }
    void release(number name, node_barrier& b, barrier_release const& got, waiter_list& released) {
        m_last_rounds.note(name, got.threads);
        waiter* const first = b.waiters.first();
        b.let_go(got.threads, 0, released);
        if (got.has_serial && first != nullptr) first->result = TNT_BARRIER_SERIAL_THREAD;
    }
    // The next one leads, if there is one.
    void resign(number name, node_barrier& b) {
        waiter* const next = b.waiters.first();
        b.has_leader = next != nullptr;
        if (next == nullptr) return end_if_empty(name, b);
        next->leads = true;
        next->woken.notify();
    }

    // With the lock at the beginning, without it in the end.
    void report(lock& held, number name, node_barrier& b) {
        waiter_list released;
        while (b.unreported != 0) {
            let_others_come(held, name, b);
            barrier_release const got = call(
                held, name, b, [](managed_barrier& at, number, int node, std::uint64_t threads) {
                    return at.add(node, threads);
                });
            if (got.error != 0) b.fail(got.error, released);
        }
        b.has_reporter = false;
        end_if_empty(name, b);
        held.unlock();
        released.wake_all();
    }

    // As long as others come, and fewer are here than were in the last round.
    void let_others_come(lock& held, number name, node_barrier const& b) {
        std::uint64_t const expected = m_last_rounds.of(name);
        for (std::uint64_t before = 0; b.present < expected && b.present != before;) {
            before = b.present;
            held.unlock();
            this_thread::yield();
            held.lock();
        }
    }
    // With all that have come since the last call.
    template <class Call>
    barrier_release call(lock& held, number name, node_barrier& b, Call ask_for) {
        std::uint64_t const threads = std::exchange(b.unreported, 0);
        held.unlock();
        barrier_release const got = ask(name, threads, ask_for);
        held.lock();
        return got;
    }
    void end_if_empty(number name, node_barrier const& b) {
        if (b.waiters.is_empty() && !b.has_leader && !b.has_reporter) m_all.erase(name);
    }

    tulle::mutex m_lock; // guards the next one
    std::unordered_map<number, node_barrier> m_all;
    base::last_counts m_last_rounds; // how many of this node were in them
};

// Never destroyed, as threads may outlive static objects.
node_barriers& barriers_of_node() {
    static auto* const s_barriers = new node_barriers;
    return *s_barriers;
}

} // namespace

int pass_barrier(number name) { return is_number(name) ? barriers_of_node().pass(name) : EINVAL; }

} // namespace tulle::tnt
