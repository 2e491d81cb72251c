// SPDX-License-Identifier: Apache-2.0
// Shepherds of all places: a place is a domain of protection and, on several hosts, a node; its
// shepherds are regions of memory in it. A thread asks where it is, and is started on a shepherd of
// any place.
//   for (tulle::global_shepherd const s : tulle::global_shepherds())
//       tulle::at(s, [] { std::printf("%d\n", tulle::this_thread::get_location().cpu); });
// Contexts: any thread of the process; all start the run time if need be.
// Errors of all that name a shepherd: std::out_of_range: there is no such place; std::system_error:
// the place has no such shepherd (EINVAL), it is a memory place (EOPNOTSUPP); those of at().
// Messages: those of at(); of a list or a distance, two for each other place that is asked.
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 3.1.
#pragma once

#include <tulle/future.hpp>
#include <tulle/place.hpp>
#include <tulle/shepherd.hpp>

#include <compare>
#include <type_traits>
#include <utility>
#include <vector>

namespace tulle {

// The shepherd of that number at that place. Travels.
struct global_shepherd {
    int place = 0;    // its number
    int shepherd = 0; // its number there
    friend auto operator<=>(global_shepherd const&, global_shepherd const&) noexcept = default;
};

// Where a thread is: right when it was asked for. Travels.
struct thread_location {
    int place = 0;     // its number
    int shepherd = -1; // -1: on an OS thread that is no worker
    int worker = -1;   // of the place; likewise
    int cpu = -1;      // number of the operating system
    int node = -1;     // of memory that is near to it; -1: the system does not tell
};

namespace this_thread {

// Where the caller is by now.
[[nodiscard]] TULLE_API thread_location get_location();

} // namespace this_thread

// Of all places that run threads, by their numbers.
[[nodiscard]] TULLE_API std::vector<global_shepherd> global_shepherds();

// Added to the distance of nodes of two places of one host; distances within a place are less.
inline constexpr int k_distance_of_places = 256;
// The same on two hosts.
inline constexpr int k_distance_of_hosts = 512;

// 0: the same. At one place as shepherd_distance(int, int). Places that share no memory count as on
// two hosts; nodes of two hosts are 10 apart.
[[nodiscard]] TULLE_API int shepherd_distance(global_shepherd from, global_shepherd to);
// All others, the nearest first; of those that are equally far, those of the next places first.
[[nodiscard]] TULLE_API std::vector<global_shepherd> nearest_shepherds(global_shepherd from);

namespace detail {

template <class F> struct on_shepherd_call {
    int shepherd;
    F callable;

    template <class... A> std::invoke_result_t<F&, A...> operator()(A&&... arguments) {
        shepherd_visit const there(shepherd);
        if (there.has_begun()) return invoke(callable, std::forward<A>(arguments)...);
        attributes how;
        how.shepherd = shepherd;
        return async(how, std::move(callable), std::forward<A>(arguments)...).get();
    }
};

} // namespace detail

// A callable that runs `f` on workers of that shepherd of the place where it is called, and then
// lets the caller be where it was: an activity that goes somewhere is
//   all.async_at(place(s.place), tulle::on_shepherd(s.shepherd, f), arguments...);
// It travels if `f` does. On an OS thread, and on the stack of the one that initialised, another
// thread runs `f`, which belongs to no finish.
// Errors when it is called: std::system_error (EINVAL): no such shepherd.
template <class F> [[nodiscard]] auto on_shepherd(int shepherd, F f) {
    return detail::on_shepherd_call<F>{shepherd, std::move(f)};
}

// at(place) and async_at(place), on workers of that shepherd.
template <class F, class... A>
std::invoke_result_t<std::decay_t<F>&, std::decay_t<A>...> at(global_shepherd there, F&& f,
                                                              A&&... arguments) {
    return at(place(there.place), on_shepherd(there.shepherd, std::decay_t<F>(std::forward<F>(f))),
              std::forward<A>(arguments)...);
}
template <class F, class... A> auto async_at(global_shepherd there, F&& f, A&&... arguments) {
    return async_at(place(there.place),
                    on_shepherd(there.shepherd, std::decay_t<F>(std::forward<F>(f))),
                    std::forward<A>(arguments)...);
}

} // namespace tulle
