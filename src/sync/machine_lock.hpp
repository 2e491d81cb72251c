// SPDX-License-Identifier: Apache-2.0
// A lock in two levels, for processes on several machines, or threads of several places: then
// "machine" and "process" mean place and thread. Processes of one machine take turns at the
// machine's share of the lock, in memory that they have in common. Who has the share asks the home
// for the lock, for its machine. The lock goes home with each unlock, or stays with the machine,
// whose processes take it without the home, until another machine wants it. Then it leaves when
// none of them waits, or after so many more turns. It stays if it is contended, or where a machine
// has taken it often with no other one between; not any more once a machine that kept it has taken
// it seldom. Messages between machines may overtake each other.
// Sources: hierarchical and contention-sensitive locks: N. Ekström, "Improving DSZOOM's run time
// system", 2004, section 4, but for what makes a lock stay that is not contended; the bound on
// turns: Radović and Hagersten, "Efficient synchronization for nonuniform communication
// architectures", SC 2002.
#pragma once

#include "base/spin_lock.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <mutex>

namespace tulle::sync {

// How a machine has the lock.
enum class stay : std::uint8_t {
    nowhere,      // it has not
    once,         // until the next unlock
    until_wanted, // until another machine wants it
};

enum class left : std::uint8_t {
    not_held, // nobody of this machine had locked it
    stays,
    goes_home,         // the caller tells the home, and how
    goes_home_in_vain, // likewise: it was here to stay, and was seldom taken
};
[[nodiscard]] constexpr bool goes_home(left how) noexcept { return how >= left::goes_home; }

// What comes of waiting with a limit.
struct entered {
    bool has_share;
    left otherwise = left::stays; // too late: what becomes of the lock, as after an unlock
};

// A threshold of contention.
inline constexpr int k_never_stays = INT_MAX;
// So often a machine takes a lock in a row if it pays that the lock stays there: another one, which
// waits until it has been recalled, waits longer than to ask the home takes.
inline constexpr std::uint8_t k_often = 4;

// Local: a lock for processes of one machine, free if its bytes are zero, as is the share.
template <class Machine, class Local> class lock_share {
    template <class T> using atomic = typename Machine::template atomic<T>;
    template <class T> using plain = typename Machine::template plain<T>;

public:
    // Of those that use one machine only.
    [[nodiscard]] Local& local() noexcept { return m_local; }

    // Waits for the share. True: the machine has the lock already. Otherwise the caller asks the
    // home, and then calls arrive(). `was_taken`: another process of this machine had the share.
    [[nodiscard]] bool enter(bool& was_taken) noexcept {
        was_taken = !m_local.try_lock();
        if (was_taken) {
            // relaxed: counted before the lock is taken, which orders what follows.
            m_waiting.fetch_add(1, std::memory_order_relaxed);
            m_local.lock();
            m_waiting.fetch_sub(1, std::memory_order_relaxed);
        }
        return is_found_here();
    }
    // With the share: whether the machine has the lock already, which the caller takes then.
    [[nodiscard]] bool is_found_here() noexcept {
        if (!is_held_here()) return false;
        if (m_times.load() < k_often) m_times.store(static_cast<std::uint8_t>(m_times.load() + 1));
        return true;
    }
    // Without waiting, or until Local's limit. True: the caller has the share, and goes on as after
    // enter(), with what is_found_here() says.
    [[nodiscard]] bool try_enter() noexcept { return m_local.try_lock(); }
    template <class Limit>
    [[nodiscard]] entered enter_until(Limit const& limit, bool& was_taken) noexcept {
        was_taken = !m_local.try_lock();
        if (!was_taken) return {true};
        m_waiting.fetch_add(1, std::memory_order_relaxed); // relaxed, both: as in enter
        bool const has_share = m_local.lock_until(limit);
        m_waiting.fetch_sub(1, std::memory_order_relaxed);
        if (has_share) return {true};
        // Who has unlocked meanwhile may have left the lock here for this waiter.
        return {false, look_again()};
    }
    // Instead of arrive(): the home has not given the lock.
    void leave_share() noexcept { static_cast<void>(m_local.unlock()); }
    // `is_wanted`: already. A recall may have come before.
    void arrive(stay how, bool is_wanted) noexcept {
        // relaxed: under the share; recall() reads it there.
        m_stay.store(how, std::memory_order_relaxed);
        m_times.store(is_wanted ? k_often : std::uint8_t{1}); // then nobody has the chance
        if (is_wanted) m_is_wanted.store(1, std::memory_order_relaxed);
    }
    // Asked by whoever would unlock, which may be another process than the one that has locked it,
    // as long as it is known to be locked.
    [[nodiscard]] bool is_held_here() const noexcept {
        // relaxed: that it was locked happens before.
        return m_stay.load(std::memory_order_relaxed) != stay::nowhere;
    }
    // `most`: turns of this machine while others want the lock.
    [[nodiscard]] left unlock(int most) noexcept {
        // relaxed, both: as above.
        if (!is_held_here() || !m_local.looks_held()) return left::not_held;
        bool const is_wanted = m_is_wanted.load(std::memory_order_relaxed) != 0;
        if (is_wanted) m_turns.store(m_turns.load() + 1);
        bool const goes = m_stay.load(std::memory_order_relaxed) == stay::once ||
                          (is_wanted && (m_turns.load() >= most || !is_waited_for()));
        left const how = goes ? leave() : left::stays;
        static_cast<void>(m_local.unlock());
        return goes ? how : look_again();
    }
    // By any process of this machine; does not wait. The lock goes home, or stays: then it goes
    // later, if it is here.
    [[nodiscard]] left recall() noexcept {
        m_is_wanted.store(1, std::memory_order_relaxed); // relaxed: the fence follows
        Machine::fence_seq_cst();                        // pairs with that of unlock
        return leave_if_free();
    }

private:
    [[nodiscard]] bool is_waited_for() const noexcept {
        return m_waiting.load(std::memory_order_relaxed) != 0; // relaxed: see unlock
    }
    [[nodiscard]] left look_again() noexcept {
        Machine::fence_seq_cst(); // pairs with that of recall
        // relaxed, both: after the fence. Who waits here unlocks later, or comes too late, and
        // looks then.
        if (m_is_wanted.load(std::memory_order_relaxed) == 0 || is_waited_for()) return left::stays;
        return leave_if_free();
    }
    // With the share. `stays`: it is not here.
    left leave() noexcept {
        // relaxed, all: others see it with the share.
        stay const was = m_stay.load(std::memory_order_relaxed);
        m_stay.store(stay::nowhere, std::memory_order_relaxed);
        m_is_wanted.store(0, std::memory_order_relaxed);
        m_turns.store(0);
        if (was == stay::nowhere) return left::stays;
        return was == stay::once || m_times.load() >= k_often ? left::goes_home
                                                              : left::goes_home_in_vain;
    }
    // Who has the share looks again when it unlocks.
    [[nodiscard]] left leave_if_free() noexcept {
        if (!m_local.try_lock()) return left::stays;
        left const how = leave();
        static_cast<void>(m_local.unlock());
        return how;
    }

    Local m_local; // the share: held by whoever has the lock, and while it comes and goes
    atomic<std::uint32_t> m_waiting{0}; // for the share
    atomic<std::uint32_t> m_is_wanted{0};
    plain<std::int32_t> m_turns{0}; // since it was wanted; this and the next under the share
    plain<std::uint8_t> m_times{0}; // that it was taken since it has come; up to k_often
    atomic<stay> m_stay{stay::nowhere};
};

// Which machine has the lock, and who waits for it, at its home. Entry: an element of a list, with
// `after`; `machine`, for which it was made, and from where the lock can be recalled; and `stays`,
// `is_wanted`, which are the home's while it waits. Zero bytes are a free one.
template <class Machine, class Entry> class lock_home {
    template <class T> using plain = typename Machine::template plain<T>;
    using section = std::lock_guard<base::basic_spin_lock<Machine>>;

public:
    static constexpr int k_nowhere = -1;

    struct answer {
        bool is_granted = false; // otherwise the entry is told, when it has the lock
        stay how = stay::once;
        int recall_at = k_nowhere; // the caller recalls the lock from there: it stays until wanted
    };

    // For the machine of the entry. `is_contended` there; `threshold`: how often more it must be
    // found contended than not before it stays anywhere. `may_pay`: that the lock stays where it is
    // taken often, whence it can be recalled soon.
    [[nodiscard]] answer take(Entry& own, bool is_contended, int threshold,
                              bool may_pay = true) noexcept {
        section const held(m_lock);
        bool const is_taken = m_is_taken.load();
        note(is_taken || is_contended, threshold);
        if (may_pay && m_last.load() == own.machine + 1 && m_times.load() + 1 >= k_often)
            m_pays.store(true);
        bool const stays =
            threshold != k_never_stays && (m_pays.load() || m_contention.load() >= threshold);
        stay const how = stays ? stay::until_wanted : stay::once;
        if (!is_taken) {
            give(own, stays);
            return {true, how, k_nowhere};
        }
        own.stays.store(stays);
        append(own);
        int const from = m_may_be_recalled.load() ? m_last.load() - 1 : k_nowhere;
        m_may_be_recalled.store(false);
        return {false, how, from};
    }
    // The entry waits no longer. False: it has the lock, and is told.
    [[nodiscard]] bool withdraw(Entry& own) noexcept {
        section const held(m_lock);
        Entry* before = nullptr;
        Entry* at = m_first.load();
        while (at != nullptr && at != &own) {
            before = at;
            at = static_cast<Entry*>(at->after.load());
        }
        if (at == nullptr) return false;
        auto* const behind = static_cast<Entry*>(own.after.load());
        before != nullptr ? before->after.store(behind) : m_first.store(behind);
        return true;
    }
    // By the machine that has it. Whom to tell, that it has the lock now, and whether it is wanted
    // already; or null.
    [[nodiscard]] Entry* release(left how) noexcept {
        section const held(m_lock);
        if (how == left::goes_home_in_vain) {
            m_pays.store(false);
            m_contention.store(0);
        }
        m_is_taken.store(false);
        m_may_be_recalled.store(false);
        Entry* const next = m_first.load();
        if (next == nullptr) return nullptr;
        m_first.store(static_cast<Entry*>(next->after.load()));
        // A lock that is only contended goes on without a recall.
        bool const is_wanted = m_first.load() != nullptr || !m_pays.load();
        next->is_wanted.store(is_wanted);
        give(*next, next->stays.load() && !is_wanted); // wanted, it leaves by itself
        return next;
    }
    // The machine that has it.
    [[nodiscard]] int keeper() noexcept {
        section const held(m_lock);
        return m_is_taken.load() ? m_last.load() - 1 : k_nowhere;
    }

private:
    void give(Entry const& to, bool may_be_recalled) noexcept {
        bool const is_same = m_last.load() == to.machine + 1;
        int const times = is_same ? std::min(m_times.load() + 1, int{k_often}) : 1;
        m_is_taken.store(true);
        m_last.store(to.machine + 1);
        m_times.store(static_cast<std::uint8_t>(times));
        m_may_be_recalled.store(may_be_recalled);
    }
    void note(bool is_contended, int threshold) noexcept {
        int const before = m_contention.load();
        if (before >= threshold) return; // until it has stayed in vain
        m_contention.store(is_contended ? before + 1 : before - static_cast<int>(before != 0));
    }
    void append(Entry& own) noexcept {
        own.after.store(nullptr);
        if (m_first.load() == nullptr) return m_first.store(&own);
        auto* last = m_first.load();
        while (last->after.load() != nullptr) last = static_cast<Entry*>(last->after.load());
        last->after.store(&own);
    }

    base::basic_spin_lock<Machine> m_lock; // guards the rest
    plain<std::int32_t> m_last{0};         // 1 more than the machine that has it, or had it last
    plain<std::int32_t> m_contention{0};   // so many more found it taken than found it free
    plain<bool> m_is_taken{false};
    plain<bool> m_may_be_recalled{false};
    plain<bool> m_pays{false};      // to let it stay
    plain<std::uint8_t> m_times{0}; // that this machine has asked for it in a row; up to k_often
    plain<Entry*> m_first{nullptr};
};

} // namespace tulle::sync
