// SPDX-License-Identifier: Apache-2.0
// Several messages in one call, and transfers between two descriptors, of which the kernel can be
// asked not to wait for pipes only: what goes to others goes in parts for which a descriptor has
// room if it says that it has some.
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/files/known_descriptors.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

namespace {

using namespace tulle::posix;

// --- messages ------------------------------------------------------------------------------------

int receive_messages(int socket, mmsghdr* first, unsigned count, int flags, timespec* time) {
    thread* const t = self();
    if (t == nullptr || (flags & (MSG_DONTWAIT | MSG_WAITALL | MSG_ERRQUEUE | MSG_OOB)) != 0 ||
        known_descriptors::low_mark(socket) > 1 || count == 0 ||
        (time != nullptr && (!is_time(*time) || time->tv_sec < 0)))
        return test_cancel(t), TULLE_LIBC(recvmmsg)(socket, first, count, flags, time);
    std::uint64_t const deadline = time == nullptr ? tulle::wait::k_never : deadline_after(*time);
    unsigned done = 0;
    ssize_t result = 0;
    do {
        auto const some = [&](int with) {
            return TULLE_LIBC(recvmmsg)(socket, first + done, count - done, flags | with, nullptr);
        };
        result = until_done(
            socket, direction::in, [&] { return some(MSG_DONTWAIT); },
            [&] { return some(MSG_WAITFORONE); });
        if (result > 0) done += static_cast<unsigned>(result);
        // As in the kernel, the time is looked at after a message.
    } while (result > 0 && done != count && (flags & MSG_WAITFORONE) == 0 &&
             tulle::os::monotonic_ns() < deadline);
    if (time != nullptr && result > 0) *time = left_until(deadline);
    return done != 0 ? static_cast<int>(done) : static_cast<int>(result);
}

std::size_t size_of(msghdr const& m) noexcept {
    return tulle::posix::size_of(m.msg_iov, m.msg_iovlen);
}

int send_messages(int socket, mmsghdr* first, unsigned count, int flags) {
    count = std::min(count, k_most_of_call); // as the system does
    if (!is_readable(first, count * sizeof *first))
        return test_cancel(self()), TULLE_LIBC(sendmmsg)(socket, first, count, flags);
    bool const has_large = std::any_of(first, first + count, [](mmsghdr const& m) {
        return m.msg_hdr.msg_iovlen > remaining_parts::k_most;
    });
    std::for_each_n(first, count,
                    [](mmsghdr const& m) { known_descriptors::note_sent(m.msg_hdr); });
    test_cancel(self());
    if (self() == nullptr || (flags & k_sent_by_kernel) != 0 || has_large)
        return TULLE_LIBC(sendmmsg)(socket, first, count, flags);
    for (unsigned done = 0; done != count;) {
        int const now =
            TULLE_LIBC(sendmmsg)(socket, first + done, count - done, flags | MSG_DONTWAIT);
        if (now > 0) done += static_cast<unsigned>(now);
        bool const is_full = now < 0 && errno == EAGAIN && !never_waits(socket);
        if (now < 0 && !is_full) return done != 0 ? static_cast<int>(done) : now;
        mmsghdr& last = first[is_full ? done : done - 1];
        std::size_t const sent = is_full ? 0 : last.msg_len;
        if (!is_full && sent >= size_of(last.msg_hdr)) continue;
        ssize_t const more = send_message(socket, &last.msg_hdr, flags, sent);
        if (more < 0) return done != 0 ? static_cast<int>(done) : -1;
        last.msg_len = static_cast<unsigned>(sent) + static_cast<unsigned>(more);
        if (is_full) ++done;
    }
    return static_cast<int>(count);
}

// --- from one descriptor to another --------------------------------------------------------------

constexpr std::size_t k_part = 16384; // what fits where poll(2) says that something does

// It takes all in one call, which does not wait: pipes are asked not to, and files never do.
bool takes_all(int number) noexcept {
    struct stat about {};
    return fstat(number, &about) == 0 &&
           (S_ISFIFO(about.st_mode) || S_ISREG(about.st_mode) || S_ISBLK(about.st_mode));
}

bool is_pipe(int number) noexcept {
    struct stat about {};
    return fstat(number, &about) == 0 && S_ISFIFO(about.st_mode);
}

struct move {
    thread& caller;
    int from, to;
    bool may_be_cancelled;
    // A try does not wait for what is to be moved: it finds out whether there is some, or why none
    // can be moved at all, or that a pipe with a name has had no writer yet.
    bool tries_first;
    bool is_begun = false; // some has been moved, which the call tells of

    // 0: both are ready, or one is not waited for; else an errno that ends the call.
    [[nodiscard]] int await(time_limit& of_from, time_limit& of_to, bool is_first) const {
        bool const is_tried = is_begun || (is_first && tries_first);
        int const error = is_tried ? 0 : await(from, direction::in, of_from);
        return error != 0 ? error : await(to, direction::out, of_to);
    }
    // Whether it is to be tried once more after EAGAIN: what is not ready is waited for.
    [[nodiscard]] bool goes_on() const noexcept {
        bool const is_full = !is_ready(to, direction::out);
        bool const is_empty = !is_ready(from, direction::in);
        if (is_empty && is_begun) return false;
        if (!is_full && !is_empty) return waits_for(from) || waits_for(to);
        return (!is_empty || waits_for(from)) && (!is_full || waits_for(to));
    }

private:
    // Each end has its mode. That of a pipe holds for the other one, too, if that is a pipe.
    [[nodiscard]] bool waits_for(int number) const noexcept {
        int const other = number == from ? to : from;
        return !never_waits(number) && !(never_waits(other) && is_pipe(from) && is_pipe(to));
    }
    // Of a call that tells what it has moved a cancellation is seen by the next one.
    [[nodiscard]] bool is_to_end() const noexcept {
        return may_be_cancelled && is_begun && caller.is_to_end();
    }
    [[nodiscard]] int await(int number, direction way, time_limit& until) const {
        for (;;) {
            tulle::io::event_count const seen = look(number, way);
            if (is_ready(number, way) || !waits_for(number)) return 0;
            if (is_to_end()) return EINTR;
            if (way == direction::out && takes_no_more(number)) return 0; // the try says so
            int const error =
                wait_for(caller, number, way, seen, until, may_be_cancelled && !is_begun);
            if (is_final(error)) return error;
            if (error != 0) return 0;
            int const end = way == direction::out ? error_under_wait(number) : 0;
            if (end != 0) return end;
        }
    }
};

// `part()` moves some: none if there is no more; it fails with EAGAIN if one of both is not ready
// any longer.
template <class Part> ssize_t move_part(move const& m, Part part) {
    time_limit of_from, of_to;
    for (bool is_first = true;; is_first = false) {
        if (int const error = m.await(of_from, of_to, is_first)) return fail(error);
        ssize_t const moved = part();
        if (moved >= 0 || errno != EAGAIN || !m.goes_on()) return moved;
    }
}

// `part(so_many)`, until `size` has been moved, or a part is not whole and, `is_over`.
template <class Part, class IsOver>
ssize_t move_parts(move m, std::size_t size, Part part, IsOver is_over) {
    std::size_t const most = takes_all(m.to) ? SIZE_MAX : k_part;
    std::size_t moved = 0;
    while (moved != size) {
        std::size_t const wanted = std::min(size - moved, most);
        ssize_t const now = move_part(m, [&] { return part(wanted); });
        if (now < 0 && !m.is_begun) return now;
        after_output(now);
        if (now <= 0) break;
        moved += static_cast<std::size_t>(now);
        m.is_begun = true;
        if (is_over(static_cast<std::size_t>(now) < wanted)) break;
    }
    return static_cast<ssize_t>(moved);
}

// It is no cancellation point. What comes is not waited for: only files are sent.
ssize_t send_file(int to, int from, off_t* offset, std::size_t size) {
    thread* const t = self();
    if (t == nullptr || never_waits(to)) return TULLE_LIBC(sendfile)(to, from, offset, size);
    return keeping_errno([&] {
        return move_parts(
            {*t, from, to, false, true}, size,
            [=](std::size_t part) { return TULLE_LIBC(sendfile)(to, from, offset, part); },
            [](bool is_short) { return is_short; });
    });
}

// What one call takes out of a pipe, in parts: what is there at the first of them. The system locks
// the pipe until its call is over, so that a writer who goes on does not make it longer.
class parts_of_pipe {
public:
    explicit parts_of_pipe(int pipe) noexcept : m_pipe(pipe) {}
    template <class Part> ssize_t take(std::size_t most, Part part) {
        int there = 0;
        if (m_taken == 0 && ioctl(m_pipe, FIONREAD, &there) == 0)
            m_all = static_cast<std::size_t>(there);
        // What comes to an empty pipe in this moment is all that there is.
        std::size_t const left = m_all == 0 ? most : m_all - m_taken;
        ssize_t const now = part(std::min(most, left));
        if (now > 0) m_taken += static_cast<std::size_t>(now);
        return now;
    }
    [[nodiscard]] bool has_more() const noexcept {
        return m_taken < m_all && is_ready(m_pipe, direction::in);
    }

private:
    int const m_pipe;
    std::size_t m_all = 0, m_taken = 0;
};

// One call moves what there is: of what goes from a pipe to a file that takes it in parts, all that
// is in the pipe.
template <class Call>
ssize_t move_some(int from, int to, std::size_t size, unsigned flags, Call call) {
    thread* const t = self();
    if (t == nullptr || (flags & SPLICE_F_NONBLOCK) != 0 || size == 0) return call(size, flags);
    test_cancel(t);
    bool const is_from_pipe = is_pipe(from), is_in_parts = is_from_pipe && !takes_all(to);
    auto const try_part = [=](std::size_t part) { return call(part, flags | SPLICE_F_NONBLOCK); };
    parts_of_pipe taken(from);
    return keeping_errno([&] {
        return move_parts(
            {*t, from, to, true, is_from_pipe}, size,
            [&](std::size_t part) {
                return is_in_parts ? taken.take(part, try_part) : try_part(part);
            },
            [&](bool) { return !is_in_parts || !taken.has_more(); });
    });
}

bool is_written_to(int number) noexcept { return (fcntl(number, F_GETFL) & O_ACCMODE) != O_RDONLY; }

} // namespace

TULLE_INTERPOSE int recvmmsg(int socket, mmsghdr* first, unsigned count, int flags,
                             timespec* time) {
    int const received = receive_messages(socket, first, count, flags, time);
    for (int k = 0; k < received; ++k) known_descriptors::note_received(first[k].msg_hdr);
    return received;
}
TULLE_INTERPOSE int sendmmsg(int socket, mmsghdr* first, unsigned count, int flags) {
    return after_output(send_messages(socket, first, count, flags));
}

// Not by the names of the C library's header, which has them throw nothing: a handler of SIGPIPE
// may end the thread.
extern "C" TULLE_API ssize_t tulle_wait_sendfile(int to, int from, off_t* offset,
                                                 size_t size) asm("sendfile");
extern "C" TULLE_API ssize_t tulle_wait_sendfile(int to, int from, off_t* offset, size_t size) {
    return after_output(send_file(to, from, offset, size));
}
extern "C" TULLE_API ssize_t tulle_wait_sendfile64(int to, int from, off64_t* offset,
                                                   size_t size) asm("sendfile64");
extern "C" TULLE_API ssize_t tulle_wait_sendfile64(int to, int from, off64_t* offset, size_t size) {
    return after_output(send_file(to, from, offset, size));
}

TULLE_INTERPOSE ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset,
                               size_t size, unsigned flags) {
    return after_output(move_some(from, to, size, flags, [=](std::size_t part, unsigned how) {
        return TULLE_LIBC(splice)(from, from_offset, to, to_offset, part, how);
    }));
}
TULLE_INTERPOSE ssize_t tee(int from, int to, size_t size, unsigned flags) {
    return move_some(from, to, size, flags, [=](std::size_t part, unsigned how) {
        return TULLE_LIBC(tee)(from, to, part, how);
    });
}
TULLE_INTERPOSE ssize_t vmsplice(int pipe, iovec const* parts, size_t count, unsigned flags) {
    auto const call = [=](unsigned how) { return TULLE_LIBC(vmsplice)(pipe, parts, count, how); };
    if (self() == nullptr || (flags & SPLICE_F_NONBLOCK) != 0) return call(flags);
    direction const way = is_written_to(pipe) ? direction::out : direction::in;
    return after_output(until_done(
        pipe, way, [&] { return call(flags | SPLICE_F_NONBLOCK); }, [&] { return call(flags); }));
}
