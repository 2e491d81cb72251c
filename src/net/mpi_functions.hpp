// SPDX-License-Identifier: Apache-2.0
// What the transport over MPI wants of MPI, as a table that a plug-in fills (src/mpi/plugin.cpp):
// one plug-in for each MPI that is there, loaded when a launcher of that MPI has started the
// process. So neither the library nor programs link an MPI.
//   Errors: 0, or a number that explain() makes a sentence of. Nothing throws.
//   Threads: as start() says. Functions that all places of an endpoint must call wait for each
//   other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::net {

// A message that is on its way. Zero: none.
struct mpi_request {
    std::uint64_t word = 0; // what the MPI at hand has as its handle
};

enum class mpi_threads : std::uint32_t {
    one_at_a_time, // no two OS threads call MPI at once: callers of these functions must see to it
    any,
    only_main // or only one: it cannot be used
};

struct mpi_world {
    std::uint32_t here = 0;
    std::uint32_t count = 0;
    mpi_threads threads = mpi_threads::only_main;
    bool is_ours = false; // nobody had started MPI
    // A place that dies does not end the others, which can ask for it.
    bool tells_deaths = false;
    char const* library = nullptr; // which one, and its version
    // Descriptors that can be polled and become readable when something comes, as far as they are
    // known.
    std::uint32_t descriptor_count = 0;
    int descriptors[8] = {};
};

// Some of the places, and messages among them that no other ones see.
struct mpi_endpoint;

struct mpi_functions {
    static constexpr std::uint32_t k_version = 3; // of this table
    // The result of send() and test() where MPI tells of deaths. The request is over, and has not
    // done what it should.
    static constexpr int k_peer_is_dead = -1;
    // Some place has died, and a receive from any place waits on; ask find_dead().
    static constexpr int k_somebody_is_dead = -2;

    std::uint32_t version;

    // Once, by the main thread. A program that has started MPI itself keeps it, and shares it.
    int (*start)(mpi_world& found) noexcept;
    // Ends MPI if start() has begun it; all places that live call it. No endpoint is left.
    void (*finish)() noexcept;

    // The first `count` places; all places call it. Those that are not of them get null.
    int (*open)(std::uint32_t count, mpi_endpoint*& opened) noexcept;
    void (*close)(mpi_endpoint* closed) noexcept; // by its places; no request is left

    // Tags up to 32767. A receive takes a message of its tag only; messages of one tag arrive in
    // the order of their sends.
    int (*send)(mpi_endpoint* over, std::uint32_t to, std::uint32_t tag, void const* bytes,
                std::size_t size, mpi_request& begun) noexcept;
    int (*receive)(mpi_endpoint* over, std::uint32_t from, std::uint32_t tag, void* bytes,
                   std::size_t size, mpi_request& begun) noexcept;
    // A receive, from any place, of tag 0, that can be started again and again.
    int (*prepare_receive)(mpi_endpoint* over, void* bytes, std::size_t size,
                           mpi_request& made) noexcept;
    int (*start_receive)(mpi_request& prepared) noexcept;
    // A send is gone when it is done; a receive that is done may be started again.
    int (*test)(mpi_request& request, bool& is_done) noexcept;
    void (*forget_receive)(mpi_request& started) noexcept; // whatever has arrived in it
    // A send, or a receive that is not prepared; it may still go on.
    void (*abandon)(mpi_request& begun) noexcept;

    // Those that have died so far, at most as many as the endpoint has places.
    int (*find_dead)(mpi_endpoint* over, std::uint32_t* dead, std::uint32_t& count) noexcept;

    // --- by all places of an endpoint
    // `size` bytes of each
    int (*gather)(mpi_endpoint* over, void const* own, std::size_t size, void* all) noexcept;
    // Done when all that live have begun it.
    int (*meet)(mpi_endpoint* over, mpi_request& begun) noexcept;
    // Gives each place the lowest one that it can share memory with, as far as MPI knows.
    int (*find_hosts)(mpi_endpoint* over, std::uint32_t& lowest) noexcept;

    void (*explain)(int error, char* text, std::size_t size) noexcept;
};

// The name that a plug-in gives its table; a variable of this type.
inline constexpr char const* k_mpi_functions_name = "tulle_mpi_functions";

} // namespace tulle::net
