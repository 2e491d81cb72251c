// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/place.hpp> and <tulle/finish.hpp>.
#include "remote/calls.hpp"
#include "remote/governor.hpp"
#include "remote/image.hpp"
#include "remote/membership.hpp"
#include "remote/payload_store.hpp"
#include "sched/switch.hpp"

#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace tulle::remote {

engine* engine_of_caller() {
    standing const* const s = current_standing();
    if (s != nullptr) return s->at;
    static_cast<void>(sched::this_fiber()); // starts the run time, by which this process learns its place
    return engine_of_process();
}

} // namespace tulle::remote

namespace tulle::detail {

using remote::finish_root;

namespace {

constexpr auto k_slot = attachment_of::activity;

// A standing_frame begins with a remote::standing.
void enter(standing_frame& frame, remote::engine* at, governor& of) noexcept {
    static_assert(offsetof(standing_frame, of) == offsetof(remote::standing, of) && sizeof(void*) == sizeof(remote::engine*));
    frame = {at, &of, attachment(k_slot)};
    set_attachment(k_slot, &frame);
}

// The root may still hear of deaths.
void add_losses(finish_root& root) {
    std::lock_guard const held(root.lock);
    for (remote::rank const dead : root.count.losses().dead()) {
        std::uint64_t const lost = root.count.losses().lost_by(dead);
        if (lost == 0) continue;
        try {
            root.at->throw_death(dead, lost);
        } catch (dead_place const&) {
            root.thrown.push_back(std::current_exception());
        }
    }
}

// Of an activity for which nobody waits if the home of its finish dies; null: its finish waits for it.
remote::engine* engine_that_stays(governor const& of) noexcept { return of.at != nullptr && of.home != of.at->here() ? of.at : nullptr; }

} // namespace

bool is_asked_to_join() noexcept { return remote::is_asked_to_join(); }

int here_index() {
    remote::engine const* const e = remote::engine_of_caller();
    return e != nullptr ? static_cast<int>(e->here()) : 0;
}

int place_count() {
    remote::engine const* const e = remote::engine_of_caller();
    return e != nullptr ? static_cast<int>(e->count()) : 1;
}

void check_place(int index) {
    if (index < 0 || index >= place_count())
        throw std::out_of_range("tulle::place: there is no place " + std::to_string(index) + ", there are " +
                                std::to_string(place_count()));
}

bool is_dead_place(int index) {
    remote::engine const* const e = remote::engine_of_caller();
    return e != nullptr && e->is_dead(static_cast<remote::rank>(index));
}

std::uint64_t name_of_code(void const* code) noexcept { return remote::name_of(code); }
void* code_of_name(std::uint64_t name) noexcept { return remote::code_of(name); }

// Not from here to here, so there is an engine; or nobody is to read it.
payload_bytes room_for_large(int reader, std::size_t bytes) {
    return reader == k_no_reader ? remote::take_block(bytes)
                                 : remote::engine_of_caller()->room_for_large(static_cast<remote::rank>(reader), bytes);
}

// Not from here to here, so there is an engine.
remote_result call_at(int place, remote_code code, wire_writer& arguments) {
    auto const to = static_cast<remote::rank>(place);
    remote::engine& here = *remote::engine_of_caller();
    here.refuse_addresses(to, arguments);
    return here.call(to, code, arguments);
}

governor* current_governor() noexcept {
    remote::standing const* const s = remote::current_standing();
    return s != nullptr ? s->of : nullptr;
}

finish_frame::finish_frame(limit const* until) : m_standing{} {
    remote::engine* const here = remote::engine_of_caller();
    governor const* const outer = current_governor();
    auto made = std::make_unique<finish_root>(here, here != nullptr ? here->here() : 0);
    if (until != nullptr || (outer != nullptr && outer->stop.get() != nullptr)) made->make_cancellable(until, outer);
    m_governor = made.release();
    enter(m_standing, here, *m_governor);
}

finish_frame::~finish_frame() {
    auto* const root = static_cast<finish_root*>(m_governor);
    set_attachment(k_slot, m_standing.outer);
    if (root->is_enrolled.load(std::memory_order_relaxed)) root->at->withdraw(*root); // relaxed: all activities have ended
    delete root;
}

void finish_frame::add_exception(std::exception_ptr const& e) noexcept { remote::add_exception(*m_governor, e); }

void finish_frame::end() {
    auto& root = static_cast<finish_root&>(*m_governor);
    remote::end(root); // the body
    root.over.wait();
    root.end_watch();
    add_losses(root);
    if (root.thrown.empty()) return;
    if (root.thrown.size() == 1) std::rethrow_exception(std::exchange(root.thrown.front(), nullptr));
    throw exception_list(std::move(root.thrown));
}

void start_at(governor& of, int place, remote_code code, wire_writer& arguments) {
    auto const to = static_cast<remote::rank>(place);
    of.at->refuse_addresses(to, arguments);
    of.at->start_activity(of, to, code, arguments);
}

cancellation* stop_of(governor const& of) noexcept { return of.stop.get(); }
bool request_stop(governor& of) { return remote::request_stop(of); }

void begin_local(governor& of) noexcept {
    if (remote::engine* const used = engine_that_stays(of)) used->begin_use();
    remote::begin(of);
}
void cancel_local(governor& of) noexcept {
    remote::engine* const used = engine_that_stays(of); // `of` may be gone soon
    remote::end(of);
    if (used != nullptr) used->end_use();
}

local_activity::local_activity(governor& of) noexcept : m_standing{} { enter(m_standing, of.at, of); }

local_activity::~local_activity() {
    set_attachment(k_slot, m_standing.outer);
    cancel_local(*m_standing.of);
}

void local_activity::add_exception(std::exception_ptr const& e) noexcept { remote::add_exception(*m_standing.of, e); }

} // namespace tulle::detail
