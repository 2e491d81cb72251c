// SPDX-License-Identifier: Apache-2.0
// channel: one thread sends n numbers to another. Figures: ns per number through a channel with room for 64; and without a buffer, where
// each waits for the other.
#pragma once

#include "../common/harness.hpp"

namespace tulle::bench {

inline constexpr long k_room = 64;

template <class Library, class Channel> double time_transfer(Channel& channel, long n, long& sum) {
    return time_of([&] {
        typename Library::group threads;
        threads.spawn([&channel, n] {
            for (long k = 0; k < n; ++k) channel.put(k);
        });
        threads.spawn([&channel, &sum, n] {
            for (long k = 0; k < n; ++k) sum += channel.take();
        });
        threads.wait();
    });
}

// Channels: buffered, with room for k_room, and meeting, without; each has put(long) and take().
template <class Library, class Channels> int channel_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {5'000'000, 100'000});
    pin_if_single(s);
    Library library(s.workers);
    figure buffered{"ns"}, meeting{"ns/meeting"};
    for (int i = 0; i < s.runs; ++i) {
        long sum = 0;
        double time = 0;
        library.run([&] {
            typename Channels::buffered c;
            time = time_transfer<Library>(c, s.n, sum);
        });
        buffered.add(1e9 * time / static_cast<double>(s.n), sum == s.n * (s.n - 1) / 2);
        long const meetings = s.n / 5;
        sum = 0;
        library.run([&] {
            typename Channels::meeting c;
            time = time_transfer<Library>(c, meetings, sum);
        });
        meeting.add(1e9 * time / static_cast<double>(meetings), sum == meetings * (meetings - 1) / 2);
    }
    return print_all("channel", Library::k_name, s, {buffered, meeting});
}

} // namespace tulle::bench
