// SPDX-License-Identifier: Apache-2.0
// Permits for threads, in columns: of each column at most so many are taken. A thread holds one
// from when it is admitted until it ends. A thread that finds none waits; one that holds a permit
// itself lends it to the thread that it wants to start, and waits until it has one again.
// A permit that comes free goes
//   1. back to the lender, if it still waits for it: else all permits could end up with parents
//   whose
//      children wait for a permit
//   2. to the first thread that waits for one of this column, be it a newcomer or a lender
//   3. to the thread that comes next
// A lender is served by 2 only when its child has begun, so that the child knows that it has no
// lender any more.
//   INV-1  taken <= most in each column; while somebody waits for a column, all its permits are
//          taken
#pragma once

#include "wait/wait_list.hpp"

#include <tulle/detail/permit_holder.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tulle::group {

inline constexpr std::size_t k_any_column = ~std::size_t{0};

template <class Parking> class permits {
    using node = wait::waiter<Parking>;

public:
    using member = detail::permit_holder;

    struct lender;
    // A thread that waits for a permit.
    struct request : node {
        std::size_t wanted = k_any_column;
        std::size_t got = 0;
        lender* lends = nullptr; // this is the request of a lender
    };
    // A thread that has lent its permit. It lies in that thread's frame until wait_back returns.
    struct lender : request {
        explicit lender(std::size_t own) noexcept {
            this->wanted = own;
            this->lends = this;
        }
        member* child = nullptr; // when it has begun
        bool is_back = false;
        bool is_parked = false;
    };

    permits(std::size_t columns, std::size_t most) : m_columns(columns), m_most(most) {}

    [[nodiscard]] std::size_t columns() const noexcept { return m_columns.size(); }
    [[nodiscard]] std::size_t most() const noexcept { return m_most; }
    [[nodiscard]] std::size_t taken() noexcept {
        std::lock_guard const held(m_lock);
        std::size_t all = 0;
        for (column const& c : m_columns) all += c.taken;
        return all;
    }

    // Takes a free permit and returns its column. k_any_column: there is none; `otherwise` has run
    // under the lock.
    template <class F>
    [[nodiscard]] std::size_t try_take(std::size_t wanted, F otherwise) noexcept {
        std::lock_guard const held(m_lock);
        std::size_t const found = take_free(wanted);
        if (found == k_any_column) otherwise();
        return found;
    }
    // Takes a permit, and waits for one if need be.
    [[nodiscard]] std::size_t take(std::size_t wanted) noexcept {
        request self;
        self.wanted = wanted;
        wait::park(reason(), self, m_lock, [this, &self] { return enter(self); });
        return self.got;
    }
    // Takes a permit, and waits for one until the limit. k_any_column: it was reached.
    [[nodiscard]] std::size_t take_until(std::size_t wanted, wait::limit<Parking> until) noexcept {
        wait::timed_waiter<Parking, request> self(until);
        self.wanted = wanted;
        bool const served = wait::park_until(
            reason(), self, m_lock, list_of(wanted), [this, &self] { return enter(self); }, [] {});
        return served ? self.got : k_any_column;
    }

    // A member's thread calls this when it begins. `of_permit`: the lender of its permit, or null.
    void begin(member& self, lender* of_permit) noexcept {
        if (of_permit == nullptr) return;
        std::unique_lock held(m_lock);
        self.lender = of_permit;
        of_permit->child = &self;
        bool const served = of_permit->is_parked && serve_or_queue(*of_permit);
        auto const thread = of_permit->thread;
        if (served) static_cast<void>(of_permit->try_wake());
        held.unlock();
        if (served) Parking::resume(thread);
    }
    // The thread calls this when it ends. `pass(column)` is called under the lock, and returns true
    // if it gives the permit to another thread itself.
    template <class Pass> void end(member& self, Pass& pass) noexcept {
        std::unique_lock held(m_lock);
        auto* const back = static_cast<lender*>(self.lender);
        node* const next = back != nullptr ? return_to(*back) : next_holder(self.column, pass);
        resume(next, held);
    }
    // Gives back the permit of a thread that was never started.
    template <class Pass> void give_back(std::size_t column_of_permit, Pass& pass) noexcept {
        std::unique_lock held(m_lock);
        node* const next = next_holder(column_of_permit, pass);
        resume(next, held);
    }
    // The lender calls this after it has started the child, or run it.
    void wait_back(lender& self) noexcept {
        wait::park(reason(), self, m_lock, [this, &self] {
            if (self.is_back) return false;
            self.is_parked = true;
            return self.child == nullptr || !serve_or_queue(self);
        });
    }

private:
    struct column {
        std::size_t taken = 0;
        wait::wait_list<Parking> waiting;
    };

    [[nodiscard]] wait::wait_reason reason() const noexcept {
        return {wait::wait_kind::group_permit, this};
    }
    [[nodiscard]] wait::wait_list<Parking>& list_of(std::size_t wanted) noexcept {
        return wanted == k_any_column ? m_waiting_for_any : m_columns[wanted].waiting;
    }
    // All functions that follow are called under the lock.
    [[nodiscard]] std::size_t take_free(std::size_t wanted) noexcept {
        std::size_t const found = wanted == k_any_column ? emptiest() : wanted;
        if (m_columns[found].taken == m_most) return k_any_column;
        ++m_columns[found].taken;
        return found;
    }
    // The column with the fewest taken permits; of several, another one each time.
    [[nodiscard]] std::size_t emptiest() noexcept {
        std::size_t best = m_turn++ % m_columns.size();
        for (std::size_t k = 0; k < m_columns.size(); ++k)
            if (m_columns[k].taken < m_columns[best].taken) best = k;
        return best;
    }
    // True: the caller waits.
    [[nodiscard]] bool enter(request& r) noexcept {
        r.got = take_free(r.wanted);
        if (r.got != k_any_column) return false;
        queue(r);
        return true;
    }
    void queue(request& r) noexcept {
        r.since = ++m_tickets;
        list_of(r.wanted).push_back(r);
    }
    // True: the lender has a permit again.
    [[nodiscard]] bool serve_or_queue(lender& l) noexcept {
        if (enter(l)) return false;
        l.child->lender = nullptr;
        return true;
    }
    // Gives the permit back to its lender. Returns the thread to resume, or null.
    [[nodiscard]] node* return_to(lender& l) noexcept {
        l.is_back = true;
        if (!l.is_parked) return nullptr;
        list_of(l.wanted).unlink(l);
        static_cast<void>(l.try_wake());
        return &l;
    }
    template <class Pass> [[nodiscard]] node* next_holder(std::size_t free, Pass& pass) noexcept {
        if (pass(free)) return nullptr;
        request* const next = pop_next(free);
        if (next == nullptr) {
            --m_columns[free].taken;
            return nullptr;
        }
        next->got = free;
        if (next->lends != nullptr) next->lends->child->lender = nullptr;
        return next;
    }
    // Takes the request that has waited longest, and ends its wait.
    [[nodiscard]] request* pop_next(std::size_t free) noexcept {
        for (;;) {
            wait::wait_list<Parking>& list = older(m_columns[free].waiting, m_waiting_for_any);
            node* const first = list.first();
            if (first == nullptr) return nullptr;
            list.unlink(*first);
            if (first->try_wake()) return static_cast<request*>(first);
        }
    }
    [[nodiscard]] static wait::wait_list<Parking>& older(wait::wait_list<Parking>& a,
                                                         wait::wait_list<Parking>& b) noexcept {
        if (b.empty()) return a;
        return a.empty() || b.first()->since < a.first()->since ? b : a;
    }
    static void resume(node* next, std::unique_lock<typename Parking::lock>& held) noexcept {
        auto const thread = next != nullptr ? next->thread : nullptr;
        held.unlock();
        if (thread != nullptr) Parking::resume(thread);
    }

    std::vector<column> m_columns;
    std::size_t m_most;
    typename Parking::lock m_lock; // guards the rest
    wait::wait_list<Parking> m_waiting_for_any;
    std::uint64_t m_tickets = 0;
    std::size_t m_turn = 0;
};

} // namespace tulle::group
