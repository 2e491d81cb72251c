// SPDX-License-Identifier: Apache-2.0
// The processor alone: memory that other processes could have a part of.
#include "spanning.hpp"

#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace tulle::bench {
namespace {

class shared_memory {
public:
    explicit shared_memory(std::size_t bytes) : m_size(bytes) {
        void* const all =
            mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) std::abort();
        m_bytes = static_cast<unsigned char*>(all);
    }
    ~shared_memory() { munmap(m_bytes, m_size); }
    shared_memory(shared_memory const&) = delete;
    shared_memory& operator=(shared_memory const&) = delete;

    void read(unsigned char* to, std::size_t bytes) const { std::memcpy(to, m_bytes, bytes); }
    void write(unsigned char const* from, std::size_t bytes) const {
        std::memcpy(m_bytes, from, bytes);
        touch();
    }

private:
    std::size_t m_size;
    unsigned char* m_bytes = nullptr;
};

} // namespace

benchmark const registered("spanning", "memory", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_span_counts);
    pin_if_single(s);
    shared_memory memory(static_cast<std::size_t>(s.places) * k_span_of_each);
    return print_all("spanning", "memory", s, measure_spans(memory, s));
});

} // namespace tulle::bench
