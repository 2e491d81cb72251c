// SPDX-License-Identifier: Apache-2.0
//
// K-means over points that are spread over the places: each round sends the centres to all, and
// gets back sums. These are integers, so the result does not depend on the number of places.
#include "common/places.hpp"
#include "common/program.hpp"

#include <cstdio>

namespace {

using namespace examples;

constexpr int k_rounds = 30;                 // at most
constexpr std::uint64_t k_cloud = 1U << 16U; // its side; that of all is 16 times as long

struct point {
    long x;
    long y;
    friend bool operator==(point const&, point const&) = default;
};
using points = std::vector<point>;

// Of the points nearest to a centre.
struct sum {
    long x = 0;
    long y = 0;
    long count = 0;
    void operator+=(sum const& more) { *this = {x + more.x, y + more.y, count + more.count}; }
};
using sums = std::vector<sum>;

points own; // this place's

long coordinate(std::uint64_t middle, std::uint64_t off) {
    return static_cast<long>(middle % (16 * k_cloud) + off % k_cloud);
}

// In clouds around k places.
points make_points(share range, std::size_t k) {
    points made;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        std::uint64_t const middle = random_number(1, i % k);
        std::uint64_t const off = random_number(2, i);
        made.push_back({coordinate(middle >> 32U, off >> 32U), coordinate(middle, off)});
    }
    return made;
}

std::size_t nearest(point p, points const& centres) {
    auto const distance = [p](point c) {
        return (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y);
    };
    auto const closer = [&](point a, point b) { return distance(a) < distance(b); };
    return static_cast<std::size_t>(std::min_element(centres.begin(), centres.end(), closer) -
                                    centres.begin());
}

sums add_up(points const& all, points const& centres) {
    sums found(centres.size());
    for (point const p : all) found[nearest(p, centres)] += {p.x, p.y, 1};
    return found;
}

sums add_up_everywhere(points const& centres) {
    sums all(centres.size());
    for (sums const& some : gather([](points const& c) { return add_up(own, c); }, centres))
        for (std::size_t k = 0; k < all.size(); ++k) all[k] += some[k];
    return all;
}

// From the first k points on.
template <class AddUp> points find_centres(points centres, AddUp add_up_all) {
    for (int round = 0; round < k_rounds; ++round) {
        points const before = centres;
        sums const all = add_up_all(centres);
        for (std::size_t k = 0; k < centres.size(); ++k)
            if (all[k].count != 0) centres[k] = {all[k].x / all[k].count, all[k].y / all[k].count};
        if (centres == before) break;
    }
    return centres;
}

bool run(std::size_t n, std::size_t k) {
    everywhere(
        [](std::size_t all, std::size_t clouds) { own = make_points(share_here(all), clouds); }, n,
        k);
    points const first = make_points({0, k}, k);
    points const centres = find_centres(first, add_up_everywhere);
    for (point const c : centres) std::printf("%ld %ld\n", c.x, c.y);
    return centres == find_centres(first, [all = make_points({0, n}, k)](points const& c) {
               return add_up(all, c);
           });
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Finds the centres of clouds of points that are spread over the places.",
                      "kmeans"};
    std::size_t n = 500'000;
    std::size_t k = 8;
    line.number("n", n, "points", 1, std::size_t{1} << 36U);
    line.number("-k", k, "clouds", 1, 10'000);
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{});
        return run(n, k) ? k_exit_ok : k_exit_check_failed;
    });
}
