// SPDX-License-Identifier: Apache-2.0
// create-blocks: n threads created and run in blocks of 200; after each block, threads are joined
// until 200 are left, so that no more than 400 are alive. Figure: ns per thread.
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 4, the benchmark that POSIX
// threads survive (figures 1(e) and 2(e)).
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <atomic>

namespace tulle::bench {

inline constexpr long k_block = 200;

template <class Library> double create_blocks_once(settings const& s, bool& right) {
    Library library(s.workers);
    std::atomic<long> ran{0};
    double time = 0;
    library.run([&] {
        time = time_of([&] {
            typename Library::group blocks[2];
            int turn = 0;
            for (long k = 0; k < s.n; k += k_block, turn ^= 1) {
                for (long i = k; i < std::min(k + k_block, s.n); ++i)
                    blocks[turn].spawn([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
                blocks[turn ^ 1].wait();
            }
            blocks[turn ^ 1].wait();
        });
    });
    right = ran.load(std::memory_order_relaxed) == s.n; // the joins order the counts before this
    return time;
}

template <class Library>
int create_blocks_main(int argc, char** argv, sizes size = {1'000'000, 20'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    figure cost{"ns"};
    for (int i = 0; i < s.runs; ++i) {
        bool right = false;
        double const time = create_blocks_once<Library>(s, right);
        cost.add(time * 1e9 / static_cast<double>(s.n), right);
    }
    return print_all("create-blocks", Library::k_name, s, {cost});
}

} // namespace tulle::bench
