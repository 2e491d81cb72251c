// SPDX-License-Identifier: Apache-2.0
// The processor alone: memory of which other processes could have a part.
#include "onesided_sizes.hpp"

#include "../common/shared_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace tulle::bench {
namespace {

class shared_memory {
public:
    explicit shared_memory(int places) : m_bytes(static_cast<std::size_t>(places) * k_largest) {}

    void read(int place, unsigned char* to, std::size_t bytes) const {
        std::memcpy(to, of(place), bytes);
    }
    void write(int place, unsigned char const* from, std::size_t bytes) const {
        std::memcpy(of(place), from, bytes);
        touch();
    }

private:
    [[nodiscard]] unsigned char* of(int place) const {
        return m_bytes.low() + static_cast<std::size_t>(place) * k_largest;
    }

    shared_bytes m_bytes;
};

} // namespace

benchmark const registered("onesided-sizes", "memory", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_sizes_counts);
    pin_if_single(s);
    shared_memory memory(std::max(s.places, 2));
    return print_all("onesided-sizes", "memory", s, size_measurement(memory, s).measure());
});

} // namespace tulle::bench
