// SPDX-License-Identifier: Apache-2.0
#include "os/mapped_memory.hpp"

#include <new>

#include "os/memory.hpp"

namespace tulle::os {

void* mapped_memory::do_allocate(std::size_t bytes, std::size_t alignment) {
    std::size_t const page = page_size();
    void* const memory = system_memory().reserve((bytes + page - 1) / page * page,
                                                 alignment > page ? alignment : page);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void mapped_memory::do_deallocate(void* memory, std::size_t bytes, std::size_t) {
    std::size_t const page = page_size();
    static_cast<void>(system_memory().release(memory, (bytes + page - 1) / page * page));
}

} // namespace tulle::os
