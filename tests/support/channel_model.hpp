// SPDX-License-Identifier: Apache-2.0
//
// What a channel does, as a sequential object.
#pragma once

#include <tulle/channel.hpp>

#include <compare>
#include <cstddef>
#include <deque>

struct channel_operation {
    enum class kind { send, receive, close } what;
    int value;                    // sent or received
    tulle::channel_status status; // success of close: it was open
    bool waits;                   // not_ready then says nothing of the state: its time was up
};

struct channel_model {
    std::size_t capacity;
    std::deque<int> items{};
    bool is_closed = false;

    auto operator<=>(channel_model const&) const = default;
    bool operator==(channel_model const&) const = default;

    bool apply(channel_operation const& o) {
        switch (o.what) {
            case channel_operation::kind::send: return apply_send(o);
            case channel_operation::kind::receive: return apply_receive(o);
            case channel_operation::kind::close: return apply_close(o);
        }
        return false;
    }

private:
    bool apply_send(channel_operation const& o) {
        bool const fits = !is_closed && items.size() < capacity;
        if (o.status == tulle::channel_status::closed) return is_closed;
        if (o.status == tulle::channel_status::not_ready) return o.waits || (!is_closed && !fits);
        if (fits) items.push_back(o.value);
        return fits;
    }
    bool apply_receive(channel_operation const& o) {
        if (o.status == tulle::channel_status::closed) return is_closed && items.empty();
        if (o.status == tulle::channel_status::not_ready)
            return o.waits || (!is_closed && items.empty());
        bool const is_first = !items.empty() && items.front() == o.value;
        if (is_first) items.pop_front();
        return is_first;
    }
    bool apply_close(channel_operation const& o) {
        bool const was_closed = is_closed;
        is_closed = true;
        return (o.status == tulle::channel_status::success) == !was_closed;
    }
};
