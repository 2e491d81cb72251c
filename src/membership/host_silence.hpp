// SPDX-License-Identifier: Apache-2.0
// Over an MPI, which tells nobody that a host or the network has died: the lowest place of each
// host watches the other hosts (net/host_watch.hpp). The launcher's host without places is watched
// by what has started this one (tools/tulle/places/launcher_lease.hpp).
// When one is lost, all places of this host end, and say why; src/messenger/place_death.md.
//   TULLE_HOST_TIMEOUT (host_timeout)   after so many seconds of silence; place 0's holds for all.
//                                       0: nobody watches.
//   TULLE_START_TIMEOUT (start_timeout) how long a place on another host waits for the others while
//                                       the launcher's host has never been heard
//   TULLE_LAUNCHER                      where `tulle run` is; it sets that itself.
#pragma once

#include "net/host_contact.hpp"
#include "net/host_watch.hpp"
#include "net/packet.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <sys/types.h>

namespace tulle::membership {

// While the places find each other, each that the launcher has started on another host ends if the
// launcher's is never heard.
class start_lease {
public:
    start_lease(); // throws std::bad_alloc
    start_lease(start_lease const&) = delete;
    start_lease& operator=(start_lease const&) = delete;
    ~start_lease();

private:
    std::unique_ptr<net::host_watch> m_watch;
};

// What each place tells the others of itself.
struct host_card {
    net::rank first = 0; // of its host
    pid_t process = 0;
    std::uint64_t limit_ns = 0;
    net::host_contact contact; // of the first place
};

// Sets the limits in seconds, 0: none; before the places meet. The second one is for their start,
// for places whose launcher is never heard.
void set_host_limits(std::uint64_t silence, std::uint64_t start) noexcept;

// The own card; the first place of a host opens its ports. Throws std::bad_alloc.
[[nodiscard]] host_card open_host_watch(net::rank here, net::rank first_of_host);
// Begins to watch, with the cards of all places, by rank. Throws std::bad_alloc.
void begin_host_watch(net::rank here, std::vector<host_card> const& cards);
// This place leaves.
void end_host_watch() noexcept;

} // namespace tulle::membership
