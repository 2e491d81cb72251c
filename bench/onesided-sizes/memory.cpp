// SPDX-License-Identifier: Apache-2.0
// The processor alone: memory of which other processes could have a part.
#include "onesided_sizes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace tulle::bench {
namespace {

class shared_memory {
public:
    explicit shared_memory(int places) : m_size(static_cast<std::size_t>(places) * k_largest) {
        void* const all =
            mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) std::abort();
        m_bytes = static_cast<unsigned char*>(all);
    }
    ~shared_memory() { munmap(m_bytes, m_size); }
    shared_memory(shared_memory const&) = delete;
    shared_memory& operator=(shared_memory const&) = delete;

    void read(int place, unsigned char* to, std::size_t bytes) const {
        std::memcpy(to, of(place), bytes);
    }
    void write(int place, unsigned char const* from, std::size_t bytes) const {
        std::memcpy(of(place), from, bytes);
        touch();
    }

private:
    [[nodiscard]] unsigned char* of(int place) const {
        return m_bytes + static_cast<std::size_t>(place) * k_largest;
    }

    std::size_t m_size;
    unsigned char* m_bytes = nullptr;
};

} // namespace

benchmark const registered("onesided-sizes", "memory", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_sizes_counts);
    pin_if_single(s);
    shared_memory memory(std::max(s.places, 2));
    return print_all("onesided-sizes", "memory", s, size_measurement(memory, s).measure());
});

} // namespace tulle::bench
