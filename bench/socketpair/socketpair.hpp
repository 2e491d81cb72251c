// SPDX-License-Identifier: Apache-2.0
// socketpair: two threads pass n bytes there and back through a pair of sockets. Figure: ns per
// round trip.
#pragma once

#include "../common/harness.hpp"

#include <array>

#include <sys/socket.h>

namespace tulle::bench {

template <class Library, class Calls> double time_socket_pair(long n, bool& right) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        right = false;
        return 0;
    }
    double const time = time_of([&] {
        typename Library::group threads;
        threads.spawn([n, socket = ends[1]] {
            unsigned char byte = 0;
            for (long k = 0; k < n && Calls::read(socket, &byte, 1) == 1; ++k) {
                ++byte;
                if (Calls::write(socket, &byte, 1) != 1) break;
            }
            Calls::close(socket); // after a failure the other one ends, too
        });
        for (long k = 0; k < n && right; ++k) {
            auto byte = static_cast<unsigned char>(k);
            right = Calls::write(ends[0], &byte, 1) == 1 && Calls::read(ends[0], &byte, 1) == 1 &&
                    byte == static_cast<unsigned char>(k + 1);
        }
        threads.wait();
    });
    Calls::close(ends[0]);
    return time;
}

template <class Library, class Calls>
int socketpair_main(int argc, char** argv, sizes size = {200'000, 5'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        long const n = i < 0 ? 1000 : s.n;
        bool right = true;
        double time = 0;
        library.run([&] { time = time_socket_pair<Library, Calls>(n, right); });
        if (i >= 0) cost.add(1e9 * time / static_cast<double>(n), right);
    }
    return print_all("socketpair", Library::k_name, s, {cost});
}

} // namespace tulle::bench
