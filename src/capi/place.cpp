// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/place.h>. At the caller's own place they do without messages.
#include "base/error.hpp"
#include "capi/guarded.hpp"
#include "messenger/calls.hpp"
#include "messenger/endpoint.hpp"
#include "messenger/image.hpp"

#include <tulle/c/place.h>
#include <tulle/thread.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tulle::capi {
namespace {

using namespace messenger;

bool is_place(int index) {
    return index >= 0 && index < detail::place_count() + detail::memory_place_count();
}
// No region of memory is larger.
bool is_region(void const* there, void const* here, std::size_t size) {
    return size <= static_cast<std::size_t>(PTRDIFF_MAX) &&
           (size == 0 || (there != nullptr && here != nullptr));
}
bool has_threads(int index) { return index < detail::place_count(); }
bool is_here(int index) { return index == detail::here_index(); }
bool is_dead(int index) { return detail::is_dead_place(index); }
rank as_rank(int index) { return static_cast<rank>(index); }

endpoint::ilet named(tulle_ilet_t const* ilet) noexcept {
    if (ilet == nullptr || ilet->run == nullptr) return {};
    return {name_of(reinterpret_cast<void const*>(ilet->run)), ilet->a, ilet->b};
}
// Whether another place could not find the function.
bool is_unknown(tulle_ilet_t const* ilet) noexcept {
    return ilet != nullptr && ilet->run != nullptr && named(ilet).code == 0;
}

// At the place of the endpoint, the caller's.
void start_here(tulle_ilet_t const* ilet, endpoint* here) {
    if (ilet == nullptr || ilet->run == nullptr) return;
    spawn_detached([it = *ilet, at = here] {
        place_context context{at, nullptr};
        scoped_context const for_this_thread(context);
        it.run(it.a, it.b);
    });
}

void notify(std::uint64_t signal, std::uint64_t /*unused*/) {
    if (int const error = tulle_signal_notify(&object_at<tulle_signal_t>(signal)))
        base::fatal("a signal of place %d cannot be notified from another one: %s",
                    detail::here_index(), std::strerror(-error));
}

int push_here(void* to, void const* from, std::size_t size, tulle_ilet_t const* first,
              tulle_ilet_t const* second) {
    if (size != 0) std::memmove(to, from, size);
    endpoint* const here = endpoint_of_caller();
    start_here(first, here);
    start_here(second, here);
    return 0;
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_place_count(void) { return tulle::detail::place_count(); }
int tulle_memory_place_count(void) { return tulle::detail::memory_place_count(); }
int tulle_here(void) { return tulle::detail::here_index(); }
int tulle_place_is_dead(int place) {
    return is_place(place) ? static_cast<int>(is_dead(place)) : -EINVAL;
}

// What it asks of its place it asks once: a start is a few hundred instructions in all.
int tulle_start_at(int place, tulle_ilet_t ilet) {
    endpoint* const here = endpoint_of_caller();
    auto const to = as_rank(place);
    if (place < 0 || to >= (here != nullptr ? here->count() : 1) || ilet.run == nullptr)
        return -EINVAL;
    endpoint::ilet const wanted = named(&ilet);
    if (wanted.code == 0) return -ENOENT;
    if (here != nullptr && to >= here->workplaces()) return -EOPNOTSUPP;
    if (here != nullptr && here->is_dead(to)) return -EHOSTDOWN;
    return guarded([&] {
        if (here == nullptr || to == here->here())
            start_here(&ilet, here);
        else
            here->start(to, wanted);
        return 0;
    });
}

int tulle_signal_notify_at(int place, tulle_signal_t* signal) {
    if (!is_place(place) || signal == nullptr) return -EINVAL;
    if (is_here(place)) return tulle_signal_notify(signal);
    if (is_dead(place)) return -EHOSTDOWN;
    endpoint_of_caller()->start(as_rank(place), {name_of(reinterpret_cast<void const*>(&notify)),
                                                 reinterpret_cast<std::uintptr_t>(signal), 0});
    return 0;
}

int tulle_push(int place, void* to, const void* from, size_t size, const tulle_ilet_t* then_here,
               const tulle_ilet_t* then_there) {
    if (!is_place(place) || !is_region(to, from, size)) return -EINVAL;
    if (is_unknown(then_here) || is_unknown(then_there)) return -ENOENT;
    if (!has_threads(place) && named(then_there).code != 0) return -EOPNOTSUPP;
    if (is_dead(place)) return -EHOSTDOWN;
    return guarded([&] {
        if (is_here(place)) return push_here(to, from, size, then_here, then_there);
        endpoint_of_caller()->push(as_rank(place), reinterpret_cast<std::uintptr_t>(to),
                                   {static_cast<std::byte const*>(from), size}, named(then_here),
                                   named(then_there));
        return 0;
    });
}

int tulle_pull(void* to, int place, const void* from, size_t size) {
    if (!is_place(place) || !is_region(to, from, size)) return -EINVAL;
    if (size == 0) return 0;
    if (!is_here(place))
        return -endpoint_of_caller()->pull(as_rank(place), reinterpret_cast<std::uintptr_t>(from),
                                           {static_cast<std::byte*>(to), size});
    std::memmove(to, from, size);
    return 0;
}
