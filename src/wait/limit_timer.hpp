// SPDX-License-Identifier: Apache-2.0
// What ends a wait early: its node in the timer queue, and the one in the list of what can be
// cancelled.
// Part of a waiter's frame.
// Both may call end(), one after the other or at once; a compare-and-swap of the waiter's decides.
#pragma once

#include "wait/cancellation_core.hpp"

#include <tulle/detail/limit.hpp>

#include <atomic>
#include <cstdint>

namespace tulle::wait {

enum class outcome : std::uint32_t { waiting, woken, granted, timed_out, cancelled };

// Parking::cancellation is the list: request, insert, remove, is_requested.
template <class Parking> struct limit {
    std::uint64_t deadline;
    typename Parking::cancellation* token = nullptr;

    constexpr limit(std::uint64_t until, typename Parking::cancellation* with = nullptr) noexcept
        : deadline(until), token(with) {}
    constexpr limit(tulle::detail::limit l) noexcept requires requires {
        Parking::as_cancellation(l.token);
    } : deadline(l.deadline), token(Parking::as_cancellation(l.token)) {}

    [[nodiscard]] bool is_none() const noexcept {
        return deadline == tulle::detail::k_no_deadline && token == nullptr;
    }
    [[nodiscard]] bool is_over() const noexcept {
        if (token != nullptr && token->is_requested()) return true;
        return deadline == 0 ||
               (deadline != tulle::detail::k_no_deadline && Parking::now() >= deadline);
    }
};

template <class Parking> struct limit_timer : Parking::timer, Parking::cancellation::node {
    typename Parking::cancellation* token;
    void (*end)(limit_timer&, outcome why) noexcept; // timed_out or cancelled

    limit_timer(limit<Parking> l, void (*with)(limit_timer&, outcome) noexcept) noexcept
        : token(l.token), end(with) {
        this->deadline = l.deadline;
        this->fire = &on_time;
        this->cancel = &on_cancel;
    }
    [[nodiscard]] limit<Parking> bounds() const noexcept { return {this->deadline, token}; }

    // end() may be called before this returns: keep the frame until the starter has said that it
    // has returned.
    void start() noexcept {
        if (this->deadline != tulle::detail::k_no_deadline) Parking::insert_timer(*this);
        if (token != nullptr) token->insert(*this);
    }
    // Called after start() has returned, or without it. When it returns, end() is over or will
    // never be called.
    void stop() noexcept {
        if (this->deadline != tulle::detail::k_no_deadline) Parking::remove_timer(*this);
        if (token != nullptr) token->remove(*this);
    }

private:
    static void on_time(typename Parking::timer& t) noexcept {
        auto& self = static_cast<limit_timer&>(t);
        self.end(self, outcome::timed_out);
    }
    static void on_cancel(typename Parking::cancellation::node& n) noexcept {
        auto& self = static_cast<limit_timer&>(n);
        self.end(self, outcome::cancelled);
    }
};

} // namespace tulle::wait
