// SPDX-License-Identifier: Apache-2.0
// channel: one thread sends n numbers to another. Figures: ns per number through a channel with
// room for 64, by two children of a scope and by two threads that are spawned and joined one by
// one, where the library tells these apart; and without a buffer, where each waits for the other.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>

namespace tulle::bench {

inline constexpr long k_room = 64;

template <class Library> struct spawned_threads { using type = typename Library::group; };
template <class Library>
requires requires { typename Library::spawned; }
struct spawned_threads<Library> {
    using type = typename Library::spawned;
};

template <class Threads, class Channel> double time_transfer(Channel& channel, long n, long& sum) {
    return time_of([&] {
        Threads threads;
        threads.spawn([&channel, n] {
            for (long k = 0; k < n; ++k) channel.put(k);
        });
        threads.spawn([&channel, &sum, n] {
            for (long k = 0; k < n; ++k) sum += channel.take();
        });
        threads.wait();
    });
}

template <class Threads, class Channel> void measure_transfer(figure& cost, long n) {
    Channel channel;
    long sum = 0;
    double const time = time_transfer<Threads>(channel, n, sum);
    cost.add(1e9 * time / static_cast<double>(n), sum == n * (n - 1) / 2);
}

// Channels: buffered, with room for k_room, and meeting, without; each has put(long) and take().
template <class Library, class Channels> int channel_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {5'000'000, 100'000});
    pin_if_single(s);
    Library library(s.workers);
    figure buffered{"ns"}, spawned{"ns/spawned"}, meeting{"ns/meeting"};
    for (int i = 0; i < s.runs; ++i) {
        library.run([&] {
            measure_transfer<typename Library::group, typename Channels::buffered>(buffered, s.n);
            measure_transfer<typename spawned_threads<Library>::type, typename Channels::buffered>(
                spawned, s.n);
            measure_transfer<typename Library::group, typename Channels::meeting>(
                meeting, std::max(1L, s.n / 5));
        });
    }
    return print_all("channel", Library::k_name, s, {buffered, spawned, meeting});
}

} // namespace tulle::bench
