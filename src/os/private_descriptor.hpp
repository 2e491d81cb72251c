// SPDX-License-Identifier: Apache-2.0
// A file descriptor that the run time keeps open for itself. Programs close whatever they find open
// (closefrom, or a loop over all numbers) and count on the next file to get the lowest number that
// is free, so calls that the program makes can ask which numbers are not its own, and where these
// calls come by here such numbers lie above those that programs use.
#pragma once

namespace tulle::os {

class private_descriptor {
public:
    private_descriptor() noexcept = default;
    // What a call of the system has returned; a negative number is none. It may become another one.
    explicit private_descriptor(int opened) noexcept;
    private_descriptor(private_descriptor&& other) noexcept;
    private_descriptor& operator=(private_descriptor&& other) noexcept;
    ~private_descriptor() { close(); }

    [[nodiscard]] int number() const noexcept { return m_number; }
    [[nodiscard]] bool is_open() const noexcept { return m_number >= 0; }
    void close() noexcept;

    // From now on they lie high. To be called before there are other OS threads: the system takes
    // milliseconds to enlarge the table of a process that has several.
    static void lie_high() noexcept;

    // Whether the number is one of them, of any OS thread.
    [[nodiscard]] static bool is_one(int number) noexcept;
    // Calls `close(first, last)`, which returns 0 or not, for each part of this range, ends
    // included, that has none of them. The first result that is not 0, and what follows is left
    // then.
    template <class Close>
    [[nodiscard]] static int for_others(unsigned first, unsigned last, Close close) noexcept {
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

private:
    static constexpr unsigned k_none = ~0U;

    // The lowest of them from `first` on.
    [[nodiscard]] static unsigned next_from(unsigned first) noexcept;

    int m_number = -1;
};

} // namespace tulle::os
