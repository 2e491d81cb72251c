// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/global_memory.h>.
#include "capi/bytes.hpp"
#include "capi/without_exceptions.hpp"
#include "gmem_access/memory.hpp"
#include "messenger/calls.hpp"

#include <tulle/c/global_memory.h>
#include <tulle/global_memory.hpp>

#include <algorithm>
#include <cerrno>

namespace tulle::capi {
namespace {

using namespace gmem_access;
using messenger::object_at;

std::uint64_t word_at(void const* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

int allocate(void** address, std::size_t size, int place, bool cleared) {
    return without_exceptions([&] {
        *address = &object_at<std::byte>(detail::allocate_global(size, place, cleared));
        return 0;
    });
}

template <class T>
int change_word(memory_operation operation, void* address, T value, T expected, T* before) {
    return without_exceptions([&] {
        std::uint64_t word = value;
        if (int const error =
                memory_of_caller().change(operation, word_at(address), sizeof(T), word, expected))
            return -error;
        if (before != nullptr) *before = static_cast<T>(word);
        return 0;
    });
}

template <class T> int compare_exchange_word(void* address, T* expected, T desired) {
    if (expected == nullptr) return -EINVAL;
    T const wanted = *expected;
    int const error =
        change_word<T>(memory_operation::compare_exchange, address, desired, wanted, expected);
    return error != 0 ? error : static_cast<int>(*expected == wanted);
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_global_malloc(void** address, size_t size) {
    if (address == nullptr) return -EINVAL;
    return allocate(address, size, -1, false);
}

int tulle_global_malloc_at(void** address, int place, size_t size) {
    if (address == nullptr || !is_place_number(place)) return -EINVAL;
    return allocate(address, size, place, false);
}

int tulle_global_calloc(void** address, size_t count, size_t size) {
    if (address == nullptr) return -EINVAL;
    if (size != 0 && count > SIZE_MAX / size) return -ENOMEM;
    return allocate(address, count * size, -1, true);
}

int tulle_global_realloc(void** address, size_t size) {
    if (address == nullptr) return -EINVAL;
    return without_exceptions([&] {
        *address = &object_at<std::byte>(tulle::detail::reallocate_global(word_at(*address), size));
        return 0;
    });
}

int tulle_global_free(void* address) {
    if (address == nullptr) return 0;
    return without_exceptions([&] { return -memory_of_caller().release(word_at(address)); });
}

int tulle_global_place_of(const void* address) {
    return without_exceptions([&] { return tulle::detail::place_of_global(word_at(address)); });
}

void* tulle_global_local(void* address, size_t size) {
    std::byte* direct = nullptr;
    int const error = without_exceptions(
        [&] { return memory_of_caller().locate(word_at(address), size, direct); });
    return error == 0 ? direct : nullptr;
}

int tulle_global_read(void* to, const void* from, size_t size) {
    if (size != 0 && to == nullptr) return -EINVAL;
    return without_exceptions(
        [&] { return -memory_of_caller().read(static_cast<std::byte*>(to), word_at(from), size); });
}

int tulle_global_write(void* to, const void* from, size_t size) {
    if (size != 0 && from == nullptr) return -EINVAL;
    return without_exceptions([&] {
        return -memory_of_caller().write(static_cast<std::byte const*>(from), word_at(to), size);
    });
}

int tulle_global_fetch_add_32(void* address, uint32_t operand, uint32_t* before) {
    return change_word<uint32_t>(memory_operation::add, address, operand, 0, before);
}
int tulle_global_fetch_add_64(void* address, uint64_t operand, uint64_t* before) {
    return change_word<uint64_t>(memory_operation::add, address, operand, 0, before);
}
int tulle_global_exchange_32(void* address, uint32_t value, uint32_t* before) {
    return change_word<uint32_t>(memory_operation::exchange, address, value, 0, before);
}
int tulle_global_exchange_64(void* address, uint64_t value, uint64_t* before) {
    return change_word<uint64_t>(memory_operation::exchange, address, value, 0, before);
}
int tulle_global_compare_exchange_32(void* address, uint32_t* expected, uint32_t desired) {
    return compare_exchange_word(address, expected, desired);
}
int tulle_global_compare_exchange_64(void* address, uint64_t* expected, uint64_t desired) {
    return compare_exchange_word(address, expected, desired);
}

long tulle_global_allocations(tulle_global_allocation_t* entries, size_t most) {
    if (entries == nullptr && most != 0) return -EINVAL;
    return without_exceptions([&]() -> long {
        auto const all = tulle::global_allocations();
        for (std::size_t k = 0; k < std::min(all.size(), most); ++k)
            entries[k] = {&object_at<std::byte>(all[k].address), all[k].bytes, all[k].owner};
        return static_cast<long>(all.size());
    });
}
