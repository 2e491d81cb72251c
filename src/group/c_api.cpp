// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/detail/group.h>.
#include <tulle/detail/group.h>
#include <tulle/spawn_group.hpp>

#include <cerrno>
#include <new>
#include <system_error>

struct tulle_group {
    tulle_group(std::size_t most, tulle::when_full policy) : threads(most, policy) {}
    tulle::spawn_group threads;
};

namespace {

using tulle::when_full;

bool find_policy(int chosen, when_full& policy) noexcept {
    switch (chosen) {
        case TULLE_RUN_INLINE: policy = when_full::run_inline; return true;
        case TULLE_CREATE: policy = when_full::create; return true;
        case TULLE_RECORD: policy = when_full::record; return true;
        case TULLE_BLOCK: policy = when_full::block; return true;
    }
    return false;
}

} // namespace

extern "C" {

int tulle_group_create(tulle_group** out, size_t most, int policy) {
    when_full chosen{};
    if (out == nullptr || most == 0 || !find_policy(policy, chosen)) return -EINVAL;
    try {
        *out = new tulle_group(most, chosen);
        return 0;
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    }
}
int tulle_group_spawn(tulle_group* group, void (*function)(void*), void* argument) {
    if (group == nullptr || function == nullptr) return -EINVAL;
    try {
        group->threads.spawn([function, argument] { function(argument); });
        return 0;
    } catch (std::system_error const& e) {
        return -e.code().value();
    }
}
int tulle_group_join(tulle_group* group) {
    if (group == nullptr) return -EINVAL;
    group->threads.join();
    return 0;
}
int tulle_group_destroy(tulle_group* group) {
    if (group == nullptr) return -EINVAL;
    delete group;
    return 0;
}
size_t tulle_group_size(tulle_group const* group) { return group == nullptr ? 0 : group->threads.size(); }

} // extern "C"
