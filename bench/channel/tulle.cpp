// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "channel.hpp"

#include <tulle/channel.hpp>

namespace {

template <std::size_t Room> struct numbers {
    void put(long k) { channel.send(k); }
    long take() { return *channel.receive(); }

    tulle::channel<long> channel{Room};
};

struct channels {
    using buffered = numbers<tulle::bench::k_room>;
    using meeting = numbers<0>;
};

struct channel_runtime : tulle::bench::tulle_blocking_runtime {
    using tulle_blocking_runtime::tulle_blocking_runtime;
    using spawned = tulle::bench::tulle_thread_runtime::group;
};

} // namespace

tulle::bench::benchmark const registered("channel", "tulle", [](int argc, char** argv) {
    return tulle::bench::channel_main<channel_runtime, channels>(argc, argv);
});
