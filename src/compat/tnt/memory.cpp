// SPDX-License-Identifier: Apache-2.0
// Shared memory: global memory, with positive errno values.
#include <tnt.h>
#include <tulle/c/global_memory.h>

#include <cerrno>

namespace {

void* made(int error, void* address) {
    if (error != 0) errno = -error;
    return error == 0 ? address : nullptr;
}

} // namespace

void* tnt_malloc(size_t size) {
    void* address = nullptr;
    int const error = tulle_global_malloc(&address, size);
    return made(error, address);
}

void* tnt_calloc(size_t count, size_t size) {
    void* address = nullptr;
    int const error = tulle_global_calloc(&address, count, size);
    return made(error, address);
}

void* tnt_realloc(void* address, size_t size) {
    int const error = tulle_global_realloc(&address, size);
    return made(error, address);
}

int tnt_free(void* address) { return -tulle_global_free(address); }
int tnt_read(void* to, const void* shared, size_t size) {
    return -tulle_global_read(to, shared, size);
}
int tnt_write(void* shared, const void* from, size_t size) {
    return -tulle_global_write(shared, from, size);
}
