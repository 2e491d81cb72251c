// SPDX-License-Identifier: Apache-2.0
// By activities of a finish: the layer above the C functions.
#include "one_way.hpp"

namespace tulle::bench {
namespace {

struct by_finish {
    [[nodiscard]] static start_times start(int place) {
        start_times times;
        tulle::finish([&times, place](tulle::activities& all) {
            times.before = cycles();
            if (place == 0)
                all.async([] { note_begin(); });
            else
                all.async_at(tulle::place(place), [] { note_begin(); });
            times.behind = cycles();
        });
        times.end = cycles();
        return times;
    }
};

} // namespace

benchmark const registered("one-way", "tulle", [](int argc, char** argv) {
    return one_way_main<by_finish>(argc, argv, "tulle");
});

} // namespace tulle::bench
