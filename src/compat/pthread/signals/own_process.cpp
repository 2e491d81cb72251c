// SPDX-License-Identifier: Apache-2.0
// Signals that a process sends to itself, by kill and sigqueue: whoever gets one has it when the
// call returns, and the caller has handled it if it is the only one that wants it (POSIX, kill).
// The kernel would have given it to some OS thread, from which it comes to its receiver later
// (hand_out.cpp). So the caller looks for the receiver itself:
//   - Main, if it wants the signal or waits for it, has it from the kernel, which prefers it and
//     knows its mask best; if it is the caller, before the call returns.
//   - Otherwise a thread that waits for the signal, the caller, or another thread that wants it.
//   - If there is none, it is left to the kernel, which has it pending then; an OS thread that gets
//     it all the same sends it back at once, and blocks it (leave_to_process).
// Who holds what: during that all signals of the caller's OS thread are blocked, so no handler
// runs, nor jumps out of it. The lock of the blocks, within it that of the notes, and nothing else
// is held. The caller may itself be a handler that the kernel has called, and that has interrupted
// whoever holds the lock of the blocks; so it is tried for a while only (look_soon), and the kernel
// has the signal then, as it had without all this. The lock of the notes is only ever held with all
// signals blocked. Nobody waits for anybody else.
// When handlers run: afterwards, with nothing held, as at any call that may wait, but not where the
// caller is such a handler. They may jump, end the thread, or send signals.
// Why the receiver has it: the signal is noted with it (thread::lent) while it is open, under the
// lock under which it is closed. It looks at what it has been lent after its function, after its
// destructors, and as it closes, when it gives back what has come last.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/signals/uninterrupted.hpp"

namespace tulle::posix {

namespace {

enum class receiver : std::uint8_t { kernel, nobody, caller, another, standard_action };

// Looks at all threads once: the first that waits for it, or else the first that wants it.
class sending {
public:
    sending(thread* caller, siginfo_t const& about) noexcept : m_caller(caller), m_about(about) {}

    [[nodiscard]] receiver give() noexcept {
        m_waiting = m_wanting = nullptr;
        bool const has_looked = thread_blocks::look_soon(
            [](thread& t, void* it) { return static_cast<sending*>(it)->is_enough(t); },
            [](void* it) { static_cast<sending*>(it)->give_to_found(); }, this);
        return has_looked ? m_to : receiver::kernel;
    }

private:
    // With the lock of the blocks held, all of these.
    [[nodiscard]] bool is_enough(thread& t) noexcept {
        signal_set const one = set_of(m_about.si_signo);
        if (waits_for(t, one)) m_waiting = &t;
        if (m_wanting == nullptr && wants(t, one)) m_wanting = &t;
        return m_waiting != nullptr;
    }
    void give_to_found() noexcept {
        bool const is_wanted_here =
            m_caller != nullptr && wants(*m_caller, set_of(m_about.si_signo));
        if (m_waiting != nullptr)
            m_to = give_to(*m_waiting);
        else if (!is_wanted_here && m_wanting == nullptr)
            m_to = receiver::nobody;
        else if (action_of(m_about.si_signo).is_standard())
            m_to = receiver::standard_action;
        else
            m_to = is_wanted_here ? receiver::caller : give_to(*m_wanting);
    }
    // Where there is no room for what is known of it the kernel keeps it.
    [[nodiscard]] receiver give_to(thread& t) const noexcept {
        int const signal = m_about.si_signo;
        if (!signal_notes::put(signal, nullptr, m_about) && is_queued(signal))
            return receiver::kernel;
        lend_noted(t, signal);
        return receiver::another;
    }

    thread* const m_caller; // null: none of the program's
    siginfo_t const& m_about;
    thread* m_waiting = nullptr; // which waits for it
    thread* m_wanting = nullptr;
    receiver m_to = receiver::kernel;
};

receiver give(thread* t, siginfo_t const& about) noexcept {
    sending s(t, about);
    receiver const first = s.give();
    if (first != receiver::nobody) return first;
    note_unwanted(about.si_signo);
    receiver const second = s.give();
    if (second != receiver::nobody) note_wanted(about.si_signo);
    return second;
}

// The kernel delivers it to the caller at once, or to main, or drops it.
bool is_for_kernel(thread const* t, int signal, signal_set blocked_here) noexcept {
    signal_set const one = set_of(signal);
    signal_action const a = action_of(signal);
    if (a.is_ignored() || (a.is_standard() && is_ignored_by_standard(signal))) return true;
    if ((t == nullptr || is_on_own_os_thread()) && (blocked_here & one) == 0) return true;
    bool const is_sent_by_main = t == nullptr && is_main();
    return !is_sent_by_main && (main_wants(one) || main_waits_for(one));
}

// By a process to itself. Whether the caller has done it.
bool is_sent_within(pid_t process, int signal, int code, sigval value) {
    if (!is_started() || !is_signal(signal) || !is_for_threads(signal) ||
        vfork_children::has_caller() || process != getpid())
        return false;
    kept_errno const kept;
    thread* t = self();
    signal_set const blocked_here = mask_in_kernel();
    if (is_for_kernel(t, signal, blocked_here)) return false;
    // Only for a handler that the kernel has called a worker blocks one of these. Such a handler
    // may have interrupted the run time, so others run where that is known to be left.
    if (wakes_left::by_caller() || has_one_of_kernel(blocked_here)) t = nullptr;
    // What has been sent before comes first.
    if (t != nullptr && (signals_for(*t) & set_of(signal)) != 0) run_handlers_at_once(*t);
    siginfo_t about = note_of_own(signal, code);
    if (code == SI_QUEUE) about.si_value = value;
    receiver const by = uninterrupted([&] { return give(t, about); });
    if (by == receiver::caller) handle_at_once(*t, about);
    if (by == receiver::standard_action) act_as_standard(signal);
    return by != receiver::kernel && by != receiver::nobody;
}

} // namespace

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE_WAIT(kill, (pid_t process, int number)) {
    return is_sent_within(process, number, SI_USER, {}) ? 0 : TULLE_LIBC(kill)(process, number);
}

TULLE_INTERPOSE_WAIT(sigqueue, (pid_t process, int number, sigval value)) {
    return is_sent_within(process, number, SI_QUEUE, value)
               ? 0
               : TULLE_LIBC(sigqueue)(process, number, value);
}
