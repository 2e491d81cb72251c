// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/shepherd.h>.
#include "capi/bytes.hpp"
#include "capi/guarded.hpp"
#include "capi/without_exceptions.hpp"

#include <tulle/c/shepherd.h>
#include <tulle/global_shepherd.hpp>
#include <tulle/runtime.hpp>
#include <tulle/shepherd.hpp>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace {

template <class... A> int perform(void (*function)(A...), A... arguments) noexcept {
    return tulle::capi::guarded([&] {
        function(arguments...);
        return 0;
    });
}

} // namespace

extern "C" {

int tulle_shepherd_distance(int from, int to) {
    return tulle::capi::guarded([=] { return tulle::shepherd_distance(from, to); });
}
int tulle_nearest_shepherds(int from, int* out, size_t capacity) {
    if (out == nullptr && capacity != 0) return -EINVAL;
    return tulle::capi::guarded([=] {
        std::vector<int> const others = tulle::nearest_shepherds(from);
        std::copy_n(others.begin(), std::min(capacity, others.size()), out);
        return static_cast<int>(others.size());
    });
}
int tulle_node_of_shepherd(int index) {
    return tulle::capi::guarded([=] { return tulle::node_of_shepherd(index); });
}
int tulle_get_location(tulle_location_t* out) {
    if (out == nullptr) return -EINVAL;
    return tulle::capi::guarded([=] {
        auto const found = tulle::this_thread::get_location();
        *out = {found.place, found.shepherd, found.worker, found.cpu, found.node};
        return 0;
    });
}
int tulle_shepherd_count_at(int place) {
    if (!tulle::capi::is_place_number(place)) return -EINVAL;
    return tulle::capi::without_exceptions(
        [=] { return tulle::at(tulle::place(place), [] { return tulle::shepherd_count(); }); });
}
int tulle_global_shepherd_distance(int from_place, int from, int to_place, int to) {
    if (!tulle::capi::is_place_number(from_place) || !tulle::capi::is_place_number(to_place))
        return -EINVAL;
    return tulle::capi::without_exceptions([=] {
        return tulle::shepherd_distance(tulle::global_shepherd{from_place, from},
                                        tulle::global_shepherd{to_place, to});
    });
}
int tulle_shepherd_of(void const* address) {
    int const found = tulle::capi::guarded([=] { return tulle::shepherd_of(address); });
    return std::max(found, -1);
}
int tulle_migrate_to(int shepherd) { return perform(&tulle::this_thread::migrate_to, shepherd); }
int tulle_disable_worker(int index) { return perform(&tulle::disable_worker, index); }
int tulle_enable_worker(int index) { return perform(&tulle::enable_worker, index); }
int tulle_disable_shepherd(int index) { return perform(&tulle::disable_shepherd, index); }
int tulle_enable_shepherd(int index) { return perform(&tulle::enable_shepherd, index); }
int tulle_is_enabled_shepherd(int index) {
    return tulle::capi::guarded([=] { return tulle::is_enabled_shepherd(index) ? 1 : 0; });
}

} // extern "C"
