// SPDX-License-Identifier: Apache-2.0
#include "../common/places.hpp"
#include "onesided_sizes.hpp"

namespace tulle::bench {
namespace {

class memory_of_places {
public:
    memory_of_places() {
        for (tulle::place const p : tulle::places())
            m_segments.push_back(tulle::allocate_global_at<unsigned char>(p, k_largest));
    }
    ~memory_of_places() {
        for (auto const segment : m_segments) tulle::free_global(segment);
    }
    memory_of_places(memory_of_places const&) = delete;
    memory_of_places& operator=(memory_of_places const&) = delete;

    void read(int place, unsigned char* to, std::size_t bytes) const {
        tulle::read(of(place), std::span(to, bytes));
    }
    void write(int place, unsigned char const* from, std::size_t bytes) const {
        tulle::write(std::span(from, bytes), of(place));
    }

private:
    [[nodiscard]] tulle::global_ptr<unsigned char> of(int place) const {
        return m_segments[static_cast<std::size_t>(place)];
    }

    std::vector<tulle::global_ptr<unsigned char>> m_segments{};
};

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, k_sizes_counts);
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        memory_of_places memory;
        figures = size_measurement(memory, s).measure();
    });
    return print_all("onesided-sizes", "tulle", s, figures);
}

} // namespace

benchmark const registered("onesided-sizes", "tulle", run);

} // namespace tulle::bench
