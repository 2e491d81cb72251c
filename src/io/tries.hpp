// SPDX-License-Identifier: Apache-2.0
// What calls on descriptors are made of. A call tries without blocking, waits until the descriptor
// is ready, and tries again. Results are the system's: bytes or numbers, or negative errno values.
#pragma once

#include "io/reactor.hpp"
#include "wait/limit_wait.hpp"

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/limit.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/types.h>

namespace tulle::io {

inline constexpr detail::limit k_forever{};

// What the system has said. Not inlined: the address of errno must not be kept over a wait.
TULLE_NOINLINE ssize_t result_of(ssize_t said) noexcept;

[[nodiscard]] inline bool would_block(ssize_t result) noexcept {
    return result == -EAGAIN || result == -EWOULDBLOCK;
}
// The system has no call that tries of this kind of file.
[[nodiscard]] inline bool has_no_try(ssize_t result) noexcept {
    return result == -EOPNOTSUPP || result == -ENOSYS;
}

[[nodiscard]] TULLE_NOINLINE bool is_ready(int number, direction way) noexcept;

// For files of which the system cannot try: `call` is the one that may block.
template <class Call>
[[nodiscard]] ssize_t if_ready(int number, direction way, bool may_block, Call call) noexcept {
    return may_block || is_ready(number, way) ? result_of(call()) : -EAGAIN;
}

// Runs `call`, which may block, on a helper OS thread while the caller waits. The limit ends the
// wait only as long as no helper has begun with the call.
template <class Call>
[[nodiscard]] ssize_t on_helper(detail::limit const& until, Call call) noexcept {
    struct request {
        Call& call;
        ssize_t result;
    } asked{call, 0};
    auto const run = [](void* r) noexcept {
        auto& request_of = *static_cast<request*>(r);
        request_of.result = request_of.call();
    };
    int const error = reactor::instance().run_on_helper(run, &asked, wait::limit<parking>(until));
    return error != 0 ? -error : asked.result;
}

// How much a read of one buffer asks for; nothing is known of other calls.
constexpr std::size_t k_unknown_size = 0;

// Attempt: takes whether it may block, as it may on a helper once nobody can wait for the
// descriptor; `block` has a helper make it then.
template <class Attempt, class Block>
[[nodiscard]] ssize_t until_done(int number, direction way, detail::limit const& until,
                                 std::size_t size, Attempt attempt, Block block) noexcept {
    reactor& r = reactor::instance();
    wait::limit<parking> const limit(until);
    for (;;) {
        event_count const seen = r.look(number, way);
        bool const is_vain =
            size != k_unknown_size && r.is_drained(number, seen) && !limit.is_over();
        ssize_t const result = is_vain ? -EAGAIN : attempt(false);
        if (result == -EINTR) continue;
        if (result > 0 && static_cast<std::size_t>(result) < size) r.note_short_read(number, seen);
        if (!would_block(result)) return result;
        int const error = r.wait(number, way, seen, limit);
        if (error == EPERM) return block();
        // Another file may have the number since the last read, and nothing has told of it yet.
        bool const is_untried = is_vain && (error == ETIMEDOUT || error == ECANCELED);
        ssize_t const last = is_untried ? attempt(false) : -EAGAIN;
        if (!would_block(last) && last != -EINTR) return last;
        if (error != 0) return -error;
    }
}
template <class Attempt>
[[nodiscard]] ssize_t until_done(int number, direction way, detail::limit const& until,
                                 std::size_t size, Attempt attempt) noexcept {
    return until_done(number, way, until, size, attempt,
                      [&] { return on_helper(until, [&] { return attempt(true); }); });
}

// Waits for something that the system does not tell of: longer and longer.
class pauses {
public:
    // 0, or which part of the limit was reached.
    [[nodiscard]] int pause(detail::limit const& until) noexcept {
        wait::limit<parking> const all(until);
        static_cast<void>(parking::self()); // may start the run time
        if (all.is_over()) return end_of(all);
        std::uint64_t const next = parking::now() + m_next_ns;
        m_next_ns = std::min(2 * m_next_ns, k_longest_ns);
        wait::wait_for_limit<parking>(
            {wait::wait_kind::sleep, nullptr},
            wait::limit<parking>(std::min(next, all.deadline), all.token));
        return 0;
    }

private:
    static constexpr std::uint64_t k_first_ns = 20'000;
    static constexpr std::uint64_t k_longest_ns = 5'000'000;

    std::uint64_t m_next_ns = k_first_ns;
};

} // namespace tulle::io
