// SPDX-License-Identifier: Apache-2.0
//
// Random programs for coherent memory on hosts that are places over a virtual network: they ask
// each other by the carrier that programs have. The network delays, reorders and refuses as its
// options say, and whoever is asked is late at times.
#pragma once

#include "base/sanitize.hpp"
#include "coherent_programs.hpp"
#include "dsm/carrier.hpp"
#include "loopback_places.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace tulle::dsm::random_programs {

inline constexpr host_number k_most_places = 4;

// Answers are copied over bytes that other threads of the host may look at, and that stay the same
// (dsm/protocol.hpp, "Threads"). ThreadSanitizer takes that for a race.
inline bool may_be_places(shape const& s) {
    return s.hosts == s.machines && s.hosts <= k_most_places &&
           (s.threads == 1 || !base::k_thread_sanitizer);
}

// What places do with requests. Messages name the function, so that there is one memory at a time,
// and a function for each place.
template <class Cluster> class service_of {
public:
    static void become(Cluster& all, std::uint64_t seed) {
        s_all = &all;
        for (host_number h = 0; h < k_most_places; ++h) s_random[h] = base::rng(seed + h);
    }
    static tulle::detail::active_function at(host_number asked) noexcept {
        static constexpr std::array all{&serve<0>, &serve<1>, &serve<2>, &serve<3>};
        return all[asked];
    }

private:
    template <host_number Here>
    static std::size_t serve(int from, std::span<std::byte const> request,
                             std::byte* answer) noexcept {
        base::rng& random = s_random[Here]; // one thread at a time takes the messages of a place
        if (random.below(16) == 0) std::this_thread::sleep_for(brief(random));
        std::size_t const size =
            s_all->serve(Here, static_cast<host_number>(from), request.data(), answer);
        if (random.below(16) == 0) std::this_thread::sleep_for(brief(random));
        return size;
    }

    static inline Cluster* s_all = nullptr;
    static inline std::array<base::rng, k_most_places> s_random{base::rng(0), base::rng(0),
                                                                base::rng(0), base::rng(0)};
};

// Of `s` each host is a place, and on a machine of its own: may_be_places(s). As run_program.
template <std::size_t Notices, std::size_t Fetches>
std::size_t run_program_over(loopback_places& places, shape const& s, plan const& made,
                             std::uint64_t seed) {
    using memory = cluster<Notices, Fetches>;
    using service = service_of<memory>;
    memory on(s, [&](memory& all, host_number h) {
        service::become(all, seed);
        std::vector<host_number> others;
        for (host_number other = 0; other < s.hosts; ++other)
            if (other != h) others.push_back(other);
        return std::make_unique<carrier>(places.endpoint(static_cast<int>(h)), others,
                                         &service::at);
    });
    return program(on, made, s, seed).run();
}

} // namespace tulle::dsm::random_programs
