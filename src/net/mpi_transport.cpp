// SPDX-License-Identifier: Apache-2.0
#include "net/mpi_transport.hpp"

#include "base/assert.hpp"
#include "base/error.hpp"

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>

namespace tulle::net {

namespace {

constexpr std::size_t k_receives = 64;
constexpr std::size_t k_sends = 64;
constexpr int k_messages_of_poll = 64;
constexpr std::uint64_t k_poll_for_others_ns = 50'000;
constexpr std::uint64_t k_patience_with_streams_ns = 2'000'000;

bool tells_death(int error) noexcept {
    return error == mpi_functions::k_peer_is_dead || error == mpi_functions::k_somebody_is_dead;
}

} // namespace

mpi_transport::mpi_transport(mpi_functions const& mpi, mpi_endpoint* over, rank here, rank count,
                             bool tells_deaths, std::vector<int> descriptors)
    : m_mpi(mpi),
      m_over(over),
      m_here(here),
      m_tells_deaths(tells_deaths),
      m_buffers(std::make_unique_for_overwrite<message_buffer[]>(
          k_receives + k_sends)), // NOLINT(modernize-avoid-c-arrays)
      m_receives(k_receives),
      m_sends(k_sends),
      m_peers(count),
      m_dead(count),
      m_streams(mpi, over),
      m_watcher(std::move(descriptors), [this] { m_wake(); }) {
    for (std::size_t k = 0; k < k_receives; ++k) {
        box& b = m_receives[k];
        b.contents = &m_buffers[k];
        check(m_mpi.prepare_receive(m_over, b.contents, sizeof(message_buffer), b.request),
              "prepare a receive");
        check(m_mpi.start_receive(b.request), "receive");
    }
    for (std::size_t k = 0; k < k_sends; ++k) m_sends[k].contents = &m_buffers[k_receives + k];
}

mpi_transport::~mpi_transport() { close(); }

void mpi_transport::check(int error, char const* action) const noexcept {
    if (error == 0) return;
    char text[256];
    m_mpi.explain(error, text, sizeof text);
    base::fatal("place %u cannot %s: %s", m_here, action, text);
}

// Or it will never be, as its peer is dead.
bool mpi_transport::is_done(mpi_request& request) noexcept {
    bool done = false;
    int const error = m_mpi.test(request, done);
    m_somebody_died |= tells_death(error);
    if (!tells_death(error)) check(error, "probe for a message");
    return done;
}

// --- sending, under the lock ---------------------------------------------------------------------

bool mpi_transport::try_send(rank to, packet head, std::byte const* payload) noexcept {
    TULLE_ASSERT(head.size <= most_bytes(), "a message of %u bytes is above the limit of %zu",
                 head.size, most_bytes());
    head.from = static_cast<std::uint16_t>(m_here);
    m_order.before_send();
    std::lock_guard const held(m_lock);
    peer& p = m_peers[to];
    if (TULLE_UNLIKELY(p.is_dead)) return true;
    std::uint32_t const costs = cost_of(head.size);
    if (m_is_closed || p.sent - p.polled_there + costs > k_credit) return false;
    message_buffer* const l = reserve();
    if (l == nullptr) return false;
    l->head = head;
    l->is_message = 1;
    if (head.size != 0) std::memcpy(l->payload, payload, head.size);
    p.sent += costs;
    post(to, head.size);
    return true;
}

// Where the next message is written; null: MPI has not sent enough of the others.
mpi_transport::message_buffer* mpi_transport::reserve() noexcept {
    if (m_under_way == k_sends) collect_sent();
    return m_under_way == k_sends ? nullptr : m_sends[m_under_way].contents;
}

// What reserve() has given. Small messages are gone at once.
void mpi_transport::post(rank to, std::size_t payload_bytes) noexcept {
    box& b = m_sends[m_under_way];
    peer& p = m_peers[to];
    b.contents->polled = p.told = p.polled_here;
    int const error = m_mpi.send(m_over, to, 0, b.contents,
                                 offsetof(message_buffer, payload) + payload_bytes, b.request);
    if (tells_death(error)) return static_cast<void>(m_somebody_died = true);
    check(error, "send");
    if (!is_done(b.request)) ++m_under_way;
}

void mpi_transport::collect_sent() noexcept {
    for (std::size_t k = 0; k < m_under_way;) {
        if (is_done(m_sends[k].request))
            std::swap(m_sends[k], m_sends[--m_under_way]);
        else
            ++k;
    }
}

// Those who may soon have no credit any more, though nothing else goes to them.
void mpi_transport::tell_polled() noexcept {
    m_owes_news = false;
    for (rank r = 0; r < count(); ++r) {
        if (m_peers[r].is_dead || m_peers[r].polled_here - m_peers[r].told < k_credit / 2) continue;
        message_buffer* const l = reserve();
        if (l == nullptr) {
            m_owes_news = true;
            return;
        }
        l->head = {};
        l->head.from = static_cast<std::uint16_t>(m_here);
        l->is_message = 0;
        post(r, 0);
    }
}

// --- receiving -----------------------------------------------------------------------------------

// The caller holds the lock.
bool mpi_transport::oldest_has_come() noexcept {
    if (!m_oldest_has_come && !m_is_closed)
        m_oldest_has_come = is_done(m_receives[m_oldest].request);
    return m_oldest_has_come;
}

bool mpi_transport::has_message() noexcept {
    std::lock_guard const held(m_lock);
    return oldest_has_come() || m_somebody_died;
}

// False: nothing has come.
bool mpi_transport::take_one(receiver* sink, bool& was_message) noexcept {
    {
        std::lock_guard const held(m_lock);
        if (!oldest_has_come()) return false;
    }
    message_buffer const& l = *m_receives[m_oldest].contents;
    rank const from = l.head.from;
    std::uint32_t const polled = l.polled;
    std::uint32_t const bytes = l.head.size;
    was_message = l.is_message != 0;
    m_order.before_delivery();
    if (was_message && sink != nullptr && !m_peers[from].is_dead) sink->deliver(l.head, l.payload);
    std::lock_guard const held(m_lock);
    peer& p = m_peers[from];
    p.polled_there = polled;
    if (was_message && (p.polled_here += cost_of(bytes)) - p.told >= k_credit / 2)
        m_owes_news = true;
    listen_again();
    return true;
}

// The caller holds the lock. MPI fills receives in the order in which they are started.
void mpi_transport::listen_again() noexcept {
    check(m_mpi.start_receive(m_receives[m_oldest].request), "receive");
    m_oldest = (m_oldest + 1) % k_receives;
    m_oldest_has_come = false;
}

// A probe that finds nothing costs a system call or two, for which the thread that has been waiting
// for the message before would wait, too. So after a message another one is probed for only while
// they come densely: when the first probe of a poll has found one, and so had that of the poll
// before.
bool mpi_transport::take_what_has_come(receiver& sink) noexcept {
    bool found = false;
    bool was_message = false;
    for (int k = 0;
         k < k_messages_of_poll && !(found && !m_is_dense) && take_one(&sink, was_message); ++k)
        found |= was_message;
    m_is_dense = found;
    return found;
}

bool mpi_transport::poll(receiver& sink) noexcept {
    bool found = take_what_has_come(sink);
    found |= advance_streams(&sink);
    if (found) m_watcher.tell_message();
    bool somebody_died = false;
    {
        std::lock_guard const held(m_lock);
        if (m_is_closed) return found;
        if (m_under_way != 0) collect_sent();
        if (m_owes_news) tell_polled();
        somebody_died = m_somebody_died;
    }
    return (TULLE_UNLIKELY(somebody_died) && find_the_dead(sink)) || found;
}

// What they have sent is delivered before, as far as it has come.
bool mpi_transport::find_the_dead(receiver& sink) noexcept {
    for (bool was_message = false; take_one(&sink, was_message);) {}
    rank count = 0;
    rank new_ones = 0;
    {
        std::lock_guard const held(m_lock);
        m_somebody_died = false;
        check(m_mpi.find_dead(m_over, m_dead.data(), count), "tell which places have died");
        for (rank k = 0; k < count; ++k)
            if (!std::exchange(m_peers[m_dead[k]].is_dead, true)) m_dead[new_ones++] = m_dead[k];
    }
    for (rank k = 0; k < new_ones; ++k) sink.place_died(m_dead[k], k_unknown_status);
    return new_ones != 0;
}

int mpi_transport::read(rank from, void* /*to*/, std::uint64_t /*address*/,
                        std::size_t bytes) noexcept {
    if (bytes == 0) return 0;
    std::lock_guard const held(m_lock);
    return m_peers[from].is_dead ? ESRCH : ENOTSUP;
}

// --- streams -------------------------------------------------------------------------------------

std::uint32_t mpi_transport::begin_receive(rank from, std::span<std::byte> to,
                                           std::uint64_t cookie) noexcept {
    std::lock_guard const held(m_lock);
    return m_is_closed ? 0 : m_streams.begin_receive(from, to, cookie);
}

bool mpi_transport::begin_send(rank to, std::uint32_t number, std::span<std::byte const> from,
                               std::uint64_t cookie) noexcept {
    std::lock_guard const held(m_lock);
    return m_streams.begin_send(to, number, from, cookie);
}

// The caller holds the lock. Streams go on only while somebody polls, so polling is worth while,
// unless the other side does not poll.
bool mpi_transport::streams_move() noexcept {
    if (m_streams.is_idle()) return false;
    std::uint64_t const now = os::monotonic_ns();
    if (std::exchange(m_steps_of_streams, m_streams.steps()) != m_streams.steps())
        m_streams_moved_at = now;
    return now - m_streams_moved_at < k_patience_with_streams_ns;
}

// True: one is done, or others move.
bool mpi_transport::advance_streams(receiver* sink) noexcept {
    for (bool any = false;; any = true) {
        mpi_streams::done one;
        bool is_found = false;
        bool is_moving = false;
        {
            std::lock_guard const held(m_lock);
            if (m_streams.is_idle()) return any;
            int const error = m_streams.advance(one, is_found);
            // Nobody survives that has streams.
            if (tells_death(error)) return m_somebody_died = true;
            check(error, "go on with a large payload");
            is_moving = streams_move();
        }
        if (!is_found) return any || is_moving;
        m_order.before_delivery();
        if (sink != nullptr) sink->moved(one.peer, one.cookie, one.is_send);
    }
}

bool mpi_transport::has_streams() noexcept {
    std::lock_guard const held(m_lock);
    return !m_streams.is_idle();
}

// --- the end -------------------------------------------------------------------------------------

bool mpi_transport::all_have_come(mpi_request& meeting) noexcept {
    bool was_message = false;
    while (take_one(nullptr, was_message)) {}
    static_cast<void>(advance_streams(nullptr)); // others may wait for these
    std::lock_guard const held(m_lock);
    collect_sent();
    return is_done(meeting) && m_under_way == 0;
}

// Takes what others still send until all have come here.
void mpi_transport::close() noexcept {
    if (m_is_closed) return;
    m_watcher.stop();
    mpi_request meeting;
    {
        std::lock_guard const held(m_lock);
        check(m_mpi.meet(m_over, meeting), "end");
    }
    while (!all_have_come(meeting)) {
        m_doorbell.arm();
        m_doorbell.sleep(os::monotonic_ns() + k_poll_for_others_ns);
    }
    std::lock_guard const held(m_lock);
    m_is_closed = true;
    m_streams.abandon();
    for (box& b : m_receives) m_mpi.forget_receive(b.request);
    m_mpi.close(m_over);
}

} // namespace tulle::net
