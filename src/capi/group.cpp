// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/group.h>.
#include "capi/deadline.hpp"
#include "capi/guarded.hpp"

#include <tulle/c/group.h>
#include <tulle/spawn_group.hpp>

#include <cerrno>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <system_error>

struct tulle_group {
    template <class Most> tulle_group(Most most, tulle::when_full policy) : threads(most, policy) {}
    tulle::spawn_group threads;
};

namespace tulle::detail {

struct group_access {
    template <class F>
    static bool spawn_into_before(spawn_group& g, std::uint64_t deadline, int shepherd,
                                  std::uint64_t& result, F f) {
        return g.spawn_into_before(deadline, shepherd, result, f);
    }
};

} // namespace tulle::detail

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

template <class Most>
int create(tulle_group** out, Most most, std::size_t number, int policy) noexcept {
    when_full chosen{};
    if (out == nullptr || number == 0 || !find_policy(policy, chosen)) return -EINVAL;
    try {
        *out = new tulle_group(most, chosen);
        return 0;
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    } catch (std::invalid_argument const&) {
        return -EINVAL;
    } catch (std::system_error const& e) {
        return -e.code().value();
    }
}

} // namespace

extern "C" {

int tulle_group_create(tulle_group** out, size_t most, int policy) {
    return create(out, most, most, policy);
}
int tulle_group_create_per_shepherd(tulle_group** out, size_t most, int policy) {
    return create(out, tulle::per_shepherd{most}, most, policy);
}
int tulle_group_create_bytes(tulle_group** out, size_t most, int policy) {
    return create(out, tulle::bytes_held{most}, most, policy);
}
int tulle_group_create_walks(tulle_group** out, size_t walks, size_t levels,
                             size_t bytes_each_level, int policy) {
    return create(out, tulle::depth_first_walks{walks, levels, bytes_each_level}, walks, policy);
}
int tulle_group_spawn_holding(tulle_group* group, size_t bytes, void (*function)(void*),
                              void* argument) {
    if (group == nullptr || function == nullptr) return -EINVAL;
    return tulle::capi::guarded([=] {
        group->threads.spawn(tulle::holding(bytes, [function, argument] { function(argument); }));
        return 0;
    });
}
int tulle_group_spawn(tulle_group* group, void (*function)(void*), void* argument) {
    if (group == nullptr || function == nullptr) return -EINVAL;
    return tulle::capi::guarded([=] {
        group->threads.spawn([function, argument] { function(argument); });
        return 0;
    });
}
int tulle_group_spawn_into(tulle_group* group, int shepherd, uint64_t (*function)(void*),
                           void* argument, uint64_t* result) {
    if (group == nullptr || function == nullptr || result == nullptr) return -EINVAL;
    return tulle::capi::guarded([=] {
        group->threads.spawn_into_at(shepherd, *result,
                                     [function, argument] { return function(argument); });
        return 0;
    });
}
int tulle_group_timed_spawn_into(tulle_group* group, int shepherd, uint64_t (*function)(void*),
                                 void* argument, uint64_t* result, uint64_t timeout_ns) {
    if (group == nullptr || function == nullptr || result == nullptr) return -EINVAL;
    auto const call = [function, argument] { return function(argument); };
    return tulle::capi::guarded([=] {
        std::uint64_t const deadline = tulle::capi::deadline_in(timeout_ns);
        if (tulle::detail::group_access::spawn_into_before(group->threads, deadline, shepherd,
                                                           *result, call))
            return 0;
        return timeout_ns == 0 ? -EBUSY : -ETIMEDOUT;
    });
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
size_t tulle_group_size(tulle_group const* group) {
    return group == nullptr ? 0 : group->threads.size();
}
size_t tulle_group_held(tulle_group const* group) {
    return group == nullptr ? 0 : group->threads.held();
}

} // extern "C"
