// SPDX-License-Identifier: Apache-2.0
// A file descriptor that the run time keeps open for itself. Programs close whatever they find open
// (closefrom, or a loop over all numbers) and count on the next file to get the lowest number that
// is free. So calls that the program makes can ask which numbers are not its own. Where these calls
// come by here, such numbers lie above those that programs use, but for the microseconds in which
// one is opened: the system gives it the lowest number first.
//
// One is opened or closed at a time. is_one waits until that has been done, for_others and fork(2)
// keep others from beginning. What is left is a program that asks about a number that has no file,
// gives up its processor, and closes the number when the run time has opened a file there.
#pragma once

#include <atomic>
#include <type_traits>

#include <signal.h>

namespace tulle::os {

class private_descriptor {
public:
    private_descriptor() noexcept = default;
    // `open` makes a call of the system that opens a file, and returns what this does. A negative
    // number is none, and errno is that of the call. The number may become another one.
    template <class Open>
    requires std::is_invocable_r_v<int, Open>
    explicit private_descriptor(Open open) noexcept {
        change const now;
        take(open());
    }
    private_descriptor(private_descriptor&& other) noexcept;
    private_descriptor& operator=(private_descriptor&& other) noexcept;
    ~private_descriptor() { close(); }

    [[nodiscard]] int number() const noexcept { return m_number; }
    [[nodiscard]] bool is_open() const noexcept { return m_number >= 0; }
    void close() noexcept;

    // From now on they lie high. To be called before the run time starts its OS threads: the system
    // takes milliseconds to enlarge the table of a process that has several.
    static void lie_high() noexcept;

    // Whether the number is one of them, of any OS thread.
    [[nodiscard]] static bool is_one(int number) noexcept {
        // relaxed: who asks while one is opened may have asked before.
        return number >= s_lowest.load(std::memory_order_relaxed) && is_one_cold(number);
    }
    // Calls `close(first, last)`, which returns 0 or not, for each part of this range, ends
    // included, that has none of them. The first result that is not 0 is returned, and what follows
    // is left then. Meanwhile none is opened, and no handler of a signal runs on this OS thread.
    template <class Close>
    [[nodiscard]] static int for_others(unsigned first, unsigned last, Close close) noexcept {
        turn const now;
        for (;;) {
            unsigned const own = next_from(first);
            if (own > last || own == k_none) return close(first, last);
            if (own > first) {
                if (int const result = close(first, own - 1)) return result;
            }
            if (own == last) return 0;
            first = own + 1;
        }
    }

    // Around fork(2). The child has none: forget_all closes those that nobody has closed there, as
    // their owners are in the parent.
    static void lock_for_process_fork() noexcept;
    static void unlock_after_process_fork() noexcept;
    static void forget_all() noexcept;

private:
    static constexpr unsigned k_none = ~0U;

    // No signal's handler may run in it, as it would wait for itself.
    class turn {
    public:
        turn() noexcept;
        ~turn();
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;

    private:
        sigset_t m_before;
    };
    // A turn in which files are opened or closed.
    class change : turn {
    public:
        change() noexcept;
        ~change();
        change(change const&) = delete;
        change& operator=(change const&) = delete;
    };

    [[nodiscard]] static bool is_one_cold(int number) noexcept;
    // The lowest of them from `first` on.
    [[nodiscard]] static unsigned next_from(unsigned first) noexcept;

    // In a change.
    void take(int opened) noexcept;

    // All are at it or above. While one is opened or closed it is below all numbers.
    static std::atomic<int> s_lowest;

    int m_number = -1;
    unsigned m_process = 0; // how many forks lie between the first process and its own
};

} // namespace tulle::os
