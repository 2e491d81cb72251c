// SPDX-License-Identifier: Apache-2.0
// MAIN_INITENV, MAIN_END, and the clock.
#include "compat/parmacs/anywhere.hpp"
#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/known_objects.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/meeting.hpp"
#include "compat/parmacs/mirrors.hpp"
#include "compat/parmacs/race_order.hpp"
#include "compat/parmacs/world.hpp"
#include "compat/program/program_data.hpp"
#include "compat/program/shared_variables.hpp"

#include <tulle.h>
#include <tulle/c/coherent_memory.h>
#include <tulle/coherent_abi.h>
#include <tulle/detail/more_places.hpp>
#include <tulle/place.hpp>
#include <tulle_parmacs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <utility>

#include <pthread.h>

namespace tulle::parmacs {

namespace {

using program::program_data;

// Main has allocated memory before MAIN_INITENV.
bool s_is_early = false;
bool s_has_ended = false; // MAIN_END
bool s_has_left = false;  // leave_world

// Variables of such code lie among the program's, and would be overwritten by those of another
// process.
void refuse_foreign_variables() {
    if (program::has_this_library())
        fail("MAIN_INITENV: the program is linked with static libraries of Tulle, and CREATE would "
             "overwrite their variables: link the "
             "shared ones instead");
    if (char const* const name = program::foreign_function())
        fail("MAIN_INITENV: the program has %s in itself, linked statically, and CREATE would "
             "overwrite its variables: link shared "
             "libraries instead",
             name);
}

world& make_world() {
    void* memory = nullptr;
    auto const places = static_cast<std::size_t>(tulle_place_count());
    std::size_t const bytes = sizeof(world) + places * sizeof(process_slot);
    int const error = tulle_global_malloc_at(&memory, 0, bytes);
    if (error != 0) fail("MAIN_INITENV: no global memory: %s", std::strerror(-error));
    auto* const made = ::new (memory) world;
    made->places = tulle_place_count();
    made->begun = detail::places_at_start();
    for (std::size_t k = 0; k < places; ++k) {
        ::new (made->slots() + k) process_slot;
        made->slots()[k].is_there = static_cast<int>(k) < made->begun;
    }
    made->slots()[0].is_taken = true;
    return *made;
}

// The child of a fork is no place: nobody could wake it, and it would take what another process has
// for its own.
void expect_forks() {
    if (int const error = pthread_atfork(nullptr, nullptr, &leave_world))
        fail("MAIN_INITENV: no handler of forks: %s", std::strerror(error));
}

// What a place finds when it joins: where its program is, 0 if it cannot map the memory. Addresses
// travel as complements (<tulle/place.hpp>).
std::uint64_t join_here(std::uint64_t where) {
    auto* const memory = reinterpret_cast<world*>(~where); // NOLINT(performance-no-int-to-ptr)
    bool const has_it = tulle_global_local(memory, sizeof *memory) != nullptr;
    if (!has_it && is_on_this_machine(0)) return 0;
    expect_forks();
    set_world(memory);
    look_at_machines();
    if (spans_machines()) {
        expect_far_processes();
        join_mirrors();
    }
    return ~program_data::of_process().base();
}

void take_in(int place, world& shared, char const* macro) {
    std::uint64_t const base = program_data::of_process().base();
    std::uint64_t const found = at(
        tulle::place(place), [](std::uint64_t where) { return join_here(where); },
        ~reinterpret_cast<std::uintptr_t>(&shared));
    if (found == 0)
        fail("%s: place %d cannot map the memory that it shares with place 0", macro, place);
    if (~found != base)
        fail("%s: the program is at address %#llx in place %d and at %#llx in place %d, so that "
             "addresses of its variables differ, and the system does not let programs choose: link "
             "it with -no-pie",
             macro, static_cast<unsigned long long>(base), tulle_here(),
             static_cast<unsigned long long>(~found), place);
}

// Of a program that was linked to share them: there coherent memory follows.
bool are_variables_too_large() {
    for (auto const& [begin, end] : program_data::of_process().pages())
        if (begin < TULLE_COHERENT_HEAP && end > TULLE_COHERENT_HEAP) return true;
    return false;
}

void begin_coherence() {
    if (!spans_machines() && !has_private_copies()) return; // one memory
    int const error = tulle_coherent_begin();
    char const* const why = spans_machines()        ? "on several hosts"
                            : has_copies_by_pages() ? "with TULLE_COHERENT=pages"
                                                    : "with TULLE_COHERENT=private";
    if (error == -ENOEXEC)
        fail("MAIN_INITENV: %s the program has to be compiled by tulle cc; with "
             "TULLE_COHERENT=pages it need not",
             why);
    if (error == -EXDEV)
        fail("MAIN_INITENV: the program was compiled with --scheme=directory, by which processes "
             "reach each other's copies, and these are on several hosts: compile it without");
    if (error == -EUSERS)
        fail("MAIN_INITENV: the program was compiled with --scheme=directory, which knows 63 "
             "processes at most: start fewer, or compile it without");
    if (error == -EINVAL)
        fail("MAIN_INITENV: TULLE_COHERENT_UNIT or TULLE_COHERENT_LARGE_UNIT is no power of two: "
             "set it to one from 64 to 4096");
    if (error == -EEXIST && are_variables_too_large())
        fail("MAIN_INITENV: %s: variables of the program take more than 1 GiB, which is all that "
             "--share-globals has room for: take memory of G_MALLOC for the large ones",
             why);
    if (error != 0)
        fail("MAIN_INITENV: %s: copies of shared memory cannot be mapped: %s", why,
             std::strerror(-error));
}

void find_machines(world& shared) {
    for (int place = 0; place < shared.begun; ++place)
        shared.slots()[place].machine = at(tulle::place(place), [] { return first_place_here(); });
}

void begin() {
    refuse_foreign_variables();
    world& shared = make_world();
    for (int place = 0; place < shared.begun; ++place) take_in(place, shared, "MAIN_INITENV");
    if (spans_machines()) find_machines(shared);
    begin_looking_for_races(shared.begun, "MAIN_INITENV");
    begin_coherence();
    if (program::chosen_sharing() != program::sharing::on) return;
    if (spans_machines() && !program::can_be_coherent())
        fail("MAIN_INITENV: on several hosts processes share variables only if the program was "
             "compiled and linked by tulle cc --share-globals");
    share_variables("MAIN_INITENV");
}

} // namespace

namespace {

void check_shared(std::string const& wrong, char const* macro) {
    if (!wrong.empty()) fail("%s: the processes cannot share variables: %s", macro, wrong.c_str());
}

} // namespace

void share_variables(char const* macro) {
    check_shared(spans_machines() ? program::share_variables_coherently()
                                  : program::share_variables(world_for(macro).begun),
                 macro);
    watch_variables();
}

void begin_place(int place, world& shared, char const* macro) {
    if (int const error = detail::start_place(place))
        fail("%s: no further process can be started: %s", macro, std::strerror(error));
    take_in(place, shared, macro);
    let_look_for_races(place, macro);
    if (program::are_shared()) check_shared(program::share_variables_with(place), macro);
    shared.slots()[place].is_there = true;
}

void set_world(world* shared) noexcept {
    forget_objects();
    s_world = shared;
}

void leave_world() noexcept {
    s_has_left = true;
    set_world(nullptr);
}

world& world_for(char const* macro) noexcept {
    if (s_has_left)
        fail("%s: by the child of a fork, which takes no part in what processes of the program do: "
             "let its parent do it, or make the process by CREATE",
             macro);
    if (s_world == nullptr) fail("%s: before MAIN_INITENV, or after MAIN_END", macro);
    return *s_world;
}

world& world_or_begin(char const* macro) noexcept {
    if (s_world == nullptr && !s_has_ended && !s_has_left && tulle_is_initialized() != 0 &&
        tulle_here() == 0) {
        s_is_early = true;
        try {
            begin();
        } catch (std::exception const& e) {
            fail("%s: %s", macro, e.what());
        }
    }
    return world_for(macro);
}

} // namespace tulle::parmacs

using namespace tulle::parmacs;

void tulle_parmacs_begin(void) try {
    if (std::exchange(s_is_early, false)) return;
    if (s_has_left) static_cast<void>(world_for("MAIN_INITENV"));
    if (find_world() != nullptr) fail("MAIN_INITENV: for the second time");
    begin();
} catch (std::exception const& e) {
    fail("MAIN_INITENV: %s", e.what());
}

void tulle_parmacs_end(void) {
    world& all = world_for("MAIN_END");
    if (tulle_here() != 0)
        fail("MAIN_END: only main may end the program, and this is process %d", tulle_here());
    if (own_children().created != 0)
        fail("MAIN_END: nobody has waited for %lld created processes: WAIT_FOR_END is missing",
             static_cast<long long>(own_children().created));
    if (all.started_at != 0)
        std::printf("Parallel section: %llu us\n", static_cast<unsigned long long>(all.timed_us));
    set_world(nullptr);
    s_has_ended = true;
    if (int const error = tulle_finalize())
        fail("MAIN_END: Tulle does not end: %s", std::strerror(-error));
}

unsigned long tulle_parmacs_clock(void) {
    constexpr unsigned long k_us_per_second = 1'000'000;
    constexpr unsigned long k_ns_per_us = 1'000;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<unsigned long>(now.tv_sec) * k_us_per_second +
           static_cast<unsigned long>(now.tv_nsec) / k_ns_per_us;
}

void tulle_parmacs_start_time(int number, int processes) {
    world& all = world_for("START_TIME");
    if (processes < 1) fail("START_TIME: of %d processes", processes);
    meeting const with_others;
    anywhere(&all.start).wait_for_all(processes);
    if (number == 0) ask_world({.what = action::start_clock});
}
