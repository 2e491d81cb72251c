// SPDX-License-Identifier: Apache-2.0
// The processor alone: memory that other processes could have a part of.
#include "spanning.hpp"

#include "../common/shared_bytes.hpp"

#include <cstring>

namespace tulle::bench {
namespace {

class shared_memory {
public:
    explicit shared_memory(std::size_t bytes) : m_bytes(bytes) {}

    void read(unsigned char* to, std::size_t bytes) const { std::memcpy(to, m_bytes.low(), bytes); }
    void write(unsigned char const* from, std::size_t bytes) const {
        std::memcpy(m_bytes.low(), from, bytes);
        touch();
    }

private:
    shared_bytes m_bytes;
};

} // namespace

benchmark const registered("spanning", "memory", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_span_counts);
    pin_if_single(s);
    shared_memory memory(static_cast<std::size_t>(s.places) * k_span_of_each);
    return print_all("spanning", "memory", s, measure_spans(memory, s));
});

} // namespace tulle::bench
