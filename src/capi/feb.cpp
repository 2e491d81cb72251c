// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/feb.h>.
#include "capi/deadline.hpp"

#include <tulle/address_lock.hpp>
#include <tulle/c/feb.h>
#include <tulle/detail/feb_calls.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

namespace {

using op = tulle::detail::feb_operation;

constexpr int k_busy = -EBUSY, k_timed_out = -ETIMEDOUT;

struct request {
    op what;
    void* word;
    std::size_t size;
    void const* from;       // null: zeros
    void* to;               // null: not wanted
    std::uint64_t deadline; // 0: try
    int otherwise;          // when it would have to wait longer
};

template <class Word> int apply_to(request const& r) try {
    Word value{};
    if (r.from != nullptr) std::memcpy(&value, r.from, sizeof value);
    if (!tulle::detail::feb_calls<Word>::apply(r.what, static_cast<Word*>(r.word), value,
                                               r.deadline))
        return r.otherwise;
    if (r.to != nullptr) std::memcpy(r.to, &value, sizeof value);
    return 0;
} catch (std::bad_alloc const&) {
    return -ENOMEM;
}

bool is_word(void const* word, std::size_t size) noexcept {
    bool const is_size = size == 1 || size == 2 || size == 4 || size == 8;
    return word != nullptr && is_size && reinterpret_cast<std::uintptr_t>(word) % size == 0;
}

int apply(request const& r) noexcept {
    if (!is_word(r.word, r.size)) return -EINVAL;
    switch (r.size) {
        case 8: return apply_to<std::uint64_t>(r);
        case 4: return apply_to<std::uint32_t>(r);
        case 2: return apply_to<std::uint16_t>(r);
        default: return apply_to<std::uint8_t>(r);
    }
}

int read(op operation, void* to, void const* word, std::size_t size, std::uint64_t deadline,
         int otherwise) noexcept {
    return apply({operation, const_cast<void*>(word), size, nullptr, to, deadline, otherwise});
}
int write(op operation, void* word, void const* from, std::size_t size, std::uint64_t deadline,
          int otherwise) noexcept {
    if (from == nullptr) return -EINVAL;
    return apply({operation, word, size, from, nullptr, deadline, otherwise});
}
int change(op operation, void* word, void const* from, std::size_t size) noexcept {
    return apply({operation, word, size, from, nullptr, 0, 0});
}

int lock(void const* address, std::uint64_t deadline, int otherwise) noexcept try {
    if (address == nullptr) return -EINVAL;
    return tulle::detail::lock_address(address, deadline) ? 0 : otherwise;
} catch (std::bad_alloc const&) {
    return -ENOMEM;
}

using tulle::capi::deadline_in;
using tulle::detail::k_no_deadline;

} // namespace

int tulle_feb_is_full(const void* word) {
    return word == nullptr ? -EINVAL : static_cast<int>(tulle::detail::feb_is_full(word));
}

size_t tulle_feb_waiting(const void* word, uint64_t* ids, size_t capacity) {
    if (word == nullptr) return 0;
    return tulle::detail::feb_waiting(word, ids, ids == nullptr ? 0 : capacity);
}

int tulle_feb_fill(void* word, size_t size) { return change(op::fill, word, nullptr, size); }
int tulle_feb_empty(void* word, size_t size) { return change(op::empty, word, nullptr, size); }
int tulle_feb_purge(void* word, const void* value, size_t size) {
    return change(op::purge, word, value, size);
}
int tulle_feb_write_f(void* word, const void* value, size_t size) {
    return write(op::write_f, word, value, size, 0, 0);
}

int tulle_feb_read_xx(void* result, const void* word, size_t size) {
    if (!is_word(word, size)) return -EINVAL;
    tulle::schedule_point();
    if (result == nullptr) return 0;
    // acquire pairs with the writers' releases; the size is known to the compiler in each case.
    switch (size) {
        case 8:
            __atomic_load(static_cast<uint64_t const*>(word), static_cast<uint64_t*>(result),
                          __ATOMIC_ACQUIRE);
            break;
        case 4:
            __atomic_load(static_cast<uint32_t const*>(word), static_cast<uint32_t*>(result),
                          __ATOMIC_ACQUIRE);
            break;
        case 2:
            __atomic_load(static_cast<uint16_t const*>(word), static_cast<uint16_t*>(result),
                          __ATOMIC_ACQUIRE);
            break;
        default:
            __atomic_load(static_cast<uint8_t const*>(word), static_cast<uint8_t*>(result),
                          __ATOMIC_ACQUIRE);
    }
    return 0;
}

int tulle_feb_read_ff(void* result, const void* word, size_t size) {
    return read(op::read_ff, result, word, size, k_no_deadline, 0);
}
int tulle_feb_try_read_ff(void* result, const void* word, size_t size) {
    return read(op::read_ff, result, word, size, 0, k_busy);
}
int tulle_feb_timed_read_ff(void* result, const void* word, size_t size, uint64_t timeout_ns) {
    return read(op::read_ff, result, word, size, deadline_in(timeout_ns), k_timed_out);
}
int tulle_feb_write_ff(void* word, const void* value, size_t size) {
    return write(op::write_ff, word, value, size, k_no_deadline, 0);
}
int tulle_feb_try_write_ff(void* word, const void* value, size_t size) {
    return write(op::write_ff, word, value, size, 0, k_busy);
}
int tulle_feb_timed_write_ff(void* word, const void* value, size_t size, uint64_t timeout_ns) {
    return write(op::write_ff, word, value, size, deadline_in(timeout_ns), k_timed_out);
}

int tulle_feb_read_fe(void* result, void* word, size_t size) {
    return read(op::read_fe, result, word, size, k_no_deadline, 0);
}
int tulle_feb_try_read_fe(void* result, void* word, size_t size) {
    return read(op::read_fe, result, word, size, 0, k_busy);
}
int tulle_feb_timed_read_fe(void* result, void* word, size_t size, uint64_t timeout_ns) {
    return read(op::read_fe, result, word, size, deadline_in(timeout_ns), k_timed_out);
}

int tulle_feb_write_ef(void* word, const void* value, size_t size) {
    return write(op::write_ef, word, value, size, k_no_deadline, 0);
}
int tulle_feb_try_write_ef(void* word, const void* value, size_t size) {
    return write(op::write_ef, word, value, size, 0, k_busy);
}
int tulle_feb_timed_write_ef(void* word, const void* value, size_t size, uint64_t timeout_ns) {
    return write(op::write_ef, word, value, size, deadline_in(timeout_ns), k_timed_out);
}

int tulle_address_lock(const void* address) { return lock(address, k_no_deadline, 0); }
int tulle_address_trylock(const void* address) { return lock(address, 0, k_busy); }
int tulle_address_timedlock(const void* address, uint64_t timeout_ns) {
    return lock(address, deadline_in(timeout_ns), k_timed_out);
}
int tulle_address_unlock(const void* address) {
    if (address == nullptr) return -EINVAL;
    tulle::detail::unlock_address(address);
    return 0;
}
