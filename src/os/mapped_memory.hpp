// SPDX-License-Identifier: Apache-2.0
// Memory that comes straight from the system and is given back as a whole: for work that must not
// touch the C library's heap, because it is done in a copy of the process, where nobody may be left
// to release the heap's lock.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace tulle::os {

class mapped_memory : public std::pmr::memory_resource {
private:
    // Throws std::bad_alloc.
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
    [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override {
        return this == &other;
    }
};

} // namespace tulle::os
