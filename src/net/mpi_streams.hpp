// SPDX-License-Identifier: Apache-2.0
// Large payloads over MPI, straight from the sender's memory into the receiver's: pieces of bounded
// size, a few of them under way at a time. The receiver begins, with a number that only this stream
// has there, which is the tag of its messages; MPI matches messages of one tag in the order in
// which they were sent.
//   Used by one OS thread at a time. Errors: MPI's, as in net/mpi_functions.hpp.
#pragma once

#include "net/mpi_functions.hpp"
#include "net/packet.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tulle::net {

class mpi_streams {
public:
    static constexpr std::size_t k_piece = std::size_t{1} << 20U;
    static constexpr std::uint32_t k_most_receives = 128; // at a time

    struct done {
        rank peer = 0;
        std::uint64_t cookie = 0;
        bool is_send = false;
    };

    mpi_streams(mpi_functions const& mpi, mpi_endpoint* over) noexcept : m_mpi(mpi), m_over(over) {}

    // The number, 0: there is no memory, or there are too many.
    [[nodiscard]] std::uint32_t begin_receive(rank from, std::span<std::byte> to,
                                              std::uint64_t cookie) noexcept;
    // False: there is no memory.
    [[nodiscard]] bool begin_send(rank to, std::uint32_t number, std::span<std::byte const> from,
                                  std::uint64_t cookie) noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return m_streams.empty(); }
    // Pieces that have begun or ended so far.
    [[nodiscard]] std::uint64_t steps() const noexcept { return m_steps; }
    // Goes on with all; `found` is one that is done, if `is_found`, and is not kept any more.
    [[nodiscard]] int advance(done& found, bool& is_found) noexcept;
    // Called at the end; nobody relies on the streams' bytes any more.
    void abandon() noexcept;

private:
    static constexpr std::uint32_t k_window = 4;

    struct stream {
        done whole;
        std::uint32_t number = 0;
        std::byte* next = nullptr; // not begun yet
        std::size_t left = 0;
        std::array<mpi_request, k_window> pieces{}; // a ring
        std::uint32_t oldest = 0;
        std::uint32_t under_way = 0;
    };

    [[nodiscard]] bool add(stream const& one) noexcept;
    [[nodiscard]] int collect(stream& s) noexcept;
    [[nodiscard]] int go_on(stream& s) noexcept;
    [[nodiscard]] int begin_piece(stream& s, std::size_t bytes, mpi_request& begun) noexcept;
    void remove(std::size_t index) noexcept;

    mpi_functions const& m_mpi;
    mpi_endpoint* m_over;
    std::uint64_t m_steps = 0;
    std::vector<stream> m_streams;
    std::bitset<k_most_receives> m_taken; // numbers, less one
};

} // namespace tulle::net
