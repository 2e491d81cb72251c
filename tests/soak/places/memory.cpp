// SPDX-License-Identifier: Apache-2.0
//
// Steps with global memory, and with the transfers of the C interface.
#include "player.hpp"

#include <tulle.h>

#include <span>

namespace soak::over_places {

namespace {

using word = std::uint64_t;
using array = tulle::global_ptr<word>;

array allocate(player const& of, step const& s) {
    std::uint64_t const count = objects(s);
    if (s.one_in(5, 3)) return tulle::allocate_global<word>(count);
    array const made = tulle::allocate_global_at<word>(tulle::place(s.place(0, of.places())),
                                                       s.one_in(6, 3) ? count / 2 + 1 : count);
    return tulle::reallocate_global(made, count);
}

void read(array from, std::vector<word>& to, bool later) {
    if (later)
        tulle::read_async(from, std::span(to)).get();
    else
        tulle::read(from, std::span(to));
}
void write(std::vector<word> const& from, array to, bool later) {
    if (later)
        tulle::write_async(std::span<word const>(from), to).get();
    else
        tulle::write(std::span<word const>(from), to);
}

// At any place: one more in each word.
void increase(array all, std::uint64_t count, bool later) {
    std::vector<word> values(count);
    read(all, values, later);
    for (word& v : values) ++v;
    write(values, all, !later);
}

} // namespace

std::uint64_t play_memory(player& of, step const& s) {
    array const all = allocate(of, s);
    std::vector<word> values(objects(s));
    for (std::uint64_t k = 0; k < values.size(); ++k) values[k] = share(s, k);
    write(values, all, s.one_in(7, 2));
    for (std::uint64_t who = 0; who < helpers(s); ++who)
        tulle::at(
            tulle::place(s.place(who, of.places())),
            [](array a, std::uint64_t count, bool later) { increase(a, count, later); }, all,
            std::uint64_t{values.size()}, s.one_in(8 + who, 2));
    read(all, values, s.one_in(20, 2));
    tulle::free_global(all);
    std::uint64_t value = 0;
    for (word const v : values) value = mix(value, v);
    return value;
}

namespace {

struct record {
    record(player& p, step const& of)
        : playing(p), what(of), home(tulle_here()), sent(objects(of)), received(objects(of)) {}

    player& playing;
    step const& what;
    int home;
    std::vector<word> sent, received;
    std::atomic<word> sum{0};
    tulle_signal_t done{};
};

record& record_at(std::uint64_t address) {
    return *reinterpret_cast<record*>(address);
} // NOLINT(performance-no-int-to-ptr)
std::uint64_t address_of(record& r) { return reinterpret_cast<std::uintptr_t>(&r); }

// The record may be gone afterwards.
void tell(record& r) {
    player& p = r.playing;
    p.require(tulle_signal_notify_at(r.home, &r.done) == 0, "a signal is refused");
}

void add_share(std::uint64_t where, std::uint64_t who) {
    record& r = record_at(where);
    r.playing.require(tulle_here() == r.what.place(who, r.playing.places()),
                      "an i-let runs somewhere else");
    r.sum += share(r.what, who);
    tell(r);
}
void when_sent(std::uint64_t where, std::uint64_t /*unused*/) {
    record& r = record_at(where);
    r.playing.require(tulle_here() == r.home, "a push ends somewhere else");
    tell(r);
}
void when_there(std::uint64_t where, std::uint64_t /*unused*/) {
    record& r = record_at(where);
    r.playing.require(r.received == r.sent, "a push is not there");
    tell(r);
}

void push_and_pull(record& r, int there) {
    std::size_t const size = r.sent.size() * sizeof(word);
    tulle_ilet_t const ends_here{&when_sent, address_of(r), 0};
    tulle_ilet_t const is_there{&when_there, address_of(r), 0};
    for (std::size_t k = 0; k < r.sent.size(); ++k) r.sent[k] = share(r.what, k, 9);
    r.playing.require(
        tulle_push(there, r.received.data(), r.sent.data(), size, &ends_here, &is_there) == 0,
        "a push is refused");
}

void pull_back(record& r, int there) {
    std::vector<word> again(r.sent.size());
    r.playing.require(
        tulle_pull(again.data(), there, r.received.data(), again.size() * sizeof(word)) == 0,
        "a pull is refused");
    r.playing.require(again == r.sent, "a pull brings something else");
}

} // namespace

std::uint64_t play_ilets(player& of, step const& s) {
    record r(of, s);
    std::uint64_t const count = helpers(s);
    int const there = s.place(99, of.places());
    tulle_signal_init(&r.done, static_cast<std::uint32_t>(count + 2));
    for (std::uint64_t who = 0; who < count; ++who)
        of.require(tulle_start_at(s.place(who, of.places()), {&add_share, address_of(r), who}) == 0,
                   "an i-let is refused");
    push_and_pull(r, there);
    tulle_signal_wait(&r.done);
    pull_back(r, there);
    return r.sum + r.sent.size();
}

} // namespace soak::over_places
