// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/files/known_descriptors.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/readable.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "io/reactor.hpp"

#include <cstring>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

namespace tulle::posix {

constinit std::atomic<std::uint32_t> known_descriptors::s_owners{0},
    known_descriptors::s_changes{0};
constinit std::atomic<bool> known_descriptors::s_have_low_marks{false};
constinit known_descriptors::word known_descriptors::s_words[k_most];

void known_descriptors::making::made(int number) const noexcept {
    if (number < 0) return;
    // relaxed: as in is_plain_socket.
    word* const w = m_are_plain ? find(number) : nullptr;
    if (w != nullptr)
        w->store(m_have_no_limits ? known_in(m_owners, m_changes)
                                  : state_of(m_owners, k_is_made, 0),
                 std::memory_order_relaxed);
    else
        forget(number);
    // What the C library has closed by itself may have had the number; a read begins with a try.
    io::reactor::instance().expect_new(number);
    io::reactor::instance().note_socket(number, true);
}

void known_descriptors::forget(int number) noexcept {
    // relaxed, both: likewise. Another word than before, also if nothing was known: whoever asks
    // the system meanwhile must not keep what it has said of the old file.
    if (word* const w = find(number))
        w->store(static_cast<std::uint32_t>(w->load(std::memory_order_relaxed) + 1),
                 std::memory_order_relaxed);
}

namespace {

// Calls `use(numbers, count)` for each list of descriptors that goes with the message.
template <class Use> void for_descriptors(msghdr const& message, Use use) {
    auto& m = const_cast<msghdr&>(message); // the macros of <sys/socket.h> take no other one
    for (cmsghdr* part = CMSG_FIRSTHDR(&m); part != nullptr; part = CMSG_NXTHDR(&m, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
            use(CMSG_DATA(part), (part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
}

// Whether a call on it may end for lack of time.
bool has_limit(int number, int option) noexcept {
    timeval time{};
    socklen_t size = sizeof time;
    return getsockopt(number, SOL_SOCKET, option, &time, &size) != 0 || time.tv_sec != 0 ||
           time.tv_usec != 0;
}

} // namespace

// What the system does not take goes nowhere.
void known_descriptors::note_sent(msghdr const& message) noexcept {
    constexpr std::size_t k_most_beside = std::size_t{1} << 20U;
    if (message.msg_control == nullptr || message.msg_controllen > k_most_beside) return;
    if (!is_readable(message.msg_control, message.msg_controllen)) return;
    for_descriptors(message, [](unsigned char*, std::size_t) { note_sharing(); });
}

void known_descriptors::note_received(msghdr const& message) noexcept {
    for_descriptors(message, [](unsigned char const* numbers, std::size_t count) {
        for (std::size_t k = 0; k != count; ++k) {
            int number = 0;
            std::memcpy(&number, numbers + k * sizeof number, sizeof number);
            forget(number);
        }
    });
}

namespace {

// /dev/null, /dev/zero and /dev/full, by their numbers in Linux.
bool is_null_device(struct stat const& about) noexcept {
    if (!S_ISCHR(about.st_mode) || major(about.st_rdev) != 1) return false;
    auto const which = minor(about.st_rdev);
    return which == 3 || which == 5 || which == 7;
}

// Of one that has none the system keeps the number in a file system of its own.
bool has_name(int pipe) noexcept {
    struct statfs of {};
    return fstatfs(pipe, &of) == 0 && of.f_type != PIPEFS_MAGIC;
}

} // namespace

bool known_descriptors::is_always_ready(int number) noexcept {
    before_asking const before = look(number);
    auto const known = static_cast<std::uint32_t>(before.state >> 32U);
    if (known == before.owners * k_states + k_is_always_ready) return true;
    if (known == before.owners * k_states + k_is_other_file) return false;
    if (known == before.owners * k_states + k_is_named_pipe) return false;
    kept_errno const kept;
    struct stat about {};
    if (fstat(number, &about) != 0) return false;
    bool const is_one = S_ISREG(about.st_mode) || is_null_device(about);
    std::uint32_t const kind = is_one                                        ? k_is_always_ready
                               : S_ISFIFO(about.st_mode) && has_name(number) ? k_is_named_pipe
                                                                             : k_is_other_file;
    // What is known of a socket stays.
    word* const w = S_ISSOCK(about.st_mode) ? nullptr : find(number);
    std::uint64_t expected = before.state; // relaxed: as in note_wait
    if (w != nullptr)
        w->compare_exchange_strong(expected, state_of(before.owners, kind, 0),
                                   std::memory_order_relaxed);
    return is_one;
}

std::size_t known_descriptors::low_mark_cold(int number) noexcept {
    kept_errno const kept;
    int mark = 0;
    socklen_t size = sizeof mark;
    bool const has_one = getsockopt(number, SOL_SOCKET, SO_RCVLOWAT, &mark, &size) == 0 && mark > 1;
    return has_one ? static_cast<std::size_t>(mark) : 1;
}

void known_descriptors::note_wait(int number, before_asking const& before) noexcept {
    word* const w = find(number);
    if (w == nullptr) return;
    auto const is = [&before](std::uint32_t state) noexcept {
        return before.state >> 32U == state_of(before.owners, state, 0) >> 32U;
    };
    std::uint64_t next = 0;
    if (is(k_is_made)) {
        next = state_of(before.owners, k_has_waited, 0);
    } else if (is(k_has_waited) || is(k_is_known)) {
        kept_errno const kept;
        if (has_limit(number, SO_RCVTIMEO) || has_limit(number, SO_SNDTIMEO)) return;
        next = known_in(before.owners, before.changes);
    } else {
        return;
    }
    // Not if the number has been closed meanwhile. relaxed: as in is_plain_socket.
    std::uint64_t expected = before.state;
    w->compare_exchange_strong(expected, next, std::memory_order_relaxed);
}

} // namespace tulle::posix
