// SPDX-License-Identifier: Apache-2.0
// progress: reads a word of another place (get) while the only worker there computes for 100 ms and
// neither waits nor polls, and while it is idle; ns until the word is there.
#include "../common/places.hpp"

#include <tulle.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tulle::bench {
namespace {

constexpr double k_computing_s = 0.1;

std::atomic<bool> s_computes{false};
std::uint64_t s_word = 17;

void compute() {
    s_computes = true;
    double const end = seconds() + k_computing_s;
    while (seconds() < end) touch();
    s_computes = false;
}

double time_of_get(std::uintptr_t from, bool& right) {
    std::uint64_t got = 0;
    double const time = time_of([&] {
        right &= tulle_pull(&got, 1, reinterpret_cast<void const*>(from), sizeof got) == 0;
    });
    right = right && got == 17;
    return time;
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {20, 5});
    tulle_places library(s);
    std::vector<figure> figures{{"ns get, idle"}, {"ns get, computing"}};
    library.run([&] {
        tulle::place const other(1);
        std::uintptr_t const word =
            tulle::at(other, [] { return reinterpret_cast<std::uintptr_t>(&s_word); });
        for (int run = 0; run < s.runs; ++run) {
            std::vector<double> idle;
            std::vector<double> busy;
            bool right = true;
            for (long k = 0; k < s.n; ++k) {
                idle.push_back(1e9 * time_of_get(word, right));
                tulle::finish([&](tulle::activities& all) {
                    all.async_at(other, [] { compute(); });
                    double const soon = seconds() + k_computing_s / 4;
                    while (seconds() < soon) touch(); // it computes by now
                    busy.push_back(1e9 * time_of_get(word, right));
                });
            }
            figures[0].add(median(idle), right);
            figures[1].add(median(busy), right);
        }
    });
    return print_all("progress", "tulle", s, figures);
}

} // namespace

benchmark const registered("progress", "tulle", run);

} // namespace tulle::bench
