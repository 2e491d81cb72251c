// SPDX-License-Identifier: Apache-2.0
#include "sync/channel_select.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/channel.hpp>

namespace tulle::detail {

// The core comes first: reports know it by this address.
struct channel_core : sync::channel_core<sync::parking> {
    using sync::channel_core<sync::parking>::channel_core;
};

namespace {

using node = sync::case_node<sync::parking>;
using selection = sync::channel_select<sync::parking>;

channel_status perform(channel_core& c, void* item, bool is_send, limit until) {
    node n;
    selection one;
    channel_status status = channel_status::not_ready;
    one.add(n, c, item, is_send);
    return one.run(until, status) != nullptr ? status : channel_status::not_ready;
}

} // namespace

channel_core* open_channel(item_type const& type, std::size_t capacity) {
    return new channel_core(type, capacity);
}

void destroy_channel(channel_core* c) noexcept { delete c; }

channel_status send(channel_core& c, void* item, limit until) {
    return perform(c, item, true, until);
}

channel_status receive(channel_core& c, void* item, limit until) noexcept {
    return perform(c, item, false, until);
}

// Begins with any of the cases, so that each that can go on gets its turn.
std::size_t select(channel_case* const* cases, std::size_t count, limit until) {
    selection all;
    std::size_t const first =
        count > 1 ? sync::parking::draw(static_cast<std::uint32_t>(count)) : 0;
    for (std::size_t k = 0; k < count; ++k) {
        channel_case& c = *cases[(first + k) % count];
        c.status = channel_status::not_ready;
        node& n = *::new (static_cast<void*>(c.node.bytes)) node;
        static_assert(sizeof(node) <= sizeof c.node);
        all.add(n, *c.channel, c.item, c.is_send);
    }
    channel_status status = channel_status::not_ready;
    node* const done = all.run(until, status);
    for (std::size_t k = 0; k < count; ++k) {
        if (reinterpret_cast<unsigned char*>(done) != cases[k]->node.bytes) continue;
        cases[k]->status = status;
        return k;
    }
    return count;
}

bool close_channel(channel_core& c) noexcept { return c.close(); }

bool is_closed(channel_core const& c) noexcept { return const_cast<channel_core&>(c).is_closed(); }

std::size_t channel_size(channel_core const& c) noexcept {
    return const_cast<channel_core&>(c).size();
}

} // namespace tulle::detail
