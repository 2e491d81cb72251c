// SPDX-License-Identifier: Apache-2.0
//
// Heat spreads over a plate from its hot upper edge. Each place has a strip of rows; before each
// step it sends its outer rows to the places above and below.
#include "common/places.hpp"
#include "common/program.hpp"

#include <cstdio>
#include <numeric>
#include <stdexcept>

namespace {

using namespace examples;

using row = std::vector<double>;

// Some rows of an n x n plate, and one more above and below: those of the neighbours.
struct strip {
    std::size_t n = 0;
    share rows{};
    std::vector<row> now{};
    std::vector<row> next{};

    void begin(std::size_t side, share which) {
        n = side;
        rows = which;
        now.assign(rows.size() + 2, row(n, 0.0));
        if (rows.begin == 0) now[1].assign(n, 100.0);
        next = now;
    }
    // Edges of the plate stay as they are.
    void compute_row(std::size_t i) {
        if (rows.begin + i == 1 || rows.begin + i == n) return;
        for (std::size_t c = 1; c + 1 < n; ++c)
            next[i][c] = now[i][c] + 0.2 * (now[i - 1][c] + now[i + 1][c] + now[i][c - 1] +
                                            now[i][c + 1] - 4 * now[i][c]);
    }
};

strip own; // this place's

void send_outer_rows() {
    int const here = tulle::here().index();
    if (here > 0)
        tulle::this_activity::async_at(
            tulle::place(here - 1), [](row const& r) { own.now.back() = r; }, own.now[1]);
    if (here + 1 < tulle::place_count())
        tulle::this_activity::async_at(
            tulle::place(here + 1), [](row const& r) { own.now.front() = r; },
            own.now[own.rows.size()]);
}

void step() {
    tulle::parallel_for(1, own.rows.size() + 1, [](std::size_t i) { own.compute_row(i); });
    own.now.swap(own.next);
}

// The plate row by row.
std::vector<row> compute(std::size_t n, int steps) {
    everywhere([](std::size_t side) { own.begin(side, share_here(side)); }, n);
    for (int k = 0; k < steps; ++k) {
        everywhere([] { send_outer_rows(); });
        everywhere([] { step(); });
    }
    return joined(gather([] { return std::vector<row>(own.now.begin() + 1, own.now.end() - 1); }));
}

std::vector<row> compute_serially(std::size_t n, int steps) {
    strip whole;
    whole.begin(n, {0, n});
    for (int k = 0; k < steps; ++k) {
        for (std::size_t i = 1; i <= n; ++i) whole.compute_row(i);
        whole.now.swap(whole.next);
    }
    return {whole.now.begin() + 1, whole.now.end() - 1};
}

bool run(std::size_t n, int steps) {
    if (n < static_cast<std::size_t>(tulle::place_count()))
        throw std::runtime_error("fewer rows than places");
    auto const plate = compute(n, steps);
    double const sum = std::accumulate(plate.begin(), plate.end(), 0.0, [](double s, row const& r) {
        return std::accumulate(r.begin(), r.end(), s);
    });
    std::printf("%zu x %zu, %d steps at %d places: %.6f degrees on average\n", n, n, steps,
                tulle::place_count(), sum / static_cast<double>(n * n));
    return plate == compute_serially(n, steps);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Heat spreads over a plate whose rows are spread over the places.", "heat"};
    std::size_t n = 400;
    int steps = 200;
    line.number("n", n, "rows and columns", 3, 100'000);
    line.number("--steps", steps, "", 0, 1'000'000);
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{});
        return run(n, steps) ? k_exit_ok : k_exit_check_failed;
    });
}
