// SPDX-License-Identifier: Apache-2.0
#include "spanning.hpp"

#include "../common/places.hpp"

#include <span>

namespace tulle::bench {
namespace {

// All of global memory, from the first byte of the first place on; nothing else is in use there.
class all_memory {
public:
    all_memory() : m_first(tulle::allocate_global_at<unsigned char>(tulle::place(0))) {
        if (m_first.address() % k_span_of_each != 0 ||
            (m_first + static_cast<std::ptrdiff_t>(k_span_of_each) * (tulle::place_count() - 1))
                    .home() != tulle::place(tulle::place_count() - 1)) {
            std::fprintf(stderr, "the first allocation is not at the beginning of the memory\n");
            std::exit(2);
        }
    }
    ~all_memory() { tulle::free_global(m_first); }
    all_memory(all_memory const&) = delete;
    all_memory& operator=(all_memory const&) = delete;

    void read(unsigned char* to, std::size_t bytes) const {
        tulle::read(m_first, std::span(to, bytes));
    }
    void write(unsigned char const* from, std::size_t bytes) const {
        tulle::write(std::span(from, bytes), m_first);
    }

private:
    tulle::global_ptr<unsigned char> m_first;
};

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, k_span_counts);
    tulle::set_option("global_memory",
                      std::to_string(k_span_of_each * static_cast<std::size_t>(s.places)));
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        all_memory memory;
        figures = measure_spans(memory, s);
    });
    return print_all("spanning", "tulle", s, figures);
}

} // namespace

benchmark const registered("spanning", "tulle", run);

} // namespace tulle::bench
