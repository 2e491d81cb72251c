// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/shepherd.h>.
#include "capi/guarded.hpp"

#include <tulle/c/shepherd.h>
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
