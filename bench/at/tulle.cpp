// SPDX-License-Identifier: Apache-2.0
#include "calls_over_places.hpp"

namespace tulle::bench {
namespace {

struct calls : calls_over_places {
    bool statement(std::size_t size) {
        bytes.resize(size);
        return tulle::at(
                   there, [](std::vector<std::byte> const& got) { return got.size(); }, bytes) ==
               size;
    }
    bool expression(std::size_t size) {
        bytes.resize(size);
        return tulle::at(
                   there, [](std::vector<std::byte> got) { return got; }, bytes)
                   .size() == size;
    }
};

// In batches, as a program with much to start would wait for some of it.
void measure_activities(settings const& s, figure& each, figure& go_on) {
    constexpr long k_batch = 100;
    tulle::place const there(1);
    long const batches = (s.n + k_batch - 1) / k_batch;
    auto const started = static_cast<double>(batches * k_batch);
    for (int run = 0; run < s.runs; ++run) {
        double starting = 0;
        long const served = served_at(there);
        double const all = time_of([&] {
            for (long k = 0; k < batches; ++k)
                tulle::finish([&](tulle::activities& of) {
                    starting += time_of([&] {
                        for (long i = 0; i < k_batch; ++i) of.async_at(there, [] { serve(); });
                    });
                });
        });
        bool const right = served_at(there) - served == batches * k_batch;
        each.add(1e9 * all / started, right);
        go_on.add(1e9 * starting / started, right);
    }
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {50'000, 5'000});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        figures = measure_calls(calls{}, s);
        figure each{"ns activity"};
        figure go_on{"ns continue"};
        measure_activities(s, each, go_on);
        figures.insert(figures.begin() + 1, {each, go_on});
    });
    return print_all("at", "tulle", s, figures);
}

} // namespace

benchmark const registered("at", "tulle", run);

} // namespace tulle::bench
