// SPDX-License-Identifier: Apache-2.0
// What is known of descriptors, so that a call need not ask the system first.
// Which files are always ready, such as regular ones, and which are not.
// Which sockets are plain: a call on one waits, and for as long as it takes, since the program has
// set neither O_NONBLOCK nor a limit of time. To ask at each wait costs two system calls, as many
// as the transfer itself, so what has been found is kept while nothing can have changed it:
//   - The socket is of this process alone: it was made by a call that comes by here, and no process
//     has been made since, nor has any descriptor been sent to another one (note_sharing).
//   - Nothing has set a mode or a limit since, of any descriptor: several numbers may mean one
//     socket (note_change).
//   - The number still means that socket: whatever closes it or gives it to another file comes by
//     here (forget), or what the C library closes by itself turns out to be no socket any more.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sys/socket.h>

namespace tulle::posix {

class known_descriptors {
public:
    // Around a call that makes sockets, with these flags (SOCK_NONBLOCK): none of them is of this
    // process alone if another one was made meanwhile. Those of a listener have its limits.
    // acquire, here and in look(): the system is asked after it.
    class making {
    public:
        explicit making(int flags) noexcept
            : m_owners(s_owners.load(std::memory_order_acquire)),
              m_changes(s_changes.load(std::memory_order_acquire)),
              m_are_plain((flags & SOCK_NONBLOCK) == 0) {}
        making(int flags, int listener) noexcept : making(flags) {
            m_have_no_limits = is_plain_socket(listener);
        }
        // `number` may be negative: none has been made.
        void made(int number) const noexcept;

    private:
        std::uint32_t m_owners, m_changes;
        bool m_are_plain;
        bool m_have_no_limits = true;
    };

    // Around a call that makes a process, which has what is open then.
    struct sharing {
        sharing() noexcept { note_sharing(); }
        sharing(sharing const&) = delete;
        sharing& operator=(sharing const&) = delete;
        ~sharing() { note_sharing(); } // what others have opened meanwhile
    };
    // Others may have what is open now, or it may be closed.
    static void note_sharing() noexcept {
        s_owners.fetch_add(1, std::memory_order_release); // pairs with those of making and look
    }
    // A mode or a limit has been set, or may have been.
    static void note_change() noexcept {
        s_changes.fetch_add(1, std::memory_order_release); // pairs with that of look
    }
    // Reads of some socket are to wait for more than one byte (SO_RCVLOWAT).
    static void note_low_mark() noexcept {
        s_have_low_marks.store(true, std::memory_order_relaxed); // relaxed: as in low_mark
    }
    // For how many bytes those of this one wait. relaxed: whoever has set it for a socket that
    // others read has told them of that himself.
    [[nodiscard]] static std::size_t low_mark(int number) noexcept {
        bool const are_any = s_have_low_marks.load(std::memory_order_relaxed);
        return TULLE_UNLIKELY(are_any) ? low_mark_cold(number) : 1;
    }
    // Descriptors may go to another process with this message.
    static void note_sent(msghdr const& message) noexcept;
    // Some may have come with it.
    static void note_received(msghdr const& message) noexcept;
    // The number means another file, or none, or one of which nothing is known.
    static void forget(int number) noexcept;

    // False: it may be none, and the system has to be asked.
    [[nodiscard]] static bool is_plain_socket(int number) noexcept {
        word const* const w = find(number);
        if (w == nullptr) return false;
        // relaxed: a change is a call that has returned before this one was made, or may come after
        // it as well; the same is true of `s_owners`, and of who has written the word.
        return w->load(std::memory_order_relaxed) ==
               known_in(s_owners.load(std::memory_order_relaxed),
                        s_changes.load(std::memory_order_relaxed));
    }
    // What is known before the system is asked.
    struct before_asking {
        std::uint32_t owners, changes;
        std::uint64_t state;
    };
    [[nodiscard]] static before_asking look(int number) noexcept {
        word const* const w = find(number);
        // acquire, all: as in making.
        return {s_owners.load(std::memory_order_acquire), s_changes.load(std::memory_order_acquire),
                w == nullptr ? 0 : w->load(std::memory_order_acquire)};
    }
    // It is a regular file, or a device such as /dev/null, of which neither is waited for. What is
    // none is known as well: the system is asked once.
    [[nodiscard]] static bool is_always_ready(int number) noexcept;
    // It has been found to be a pipe with a name (fifo(7)), by the function above.
    [[nodiscard]] static bool is_named_pipe(int number) noexcept {
        before_asking const now = look(number);
        return now.state == state_of(now.owners, k_is_named_pipe, 0);
    }
    // A call that would wait has asked the system, and found that O_NONBLOCK is not set. The second
    // time this finds out whether there are limits.
    static void note_wait(int number, before_asking const& before) noexcept;

private:
    // For each number: in the upper half the owners in whose time the socket was made, twice, and
    // whether it has waited before; in the lower half the changes after which it was found plain.
    // Or what file it has been found to be in the time of these owners. If the upper half is 0
    // nothing is known, and the lower one changes each time the number is forgotten.
    using word = std::atomic<std::uint64_t>;
    enum : std::uint32_t {
        k_is_made = 1,
        k_has_waited = 2,
        k_is_known = 3,
        k_is_always_ready = 4,
        k_is_other_file = 5,
        k_is_named_pipe = 6,
        k_states = 7
    };
    static constexpr int k_most = 1 << 16; // of higher numbers the system is asked each time

    [[nodiscard]] static constexpr std::uint64_t state_of(std::uint32_t owners, std::uint32_t state,
                                                          std::uint32_t changes) noexcept {
        return std::uint64_t{owners * k_states + state} << 32U | changes;
    }
    [[nodiscard]] static constexpr std::uint64_t known_in(std::uint32_t owners,
                                                          std::uint32_t changes) noexcept {
        return state_of(owners, k_is_known, changes);
    }
    [[nodiscard]] static std::size_t low_mark_cold(int number) noexcept;
    [[nodiscard]] static word* find(int number) noexcept {
        return number >= 0 && number < k_most ? &s_words[number] : nullptr;
    }

    static std::atomic<std::uint32_t> s_owners, s_changes;
    static std::atomic<bool> s_have_low_marks;
    static word s_words[k_most];
};

} // namespace tulle::posix
