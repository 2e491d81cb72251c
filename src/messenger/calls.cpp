// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/place.hpp>.
#include "messenger/calls.hpp"
#include "messenger/image.hpp"
#include "messenger/payload_store.hpp"
#include "sched/switch.hpp"

#include <tulle/detail/collective.hpp>
#include <tulle/place.hpp>

#include <stdexcept>
#include <string>

namespace tulle::messenger {

endpoint* endpoint_of_caller() {
    place_context const* const s = current_context();
    if (s != nullptr) return s->at;
    // Starts the run time, by which this process learns its place.
    static_cast<void>(sched::this_fiber());
    return endpoint_of_process();
}

} // namespace tulle::messenger

namespace tulle::detail {

int here_index() {
    messenger::endpoint const* const e = messenger::endpoint_of_caller();
    return e != nullptr ? static_cast<int>(e->here()) : 0;
}

int place_count() {
    messenger::endpoint const* const e = messenger::endpoint_of_caller();
    return e != nullptr ? static_cast<int>(e->workplaces()) : 1;
}

int memory_place_count() {
    messenger::endpoint const* const e = messenger::endpoint_of_caller();
    return e != nullptr ? static_cast<int>(e->count() - e->workplaces()) : 0;
}

namespace {

[[noreturn]] TULLE_COLD void refuse_place(int index, int count) {
    throw std::out_of_range("tulle::place: there is no place " + std::to_string(index) +
                            ", there are " + std::to_string(count));
}

} // namespace

void check_place(int index) {
    messenger::endpoint const* const e = messenger::endpoint_of_caller();
    int const count = e != nullptr ? static_cast<int>(e->count()) : 1;
    if (TULLE_UNLIKELY(index < 0 || index >= count)) refuse_place(index, count);
}

void check_runs_threads(int index) {
    if (messenger::endpoint const* const e = messenger::endpoint_of_caller())
        e->check_runs_threads(static_cast<net::rank>(index));
}

bool is_dead_place(int index) {
    messenger::endpoint const* const e = messenger::endpoint_of_caller();
    return e != nullptr && e->is_dead(static_cast<net::rank>(index));
}

bool shares_memory_with(int index) noexcept {
    messenger::endpoint* const e = messenger::endpoint_of_process();
    return e == nullptr || e->transport().reaches(static_cast<net::rank>(index));
}

std::uint64_t name_of_code(void const* code) noexcept { return messenger::name_of(code); }
void* code_of_name(std::uint64_t name) noexcept { return messenger::code_of(name); }

// The reader is another place, so there is an endpoint; or nobody is to read it.
payload_bytes room_for_large(int reader, std::size_t bytes) {
    return reader == k_no_reader ? messenger::take_block(bytes)
                                 : messenger::endpoint_of_caller()->room_for_large(
                                       static_cast<net::rank>(reader), bytes);
}

void throw_dead_place(int index) {
    messenger::endpoint_of_caller()->throw_death(static_cast<net::rank>(index));
}

} // namespace tulle::detail
