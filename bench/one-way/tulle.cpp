// SPDX-License-Identifier: Apache-2.0
// By activities of a finish, with a captured value and a place for exceptions: the layer above the
// C functions, as X10 is above C in the paper.
#include "by_signal.hpp"

#include <stdexcept>

namespace tulle::bench {
namespace {

void begin_at(int expected) {
    note_begin();
    if (tulle::here().index() != expected) throw std::logic_error("an activity has gone astray");
}

struct by_finish {
    [[nodiscard]] static start_times start(int place) {
        start_times times;
        tulle::finish([&times, place](tulle::activities& all) {
            times.before = cycles();
            if (place == 0)
                all.async([place] { begin_at(place); });
            else
                all.async_at(tulle::place(place), [place] { begin_at(place); });
            times.behind = cycles();
        });
        times.end = cycles();
        return times;
    }
};

} // namespace

benchmark const registered("one-way", "tulle", [](int argc, char** argv) {
    return one_way_main(argc, argv, "tulle", [](settings const& s) {
        std::vector<figure> figures = figures_of<by_finish>(s);
        for (figure& f : ratios_of<by_finish, by_signal>(s, "C")) figures.push_back(std::move(f));
        return figures;
    });
});

} // namespace tulle::bench
