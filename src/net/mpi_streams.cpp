// SPDX-License-Identifier: Apache-2.0
#include "net/mpi_streams.hpp"

#include <algorithm>
#include <new>

namespace tulle::net {

bool mpi_streams::add(stream const& one) noexcept try {
    m_streams.push_back(one);
    return true;
} catch (std::bad_alloc const&) {
    return false;
}

// The pieces begin when it is advanced.
std::uint32_t mpi_streams::begin_receive(rank from, std::span<std::byte> to,
                                         std::uint64_t cookie) noexcept {
    std::uint32_t free = 0;
    while (free < k_most_receives && m_taken[free]) ++free;
    if (free == k_most_receives || !add({{from, cookie, false}, free + 1, to.data(), to.size()}))
        return 0;
    m_taken.set(free);
    return free + 1;
}

bool mpi_streams::begin_send(rank to, std::uint32_t number, std::span<std::byte const> from,
                             std::uint64_t cookie) noexcept {
    return add({{to, cookie, true},
                number,
                const_cast<std::byte*>(from.data()),
                from.size()}); // NOLINT: MPI only reads it
}

int mpi_streams::advance(done& found, bool& is_found) noexcept {
    is_found = false;
    for (std::size_t k = 0; k < m_streams.size(); ++k) {
        stream& s = m_streams[k];
        if (int const error = collect(s)) return error;
        if (int const error = go_on(s)) return error;
        if (s.under_way != 0) continue;
        found = s.whole;
        is_found = true;
        remove(k);
        return 0;
    }
    return 0;
}

int mpi_streams::collect(stream& s) noexcept {
    for (bool is_done = true; s.under_way != 0;) {
        int const error = m_mpi.test(s.pieces[s.oldest], is_done);
        if (error != 0 || !is_done) return error;
        s.oldest = (s.oldest + 1) % k_window;
        --s.under_way;
        ++m_steps;
    }
    return 0;
}

int mpi_streams::go_on(stream& s) noexcept {
    while (s.left != 0 && s.under_way < k_window) {
        std::size_t const bytes = std::min(s.left, k_piece);
        if (int const error = begin_piece(s, bytes, s.pieces[(s.oldest + s.under_way) % k_window]))
            return error;
        ++s.under_way;
        ++m_steps;
        s.next += bytes;
        s.left -= bytes;
    }
    return 0;
}

int mpi_streams::begin_piece(stream& s, std::size_t bytes, mpi_request& begun) noexcept {
    if (s.whole.is_send) return m_mpi.send(m_over, s.whole.peer, s.number, s.next, bytes, begun);
    return m_mpi.receive(m_over, s.whole.peer, s.number, s.next, bytes, begun);
}

void mpi_streams::remove(std::size_t index) noexcept {
    if (!m_streams[index].whole.is_send) m_taken.reset(m_streams[index].number - 1);
    m_streams[index] = m_streams.back();
    m_streams.pop_back();
}

void mpi_streams::abandon() noexcept {
    for (stream& s : m_streams)
        for (; s.under_way != 0; --s.under_way, s.oldest = (s.oldest + 1) % k_window)
            m_mpi.abandon(s.pieces[s.oldest]);
    m_streams.clear();
}

} // namespace tulle::net
