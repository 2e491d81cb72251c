// SPDX-License-Identifier: Apache-2.0
// Message queues and semaphores that processes share by a key or a name. A queue of POSIX is a
// descriptor: its calls are tried with a time that is over, and wait in the reactor. Of those of
// System V nobody tells.
#include "compat/pthread/files/descriptors.hpp"

#include <algorithm>
#include <array>

#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

namespace {

using namespace tulle::posix;

// --- POSIX ---------------------------------------------------------------------------------------

constexpr timespec k_over{0, 0};

// `attempt(time)` gives up at that time, or never if it is null. `until` null: never.
template <class Attempt>
ssize_t on_queue(mqd_t queue, direction way, timespec const* until, Attempt attempt) {
    thread* const t = self();
    if (t == nullptr || (until != nullptr && (!is_time(*until) || until->tv_sec < 0)))
        return attempt(until);
    test_cancel(t);
    std::uint64_t const deadline =
        until == nullptr ? tulle::wait::k_never : deadline_at(CLOCK_REALTIME, *until);
    for (;;) {
        tulle::io::event_count const seen = look(queue, way);
        ssize_t const result = attempt(&k_over);
        if (result < 0 && errno == EINTR) continue; // perhaps by a signal for another thread
        if (result >= 0 || errno != ETIMEDOUT) return result;
        auto& reactor = tulle::io::reactor::instance();
        int const error = reactor.wait(queue, way, seen, interruptible(t, deadline));
        if (error == ETIMEDOUT || error == EBADF) return fail(error);
        if (error == ECANCELED && attend(*t) == interruption::ends) return fail(EINTR);
        if (error != 0 && error != ECANCELED) return attempt(until);
    }
}

int send_to_queue(mqd_t queue, char const* data, std::size_t size, unsigned priority,
                  timespec const* until) {
    return static_cast<int>(on_queue(queue, direction::out, until, [=](timespec const* time) {
        return TULLE_LIBC(mq_timedsend)(queue, data, size, priority, time);
    }));
}
ssize_t receive_from_queue(mqd_t queue, char* data, std::size_t size, unsigned* priority,
                           timespec const* until) {
    return on_queue(queue, direction::in, until, [=](timespec const* time) {
        return TULLE_LIBC(mq_timedreceive)(queue, data, size, priority, time);
    });
}

// --- System V: no call goes on after a handler ---------------------------------------------------

// The kernel has forgotten what is removed while somebody waits for it.
template <class Try> auto while_it_exists(Try attempt) noexcept {
    return [attempt, has_waited = false]() mutable {
        auto const result = attempt();
        if (result < 0 && errno == EINVAL && has_waited) errno = EIDRM;
        has_waited = true;
        return result;
    };
}

// As many operations as are copied; more of them are left to the kernel.
using operations = std::array<sembuf, 64>;

bool all_wait(sembuf const* first, std::size_t count) noexcept {
    return std::all_of(first, first + count,
                       [](sembuf const& o) { return (o.sem_flg & IPC_NOWAIT) == 0; });
}

int operate(int set, sembuf* first, std::size_t count, timespec const* time) {
    auto const call = [=](sembuf* some, timespec const* limit) {
        return limit == nullptr ? TULLE_LIBC(semop)(set, some, count)
                                : TULLE_LIBC(semtimedop)(set, some, count, limit);
    };
    thread* const t = self();
    if (t == nullptr || first == nullptr || count > operations{}.size() || !all_wait(first, count))
        return call(first, time);
    if (time != nullptr && (!is_time(*time) || time->tv_sec < 0)) return fail(EINVAL);
    operations tries{};
    std::transform(first, first + count, tries.begin(), [](sembuf o) {
        o.sem_flg |= IPC_NOWAIT;
        return o;
    });
    repetition const how{.not_yet = EAGAIN,
                         .may_be_cancelled = false,
                         .restarts = false,
                         .deadline =
                             time == nullptr ? tulle::wait::k_never : deadline_after(*time)};
    return repeat(*t, how, while_it_exists([&] { return call(tries.data(), nullptr); }));
}

} // namespace

TULLE_INTERPOSE int mq_send(mqd_t queue, char const* data, size_t size, unsigned priority) {
    return send_to_queue(queue, data, size, priority, nullptr);
}
TULLE_INTERPOSE ssize_t mq_receive(mqd_t queue, char* data, size_t size, unsigned* priority) {
    return receive_from_queue(queue, data, size, priority, nullptr);
}
// Not by the names of the C library's header, which has the time not be null, so that a compiler
// would take a null one, which stands for no limit, for another.
extern "C" TULLE_API int tulle_timed_mq_send(mqd_t queue, char const* data, size_t size,
                                             unsigned priority,
                                             timespec const* until) asm("mq_timedsend");
extern "C" TULLE_API int tulle_timed_mq_send(mqd_t queue, char const* data, size_t size,
                                             unsigned priority, timespec const* until) {
    return send_to_queue(queue, data, size, priority, until);
}
extern "C" TULLE_API ssize_t tulle_timed_mq_receive(mqd_t queue, char* data, size_t size,
                                                    unsigned* priority,
                                                    timespec const* until) asm("mq_timedreceive");
extern "C" TULLE_API ssize_t tulle_timed_mq_receive(mqd_t queue, char* data, size_t size,
                                                    unsigned* priority, timespec const* until) {
    return receive_from_queue(queue, data, size, priority, until);
}

TULLE_INTERPOSE int msgsnd(int queue, void const* message, size_t size, int flags) {
    thread* const t = (flags & IPC_NOWAIT) == 0 ? self() : nullptr;
    if (t == nullptr) return test_cancel(self()), TULLE_LIBC(msgsnd)(queue, message, size, flags);
    return repeat(*t, {.not_yet = EAGAIN, .restarts = false}, while_it_exists([=] {
        return TULLE_LIBC(msgsnd)(queue, message, size, flags | IPC_NOWAIT);
    }));
}
TULLE_INTERPOSE ssize_t msgrcv(int queue, void* message, size_t size, long kind, int flags) {
    thread* const t = (flags & IPC_NOWAIT) == 0 ? self() : nullptr;
    if (t == nullptr)
        return test_cancel(self()), TULLE_LIBC(msgrcv)(queue, message, size, kind, flags);
    return repeat(*t, {.not_yet = ENOMSG, .restarts = false}, while_it_exists([=] {
        return TULLE_LIBC(msgrcv)(queue, message, size, kind, flags | IPC_NOWAIT);
    }));
}

TULLE_INTERPOSE int semop(int set, sembuf* first, size_t count) noexcept {
    return operate(set, first, count, nullptr);
}
TULLE_INTERPOSE int semtimedop(int set, sembuf* first, size_t count,
                               timespec const* time) noexcept {
    return operate(set, first, count, time);
}
