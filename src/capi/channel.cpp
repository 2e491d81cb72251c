// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/channel.h>: items are bytes.
#include "capi/limit.hpp"

#include <tulle/c/channel.h>
#include <tulle/detail/channel_calls.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace tulle::capi {
namespace {

using namespace sync;

using detail::channel_case;
using detail::limit;

void copy_bytes(void* to, void* from, std::size_t size) noexcept { std::memcpy(to, from, size); }
void forget_bytes(void* /*item*/, std::size_t /*size*/) noexcept {}

// The strictest alignment that such an item can have.
std::size_t alignment_of(std::size_t size) noexcept {
    return std::min(size & (~size + 1), alignof(std::max_align_t));
}

detail::channel_core* core(tulle_channel_t* c) noexcept {
    return reinterpret_cast<detail::channel_core*>(c);
}

// `refused`: what not_ready means.
int as_errno(channel_status status, int refused) noexcept {
    if (status == channel_status::success) return 0;
    return status == channel_status::closed ? -EPIPE : refused;
}
int send_c(tulle_channel_t* channel, void const* item, limit until, int refused) noexcept {
    if (channel == nullptr || item == nullptr) return -EINVAL;
    try {
        // It is only read.
        return as_errno(detail::send(*core(channel), const_cast<void*>(item), until), refused);
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    }
}
int receive_c(tulle_channel_t* channel, void* item, limit until, int refused) noexcept {
    if (channel == nullptr || item == nullptr) return -EINVAL;
    return as_errno(detail::receive(*core(channel), item, until), refused);
}

// Room for the cases of one call: in the frame for a few.
struct case_room {
    static constexpr std::size_t k_few = 8;

    // False: no memory.
    [[nodiscard]] bool prepare(std::size_t count) noexcept {
        if (count <= k_few) return true;
        more_cases.reset(new (std::nothrow) channel_case[count]);
        more_addresses.reset(new (std::nothrow) channel_case*[count]);
        cases = more_cases.get();
        addresses = more_addresses.get();
        return cases != nullptr && addresses != nullptr;
    }

    channel_case few_cases[k_few];
    channel_case* few_addresses[k_few];
    std::unique_ptr<channel_case[]> more_cases;
    std::unique_ptr<channel_case*[]> more_addresses;
    channel_case* cases = few_cases;
    channel_case** addresses = few_addresses;
};

bool are_valid(tulle_channel_case_t const* cases, std::size_t count) noexcept {
    if (cases == nullptr || count == 0 || count > INT_MAX) return false;
    return std::all_of(cases, cases + count, [](tulle_channel_case_t const& c) {
        return c.channel != nullptr && c.item != nullptr;
    });
}
int select_c(tulle_channel_case_t* cases, std::size_t count, limit until, int refused) noexcept {
    if (!are_valid(cases, count)) return -EINVAL;
    case_room room;
    if (!room.prepare(count)) return -ENOMEM;
    for (std::size_t k = 0; k < count; ++k) {
        room.cases[k].channel = core(cases[k].channel);
        room.cases[k].item = cases[k].item;
        room.cases[k].is_send = cases[k].is_send != 0;
        room.addresses[k] = &room.cases[k];
        cases[k].result = -EBUSY;
    }
    try {
        std::size_t const chosen = detail::select(room.addresses, count, until);
        if (chosen == count) return refused;
        cases[chosen].result = as_errno(room.cases[chosen].status, refused);
        return static_cast<int>(chosen);
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    }
}
// call(limit) returns k_refused when that was reached.
constexpr int k_refused = INT_MIN;

template <class Call> int with_limit(tulle_limit_t const* l, Call call) noexcept {
    if (l == nullptr) return -EINVAL;
    int const result = call(limit_of(*l));
    return result == k_refused ? reason_of(*l) : result;
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;
using tulle::detail::k_no_deadline;

int tulle_channel_create(tulle_channel_t** out, size_t item_size, size_t capacity) {
    if (out == nullptr || item_size == 0 || item_size > PTRDIFF_MAX / 64) return -EINVAL;
    if (capacity != TULLE_UNBOUNDED && capacity > PTRDIFF_MAX / item_size - 64) return -EINVAL;
    try {
        *out = reinterpret_cast<tulle_channel_t*>(tulle::detail::open_channel(
            {item_size, alignment_of(item_size), &copy_bytes, &forget_bytes}, capacity));
        return 0;
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    }
}

int tulle_channel_destroy(tulle_channel_t* channel) {
    if (channel == nullptr) return -EINVAL;
    tulle::detail::destroy_channel(core(channel));
    return 0;
}

int tulle_channel_send(tulle_channel_t* channel, const void* item) {
    return send_c(channel, item, k_no_deadline, 0);
}

int tulle_channel_trysend(tulle_channel_t* channel, const void* item) {
    return send_c(channel, item, std::uint64_t{0}, -EBUSY);
}

int tulle_channel_timedsend(tulle_channel_t* channel, const void* item, uint64_t timeout_ns) {
    return send_c(channel, item, deadline_in(timeout_ns), -ETIMEDOUT);
}

int tulle_channel_send_within(tulle_channel_t* channel, const void* item,
                              const tulle_limit_t* limit) {
    return with_limit(limit,
                      [=](tulle::detail::limit l) { return send_c(channel, item, l, k_refused); });
}

int tulle_channel_receive(tulle_channel_t* channel, void* item) {
    return receive_c(channel, item, k_no_deadline, 0);
}

int tulle_channel_tryreceive(tulle_channel_t* channel, void* item) {
    return receive_c(channel, item, std::uint64_t{0}, -EBUSY);
}

int tulle_channel_timedreceive(tulle_channel_t* channel, void* item, uint64_t timeout_ns) {
    return receive_c(channel, item, deadline_in(timeout_ns), -ETIMEDOUT);
}

int tulle_channel_receive_within(tulle_channel_t* channel, void* item, const tulle_limit_t* limit) {
    return with_limit(
        limit, [=](tulle::detail::limit l) { return receive_c(channel, item, l, k_refused); });
}

int tulle_channel_close(tulle_channel_t* channel) {
    if (channel == nullptr) return -EINVAL;
    return tulle::detail::close_channel(*core(channel)) ? 0 : -EALREADY;
}

size_t tulle_channel_size(tulle_channel_t* channel) {
    return channel == nullptr ? 0 : tulle::detail::channel_size(*core(channel));
}

int tulle_channel_select(tulle_channel_case_t* cases, size_t count) {
    return select_c(cases, count, k_no_deadline, -EBUSY);
}

int tulle_channel_tryselect(tulle_channel_case_t* cases, size_t count) {
    return select_c(cases, count, std::uint64_t{0}, -EBUSY);
}

int tulle_channel_timedselect(tulle_channel_case_t* cases, size_t count, uint64_t timeout_ns) {
    return select_c(cases, count, deadline_in(timeout_ns), -ETIMEDOUT);
}

int tulle_channel_select_within(tulle_channel_case_t* cases, size_t count,
                                const tulle_limit_t* limit) {
    return with_limit(limit,
                      [=](tulle::detail::limit l) { return select_c(cases, count, l, k_refused); });
}
