// SPDX-License-Identifier: Apache-2.0
// Memory that other processes could have a part of, for benchmarks of what the processor alone
// takes.
#pragma once

#include <cstddef>
#include <cstdlib>

#include <sys/mman.h>

namespace tulle::bench {

class shared_bytes {
public:
    explicit shared_bytes(std::size_t size) : m_size(size) {
        void* const all =
            mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) std::abort();
        m_low = static_cast<unsigned char*>(all);
    }
    shared_bytes(shared_bytes const&) = delete;
    shared_bytes& operator=(shared_bytes const&) = delete;
    ~shared_bytes() { munmap(m_low, m_size); }

    [[nodiscard]] unsigned char* low() const { return m_low; }

private:
    std::size_t m_size;
    unsigned char* m_low = nullptr;
};

} // namespace tulle::bench
