// SPDX-License-Identifier: Apache-2.0
// CREATE and WAIT_FOR_END. A place takes the variables of its creator, unless they share them, and
// then runs the function in a thread of its own.
#include "compat/parmacs/anywhere.hpp"
#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/home_calls.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/race_order.hpp"
#include "compat/parmacs/world.hpp"
#include "compat/program/program_data.hpp"
#include "compat/program/shared_variables.hpp"

#include <tulle.h>
#include <tulle/c/coherent_memory.h>
#include <tulle/detail/more_places.hpp>
#include <tulle/place.hpp>
#include <tulle_parmacs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include <sys/resource.h>

namespace tulle::parmacs {

namespace {

using program::program_data;
using program::range;
using program::ranges;
using function = void (*)();

struct created {
    function body = nullptr;
    int creator = 0;
};
created s_created; // at this place

// As main's, but for one without a limit.
std::size_t stack_size() noexcept {
    constexpr rlim_t k_least = rlim_t{1} << 20U;
    constexpr rlim_t k_most = rlim_t{64} << 20U;
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    return std::clamp(limit.rlim_cur, k_least, k_most);
}

void end_process() noexcept {
    world& all = world_for("CREATE");
    int const creator = s_created.creator; // another one may use the place before it is told
    std::fflush(nullptr);
    tulle_coherent_release();
    if (std::int64_t const left = own_children().created; left != 0)
        fail("a created process has ended without WAIT_FOR_END for %lld that it has created",
             static_cast<long long>(left));
    ask_world({.what = action::give_place, .amount = tulle_here()});
    anywhere(&all.slots()[creator].ended).add(1);
}

void* run(void* /*unused*/) {
    tulle_coherent_acquire();
    watch_variables();
    begin_process(&world_for("CREATE").slots()[tulle_here()]);
    s_created.body();
    end_process();
    return nullptr;
}

using values = std::vector<std::uint64_t>;

// Addresses travel as complements (<tulle/place.hpp>).
values complements(values all) {
    for (std::uint64_t& each : all) each = ~each;
    return all;
}
values complements(ranges const& all) {
    values made;
    for (range const& r : all) made.insert(made.end(), {~r.begin, ~r.end});
    return made;
}
ranges ranges_of(values const& sent) {
    ranges made;
    for (std::size_t k = 0; k + 1 < sent.size(); k += 2) made.push_back({~sent[k], ~sent[k + 1]});
    return made;
}

// At the place that becomes the process. 0, or a negative errno value.
int begin_here(std::uint64_t code, int creator, values const& touched, values const& links) {
    if (!program::are_shared())
        if (int const error =
                program_data::of_process().replace(creator, ranges_of(touched), complements(links)))
            return error;
    s_created = {reinterpret_cast<function>(detail::code_of_name(code)),
                 creator}; // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    tulle_attr const attributes{stack_size(), -1, 0, nullptr};
    return tulle_spawn(nullptr, &attributes, &run, nullptr);
}

// Of a process that is there then.
int take_place() {
    world& all = world_for("CREATE");
    int const place = static_cast<int>(ask_world({.what = action::take_place}));
    int const count = tulle_place_count();
    bool const is_fixed = !may_have_more_places() || count == detail::places_at_start();
    if (place < 0 && spans_machines())
        fail("CREATE: all %d processes of the program run already, and on several hosts none can "
             "be added: start it with more, tulle run --hosts ... -n %d PROG",
             count, count + 1);
    if (place < 0 && why_alone() != 0)
        fail("CREATE: there is one process, as the program tulle, which starts more, cannot be run "
             "(%s): install it, or put it in the PATH",
             std::strerror(why_alone()));
    if (place < 0 && is_fixed)
        fail("CREATE: all %d processes of the program run already: start it with more, tulle run "
             "-n %d PROG",
             count, count + 1);
    if (place < 0)
        fail("CREATE: all %d processes of the program run already: set "
             "TULLE_PARMACS_PROCESSES=%d or more",
             count, count + 1);
    if (!spans_machines() && !all.slots()[place].is_there) begin_place(place, all, "CREATE");
    return place;
}

void create(function body) {
    std::uint64_t const code = program_data::of_process().has(reinterpret_cast<void const*>(body))
                                   ? detail::name_of_code(reinterpret_cast<void const*>(body))
                                   : 0;
    if (code == 0) fail("CREATE: the function is not in the program itself");
    int const place = take_place();
    std::fflush(stdout); // lines of before come before those of the new process
    tulle_coherent_share();
    tulle_coherent_release();
    replace_in(&world_for("CREATE").slots()[place], tulle_here());
    program_data const& own = program_data::of_process();
    bool const are_shared = program::are_shared();
    int const error = at(
        tulle::place(place),
        [](std::uint64_t c, int by, values const& touched, values const& links) {
            return begin_here(c, by, touched, links);
        },
        code, tulle_here(), are_shared ? values() : complements(own.touched()),
        are_shared ? values() : complements(own.links_at_start()));
    if (error != 0)
        fail("CREATE: place %d cannot take the variables of place %d: %s", place, tulle_here(),
             std::strerror(-error));
    watch_variables();
    ++own_children().created;
}

// Programs that create processes like that take them for threads of one process. On several
// machines that needs a program that was made for it.
void share_if_first() {
    if (program::chosen_sharing() != program::sharing::automatic || tulle_here() != 0) return;
    if (spans_machines() && !program::can_be_coherent()) return;
    bool const is_alone = own_children().created == 0;
    if (is_alone && !program::are_shared()) share_variables("CREATE");
}

} // namespace
} // namespace tulle::parmacs

using namespace tulle::parmacs;

void tulle_parmacs_create(void (*function)(void)) try {
    static_cast<void>(world_for("CREATE"));
    if (function == nullptr) fail("CREATE: no function");
    create(function);
} catch (std::exception const& e) {
    fail("CREATE: %s", e.what());
}

void tulle_parmacs_create_all(void (*function)(void), int processes) try {
    static_cast<void>(world_for("CREATE"));
    if (function == nullptr) fail("CREATE: no function");
    if (processes < 1) fail("CREATE: of %d processes", processes);
    if (processes > 1) share_if_first();
    for (int k = 1; k < processes; ++k) create(function);
    own_children().takes_part = true;
    function();
} catch (std::exception const& e) {
    fail("CREATE: %s", e.what());
}

void tulle_parmacs_wait_for_end(int processes) {
    world& all = world_for("WAIT_FOR_END");
    children& own = own_children();
    if (processes < 0 || processes > own.created + (own.takes_part ? 1 : 0))
        fail("WAIT_FOR_END: of %d processes, but %lld were created and not waited for", processes,
             static_cast<long long>(own.created));
    std::int64_t const others = std::min<std::int64_t>(processes, own.created);
    anywhere(&all.slots()[tulle_here()].ended).wait_for(wish::to_take, others);
    tulle_coherent_acquire();
    own.created -= others;
    if (own.created == 0) own.takes_part = false;
    ask_world({.what = action::stop_clock});
}
