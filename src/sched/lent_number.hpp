// SPDX-License-Identifier: Apache-2.0
// Programs tell workers apart by their numbers, and keep data for each without a lock. A thread
// that blocks its worker on purpose lends the number to a stand-in, a worker that has none. What
// runs on the stand-in may know the number until that worker stands by, or blocks on purpose, too;
// so whoever takes the number back before has to leave the lender, which stands by until then.
// Nobody holds anything meanwhile: the thread that has left is ready, for any worker that may run
// it. All steps are made under one lock, but number(); tests/model/lent_number_test.cpp.
#pragma once

namespace tulle::sched {

// Of one worker, as a lender and as a stand-in.
class lent_number {
public:
    explicit lent_number(int own) noexcept : m_own(own) {}
    lent_number(lent_number const&) = delete;
    lent_number& operator=(lent_number const&) = delete;

    // --- a lender --------------------------------------------------------------------------------
    [[nodiscard]] bool is_lent() const noexcept { return m_stand_in != nullptr; }
    // Until it is lent or taken back: a worker that comes to stand by is to stand in.
    void want_stand_in() noexcept { m_wants_stand_in = true; }
    [[nodiscard]] bool wants_stand_in() const noexcept { return m_wants_stand_in; }
    [[nodiscard]] int index_of_stand_in() const noexcept { return m_stand_in->m_own; }
    // To a worker that stands by, or that has nothing else to run, and stands in for nobody.
    void lend_to(lent_number& stand_in) noexcept {
        m_wants_stand_in = false;
        m_stand_in = &stand_in;
        stand_in.m_lender = this;
    }
    enum class taken_back {
        at_once, // the stand-in has not got the number, and will not
        later    // when stand_in.end() has returned this lender
    };
    [[nodiscard]] taken_back take_back() noexcept {
        m_wants_stand_in = false;
        if (m_stand_in == nullptr) return taken_back::at_once;
        if (m_stand_in->m_is_used) {
            m_stand_in->m_is_recalled = true;
            return taken_back::later;
        }
        part();
        return taken_back::at_once;
    }

    // --- a stand-in ------------------------------------------------------------------------------
    [[nodiscard]] bool stands_in() const noexcept { return m_lender != nullptr; }
    [[nodiscard]] int index_of_lender() const noexcept { return m_lender->m_own; }
    // It runs threads from now on; with the number, if there is one. Called by the worker itself,
    // or before it has an OS thread.
    void begin() noexcept { m_is_used = m_lender != nullptr; }
    // It runs none from now on that may use the number. Returns the lender that has waited for
    // that; null: nobody has. Called as begin() is.
    [[nodiscard]] lent_number* end() noexcept {
        m_is_used = false;
        if (!m_is_recalled) return nullptr;
        m_is_recalled = false;
        lent_number* const lender = m_lender;
        lender->part();
        return lender;
    }
    // Only its own OS thread asks, which alone changes what is read here. -1: it has none.
    [[nodiscard]] int number() const noexcept { return m_is_used ? m_lender->m_own : -1; }

    [[nodiscard]] int own() const noexcept { return m_own; }

private:
    void part() noexcept {
        m_stand_in->m_lender = nullptr;
        m_stand_in = nullptr;
    }

    int m_own; // fixed
    lent_number* m_stand_in = nullptr;
    lent_number* m_lender = nullptr;
    bool m_wants_stand_in = false; // without one
    bool m_is_used = false;        // with a lender
    bool m_is_recalled = false;    // with m_is_used
};

} // namespace tulle::sched
