// SPDX-License-Identifier: Apache-2.0
// What channels of all types share with the library.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/limit.hpp>
#include <tulle/detail/opaque.hpp>

#include <cstddef>

namespace tulle {

// What has come of a call of a channel.
enum class channel_status {
    // the item has been sent or received
    success,
    closed,   // send: no items are taken any longer; receive: and none is left
    not_ready // it would have to wait, or has waited until its limit was reached; nothing was done
};

namespace detail {

inline constexpr std::size_t k_unbounded = ~std::size_t{0};

// How items are handled. Called under the channel's lock: none of these may wait, or use the
// channel.
struct item_type {
    std::size_t size;
    std::size_t alignment;
    // Makes an item of another, which stays to be destroyed.
    void (*move)(void* target, void* source, std::size_t size) noexcept;
    void (*destroy)(void* item, std::size_t size) noexcept;
};

struct channel_core; // src/sync/channel.cpp

// One send or receive among those that a thread waits for. The item: the one to be sent, or storage
// for one.
struct channel_case {
    channel_core* channel = nullptr;
    void* item = nullptr;
    bool is_send = false;
    channel_status status = channel_status::not_ready;
    opaque<64> node;
};

// Throws std::bad_alloc.
TULLE_API channel_core* open_channel(item_type const& type, std::size_t capacity);
TULLE_API void destroy_channel(channel_core* c) noexcept;
// not_ready: the limit was reached. send throws std::bad_alloc if the channel is unbounded; nothing
// was done then.
TULLE_API channel_status send(channel_core& c, void* item, limit until);
TULLE_API channel_status receive(channel_core& c, void* item, limit until) noexcept;
// Waits until one of them can go on, and does that one. Its index; `count`: the limit was reached.
// Throws as send does.
TULLE_API std::size_t select(channel_case* const* cases, std::size_t count, limit until);
TULLE_API bool close_channel(channel_core& c) noexcept; // false: it was closed already
TULLE_API bool is_closed(channel_core const& c) noexcept;
TULLE_API std::size_t channel_size(channel_core const& c) noexcept;

} // namespace detail
} // namespace tulle
