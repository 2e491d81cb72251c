// SPDX-License-Identifier: Apache-2.0
//
// Workers of this process that take work for all places of a virtual network in turn.
#pragma once

#include "base/idle_poller.hpp"
#include "loopback_places.hpp"
#include "sched/scheduler.hpp"

#include <cstdint>
#include <mutex>

// The workers are those of all places: each round of a search looks for one of these.
class worker_of_all_places final : public tulle::base::idle_poller {
public:
    void open(loopback_places& all) {
        std::lock_guard const held(m_lock);
        m_all = &all;
    }
    void close() {
        std::lock_guard const held(m_lock);
        m_all = nullptr;
    }
    bool poll() noexcept override { return false; } // the service threads do
    bool poll_between() noexcept override { return false; }
    [[nodiscard]] std::uint64_t expects_until() const noexcept override { return 0; }
    void let_others_run() noexcept override {}
    void begin_watch() noexcept override {}
    void end_watch(bool has_work) noexcept override {
        for_each([has_work](auto& work) {
            has_work ? work.wake_up() : work.rest();
            return false;
        });
    }
    bool take_work(bool is_idle) noexcept override {
        return for_each([is_idle](auto& work) { return work.take(is_idle); });
    }
    [[nodiscard]] bool set_wake_flags() noexcept override {
        bool any = false;
        for_each([&any](auto& work) {
            any = work.set_wake_flags() || any;
            return false;
        });
        return any;
    }
    [[nodiscard]] bool has_work() const noexcept override {
        return for_each([](auto& work) { return work.is_there(); });
    }

private:
    template <class F> bool for_each(F f) const noexcept {
        std::lock_guard const held(m_lock);
        if (m_all == nullptr) return false;
        int const count = static_cast<int>(m_all->network().count());
        int const first = ++m_turn;
        for (int k = 0; k < count; ++k) {
            if (f(m_all->services((first + k) % count).work)) return true;
        }
        return false;
    }
    mutable std::mutex m_lock; // guards both
    mutable unsigned short m_turn = 0;
    loopback_places* m_all = nullptr;
};

// A base before `started`: workers may still look at it when the places are gone.
class looks_for_all_places {
protected:
    void begin_looking(loopback_places& at) {
        m_poller.open(at);
        tulle::sched::scheduler::instance().set_idle_poller(&m_poller);
    }
    void end_looking() {
        tulle::sched::scheduler::instance().set_idle_poller(nullptr);
        m_poller.close();
    }

private:
    worker_of_all_places m_poller;
};
