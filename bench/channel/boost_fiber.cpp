// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "channel.hpp"

#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/unbuffered_channel.hpp>

namespace {

struct buffered_numbers {
    void put(long k) { channel.push(k); }
    long take() { return channel.value_pop(); }

    boost::fibers::buffered_channel<long> channel{tulle::bench::k_room};
};

struct meeting_numbers {
    void put(long k) { channel.push(k); }
    long take() { return channel.value_pop(); }

    boost::fibers::unbuffered_channel<long> channel;
};

struct channels {
    using buffered = buffered_numbers;
    using meeting = meeting_numbers;
};

} // namespace

tulle::bench::benchmark const registered("channel", "boost_fiber", [](int argc, char** argv) {
    return tulle::bench::channel_main<tulle::bench::boost_fiber_runtime, channels>(argc, argv);
});
