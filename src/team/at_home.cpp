// SPDX-License-Identifier: Apache-2.0
// The calls of <tulle/at_home.hpp> for objects that are no templates: each program would compile
// the same.
#include <tulle/at_home.hpp>

#include <cstdint>

namespace tulle::detail {

// The parts of a mutex without the owner that debug builds check: at its home one thread locks, and
// another one unlocks.
struct mutex_at_home {
    static constexpr bool k_is_held = true;
    static bool run(home_request const& by, limit until, location<mutex> there) {
        auto& m = there.object();
        check_object(there.address());
        if (!m.m_front.try_lock_if_free() && !m.try_lock_cold() &&
            (until.deadline == 0 || !m.lock_until_cold(until)))
            return false;
        try {
            hold_object(there.address(), by.from);
        } catch (...) {
            unlock(m);
            throw;
        }
        return true;
    }
    // The place died with the mutex, as far as anybody can know.
    static void undo(bool /*done*/, location<mutex> /*object*/) noexcept {}
    static void let_go(location<mutex> there, int from) {
        let_object_go(there.address(), from);
        unlock(there.object());
    }

private:
    static void unlock(mutex& m) noexcept {
        unlock_result const how_far = m.m_front.try_unlock();
        if (how_far != unlock_result::done) m.unlock_cold(how_far);
    }
};

struct barrier_at_home {
    static constexpr bool k_is_held = false;
    static bool run(home_request const& /*by*/, limit until, location<barrier> there) {
        return there.object().arrive_and_wait(wait_limit::of(until));
    }
    // The place has arrived, and the others go on.
    static void undo(bool /*done*/, location<barrier> /*object*/) noexcept {}
};

struct signal_at_home {
    static constexpr bool k_is_held = false;
    static bool run(home_request const& /*by*/, limit until, location<signal> there) {
        return there.object().wait(wait_limit::of(until));
    }
    static void undo(bool /*done*/, location<signal> /*object*/) noexcept {} // nothing has changed
};

bool lock_at(int home, location<mutex> there, limit until) {
    return call_home<mutex_at_home>(home, until, there);
}
void unlock_at(int home, location<mutex> there) {
    serve_at(
        place(home), [](location<mutex> m, int from) { mutex_at_home::let_go(m, from); }, there,
        here_index());
}
bool arrive_at(int home, location<barrier> there, limit until) {
    return call_home<barrier_at_home>(home, until, there);
}
bool wait_for_signal_at(int home, location<signal> there, limit until) {
    return call_home<signal_at_home>(home, until, there);
}
bool try_wait_at(int home, location<signal> there) {
    return serve_at(
        place(home), [](location<signal> s) { return s.object().try_wait(); }, there);
}
void add_signalers_at(int home, location<signal> there, std::uint32_t more) {
    serve_at(
        place(home),
        [](location<signal> s, std::uint32_t count) { s.object().add_signalers(count); }, there,
        more);
}

} // namespace tulle::detail
