// SPDX-License-Identifier: Apache-2.0
// The arguments as views: there nobody copies them into a vector, as nobody does in the programs of
// the MPIs. Results are vectors.
#include "calls_over_places.hpp"

namespace tulle::bench {
namespace {

struct calls_with_views : calls_over_places {
    bool statement(std::size_t size) {
        bytes.resize(size);
        return tulle::at(
                   there, [](tulle::view<std::byte> got) { return got.size(); },
                   tulle::view(bytes)) == size;
    }
    bool expression(std::size_t size) {
        bytes.resize(size);
        return tulle::at(
                   there,
                   [](tulle::view<std::byte> got) {
                       return std::vector<std::byte>(got.begin(), got.end());
                   },
                   tulle::view(bytes))
                   .size() == size;
    }
};

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {50'000, 5'000});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] { figures = measure_calls(calls_with_views{}, s); });
    return print_all("at", "tulle_view", s, figures);
}

} // namespace

benchmark const registered("at", "tulle_view", run);

} // namespace tulle::bench
