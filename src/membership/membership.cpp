// SPDX-License-Identifier: Apache-2.0
#include "membership/membership.hpp"

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "membership/foreign_fault.hpp"
#include "membership/host_silence.hpp"
#include "membership/mpi_job.hpp"
#include "membership/place_report.hpp"
#include "membership/place_services.hpp"
#include "messenger/endpoint.hpp"
#include "messenger/image.hpp"
#include "net/shm_transport.hpp"
#include "os/clock.hpp"
#include "os/topology.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/more_places.hpp>
#include <tulle/detail/remote.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <utility>

#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::membership {

using gmem_access::memory_of;
using messenger::endpoint;
using messenger::endpoint_of_process;
using messenger::program_id;
using messenger::set_endpoint_of_process;
using net::rank;

namespace {

constexpr char const* k_variable = "TULLE_PLACE";
constexpr std::uint64_t k_ns_of_a_second = 1'000'000'000;
constexpr std::uint64_t k_poll_for_places_ns = 1'000'000;

struct assignment {
    rank here = 0;
    rank count = 0;
    int descriptor = -1;
    int segments = -1;
};

// It is never destroyed: its service thread runs until the process ends, or leave().
std::unique_ptr<place_services>& own_services() {
    constinit static base::made_once<std::unique_ptr<place_services>> s_own;
    return s_own.get();
}
bool s_survives = false;
rank s_most_places = 0;                        // that there may be; fewer than there are: nothing
bool s_searches = false;                       // for addresses in what is sent
net::session const* s_session = nullptr;       // null: an MPI's launcher has started us
void (*s_finish_network)() noexcept = nullptr; // then
int s_reserved_cpu = -1;
rank s_memory_places = 0;

assignment read_assignment(char const* text) {
    assignment a;
    char rest = 0;
    if (std::sscanf(text, "%u/%u@shm:%d,%d%c", &a.here, &a.count, &a.descriptor, &a.segments,
                    &rest) != 4 ||
        a.here >= a.count)
        base::fatal("%s is '%s', which is not RANK/COUNT@shm:DESCRIPTOR,DESCRIPTOR: start places "
                    "with `tulle run -n N PROG`",
                    k_variable, text);
    return a;
}

net::session take_session(assignment const& a) {
    net::session found = net::session::adopt(a.descriptor, a.segments);
    if (!found.is_valid())
        base::fatal("place %u cannot map the memory of the places (descriptor %d: %s); it is made "
                    "and inherited by `tulle run` of the same version",
                    a.here, a.descriptor, std::strerror(errno));
    rank const at_start = found.places_at_start();
    if (at_start != a.count && (a.here < at_start || a.here >= found.wanted_places()))
        base::fatal("place %u of %u has inherited the memory of %u places", a.here, a.count,
                    at_start);
    bool const wants_room = s_most_places > at_start && s_memory_places == 0; // these are the last
    if (wants_room && !found.make_room(s_most_places))
        base::fatal("place %u has no room for %u places: %s", a.here, s_most_places,
                    std::strerror(errno));
    return found;
}

// All must run the same program: code is named by its offset in it.
void compare_programs(net::session const& all, rank here) {
    std::uint64_t first = 0;
    if (all.head().program.compare_exchange_strong(first, program_id()) || first == program_id())
        return;
    base::fatal("place %u runs another program than the places that started before it (build-ids "
                "differ): start the same file at all places",
                here);
}

void announce(net::session const& all, rank here) {
    net::place_entry& own = all.entry(here);
    auto expected = net::place_state::absent;
    own.process.store(getpid(), std::memory_order_relaxed); // relaxed: published by the next line
    if (!own.state.compare_exchange_strong(expected, net::place_state::joined,
                                           std::memory_order_acq_rel))
        base::fatal("place %u is taken already", here);
    all.entry(0).doorbell.wake();
}

void say_death(net::place_entry const& e, rank dead) {
    // relaxed: published by the state
    int const status = e.wait_status.load(std::memory_order_relaxed);
    if (WIFSIGNALED(status))
        base::fatal("place %u was ended by signal %d (%s) before it took part", dead,
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
    base::fatal("place %u ended with exit code %d before it used Tulle", dead, WEXITSTATUS(status));
}

// Place 0.
void wait_for_all(net::session const& all, net::transport& own) {
    std::uint64_t complain_at = os::monotonic_ns() + 10 * k_ns_of_a_second;
    for (rank r = 1; r < all.places_at_start();) {
        net::place_entry const& e = all.entry(r);
        // Pairs with announce and declare_dead.
        auto const state = e.state.load(std::memory_order_acquire);
        if (state == net::place_state::dead) say_death(e, r);
        if (state != net::place_state::absent) {
            ++r;
            continue;
        }
        std::uint64_t const now = os::monotonic_ns();
        if (now >= complain_at) {
            base::warn("place 0 waits for place %u, which has not used Tulle yet", r);
            complain_at = now + 60 * k_ns_of_a_second;
        }
        own.arm();
        own.sleep(now + k_poll_for_places_ns);
    }
}

// An errno value; ECHILD: it has ended.
int start_place(net::session const& all, rank place) noexcept {
    if (place >= all.places()) return EINVAL;
    if (!all.ask_for_places(place + 1)) return errno;
    net::place_state state{};
    // Pairs with announce and declare_dead.
    while ((state = all.entry(place).state.load(std::memory_order_acquire)) ==
           net::place_state::absent) {
        timespec const pause{0, static_cast<long>(k_poll_for_places_ns)};
        nanosleep(&pause, nullptr);
    }
    return state == net::place_state::joined ? 0 : ECHILD;
}

void say_goodbye(endpoint& e) noexcept {
    if (s_session != nullptr)
        s_session->entry(e.here()).state.store(net::place_state::left, std::memory_order_release);
    if (s_finish_network == nullptr) return;
    report(place_news::left);
    e.close();
    s_finish_network();
    end_host_watch();
}

// Any other place.
[[noreturn]] void serve(endpoint& e) {
    e.told_end().wait();
    memory_of(e).report();
    say_goodbye(e);
    std::exit(EXIT_SUCCESS); // NOLINT(concurrency-mt-unsafe)
}

// Whether these are too few for the workers of so many places, if all have as many.
bool are_too_few(std::size_t processors, std::size_t places) {
    return places * static_cast<std::size_t>(sched::scheduler::instance().active().count()) >
           processors;
}
bool have_too_few_processors(net::session const& all) {
    return are_too_few(all.head().processors != 0 ? all.head().processors
                                                  : os::read_allowance().cpus.size(),
                       all.wanted_places() - s_memory_places);
}

void check_memory_places(rank places) {
    if (s_memory_places >= places)
        base::fatal(
            "memory_places is %u, and there are %u places: place 0 runs main, so at most %u "
            "can have memory only",
            s_memory_places, places, places - 1);
}

// It has a worker for the library's own threads, such as those that wait for a word there.
void become_memory_place(endpoint& e) {
    static_cast<void>(sched::scheduler::instance().active().set_count(1));
    e.share_processors();
}

endpoint& become_endpoint(std::unique_ptr<net::transport> over) {
    // where Yama restricts which processes may read our memory: the other places may
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    check_memory_places(over->count());
    own_services() = std::make_unique<place_services>(
        std::move(over), gmem_access::memory_settings_of_process(), s_memory_places);
    endpoint& e = own_services()->messages;
    if (!e.runs_threads(e.here())) become_memory_place(e);
    e.reserve_processor(s_reserved_cpu);
    if (s_searches) e.search_for_addresses();
    set_endpoint_of_process(&e);
    return e;
}

void take_part(endpoint& e) {
    e.start();
    sched::scheduler::instance().set_idle_poller(&e);
    if (e.count() > 1) explain_faults(s_session, e.here());
    if (e.here() != 0) serve(e);
    std::atexit(&leave);
}

void join(assignment const& a) {
    auto transport = std::make_unique<net::shm_transport>(take_session(a), a.here);
    s_session = &transport->joined();
    net::transport& own = *transport;
    compare_programs(*s_session, a.here);
    endpoint& e = become_endpoint(std::move(transport));
    if (have_too_few_processors(*s_session)) e.share_processors();
    if (s_survives) {
        e.survive_deaths();
        // relaxed: published by announce
        s_session->head().survives_deaths.store(true, std::memory_order_relaxed);
    }
    announce(*s_session, a.here);
    if (a.here == 0) wait_for_all(*s_session, own);
    take_part(e);
}

// A launcher gives each place processors of its own as long as there are some.
void join_by_mpi() {
    auto const places_here = static_cast<std::size_t>(places_of_host());
    report(place_news::joined);
    gmem_access::memory_settings const memory = gmem_access::memory_settings_of_process();
    mpi_job job = join_mpi_job(std::array<common_option, 4>{{
        {"TULLE_GLOBAL_MEMORY", memory.bytes},
        {"TULLE_GLOBAL_GROUP", memory.group},
        {"TULLE_GLOBAL_LOW", memory.is_low ? 1U : 0U},
        {"TULLE_MEMORY_PLACES", s_memory_places},
    }});
    s_finish_network = job.finish;
    endpoint& e = become_endpoint(std::move(job.transport));
    if (are_too_few(static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)), places_here))
        e.share_processors();
    if (job.tells_deaths) e.die_with_others();
    if (job.tells_deaths && s_survives) {
        e.survive_deaths();
        report(place_news::others_go_on);
    }
    if (s_survives && !job.tells_deaths && e.here() == 0)
        base::warn("TULLE_ON_PLACE_DEATH=throw has no effect: an MPI has started the places, and "
                   "its launcher ends them all when one dies; "
                   "those that `tulle run -n` starts on one host can go on, and those of Open MPI "
                   "5 with `mpirun --with-ft ulfm`");
    take_part(e);
}

} // namespace

void set_survival(bool survives) noexcept { s_survives = survives; }
void set_check(bool is_wanted) noexcept { s_searches = is_wanted; }
void reserve_processor(int cpu) noexcept { s_reserved_cpu = cpu; }
void set_memory_places(unsigned count) noexcept { s_memory_places = count; }

// Also in a program that may not: join_from_environment() refuses it.
bool is_asked_to_join() noexcept {
    return std::getenv(k_variable) != nullptr || is_in_mpi_job(); // NOLINT(concurrency-mt-unsafe)
}

// Places write into each other's memory and name the code that they call there, so a place has the
// rights of all others.
void join_from_environment() try {
    char const* const text = std::getenv(k_variable); // NOLINT(concurrency-mt-unsafe)
    if (text == nullptr) return is_in_mpi_job() ? join_by_mpi() : void();
    if (getauxval(AT_SECURE) != 0)
        base::fatal("cannot become a place: this program has more rights than the user who has "
                    "started it (setuid, setgid, capabilities), and the other places could use "
                    "them; start places as the user whose rights they need");
    assignment const a = read_assignment(text);
    unsetenv(
        k_variable); // NOLINT(concurrency-mt-unsafe): programs that this one starts are no places
    join(a);
} catch (std::exception const& e) {
    base::fatal("cannot become a place: %s", e.what());
}

void leave() noexcept {
    endpoint* const e = endpoint_of_process();
    if (e == nullptr) return gmem_access::forget_memory_of_process();
    stop_explaining_faults();
    if (e->here() != 0) return;
    memory_of(*e).report();
    bool const is_waited_for =
        s_finish_network != nullptr; // by say_goodbye(), whoever has not heard
    e->tell_end(!is_waited_for);
    say_goodbye(*e);
    sched::scheduler::instance().set_idle_poller(nullptr);
    set_endpoint_of_process(nullptr);
}

void forget() noexcept {
    if (endpoint_of_process() == nullptr) return;
    stop_explaining_faults();
    detail::set_attachment(detail::attachment_of::global_deque,
                           nullptr); // on the parent's steal area
    sched::scheduler::instance().set_idle_poller(nullptr);
    set_endpoint_of_process(nullptr);
    static_cast<void>(own_services().release()); // the service thread is the parent's
}

} // namespace tulle::membership

namespace tulle::detail {

bool is_asked_to_join() noexcept { return membership::is_asked_to_join(); }

void let_places_be_started(int most) noexcept {
    membership::s_most_places = static_cast<net::rank>(most);
}

int places_at_start() {
    return membership::s_session != nullptr
               ? static_cast<int>(membership::s_session->places_at_start())
               : place_count();
}

int start_place(int index) noexcept {
    return membership::s_session != nullptr
               ? membership::start_place(*membership::s_session, static_cast<net::rank>(index))
               : ENOTSUP;
}

} // namespace tulle::detail
