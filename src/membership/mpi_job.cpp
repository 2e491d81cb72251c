// SPDX-License-Identifier: Apache-2.0
#include "membership/mpi_job.hpp"

#include "base/error.hpp"
#include "membership/host_silence.hpp"
#include "messenger/image.hpp"
#include "net/host_transport.hpp"
#include "net/mpi_plugin.hpp"
#include "net/mpi_transport.hpp"
#include "net/shm_transport.hpp"
#include "os/clock.hpp"
#include "os/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace tulle::membership {

namespace {

using net::rank;

constexpr char const* k_transport_variable = "TULLE_TRANSPORT";
constexpr char const* k_on_host_variable = "TULLE_ON_HOST";

// What launchers leave in the environment of the processes that they start.
struct trace {
    char const* rank;
    char const* count;
    char const* count_of_host;
    char const* flavour;
};
constexpr std::array<trace, 3> k_traces{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "openmpi"},
    // Hydra's; Slurm's, without the last one.
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "mpich"},
    // any MPI may understand PMIx
    {"PMIX_RANK", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "openmpi"},
}};

struct flavour_row {
    std::string_view name;
    char const* title;
    char const* package;
};
constexpr std::array<flavour_row, 2> k_flavours{
    {{"openmpi", "Open MPI", "libopenmpi-dev"}, {"mpich", "MPICH", "libmpich-dev"}}};

// A program that has more rights than the user who starts it takes no part in that user's job.
std::string_view variable(char const* name) noexcept {
    char const* const value = ::secure_getenv(name); // NOLINT(concurrency-mt-unsafe)
    return value != nullptr ? value : "";
}

trace const* find_trace() noexcept {
    for (trace const& t : k_traces)
        if (!variable(t.rank).empty()) return &t;
    return nullptr;
}

// A program that uses MPI has a main of its own at each process.
bool program_uses_mpi() noexcept { return dlsym(RTLD_DEFAULT, "MPI_Init") != nullptr; }

std::string wanted_flavour() {
    std::string_view const asked = variable(k_transport_variable);
    for (flavour_row const& f : k_flavours)
        if (asked == f.name) return std::string(asked);
    trace const* const t = find_trace();
    return t != nullptr ? t->flavour : std::string(k_flavours.front().name);
}

net::mpi_functions const& load(std::string const& flavour) {
    net::mpi_plugin const found = net::load_mpi_plugin(flavour);
    if (found.functions != nullptr) return *found.functions;
    flavour_row const& f = flavour == k_flavours[1].name ? k_flavours[1] : k_flavours[0];
    base::fatal("%s has started this process, and the places cannot reach each other: %s. If Tulle "
                "has been built with this MPI, set "
                "TULLE_PLUGIN_FOLDER to the folder of its libraries; otherwise install %s (Debian: "
                "%s) where Tulle is built, and build and "
                "install Tulle again; or set %s=none, and each process runs alone",
                f.title, found.why.c_str(), f.title, f.package, k_transport_variable);
}

void check(net::mpi_functions const& mpi, int error, char const* what) {
    if (error == 0) return;
    std::array<char, 256> text{};
    mpi.explain(error, text.data(), text.size());
    base::fatal("cannot become a place: MPI cannot %s: %s", what, text.data());
}

void check_world(net::mpi_world const& world) {
    if (world.threads == net::mpi_threads::only_main)
        base::fatal("%s lets only the main thread call it%s, so it cannot carry messages between "
                    "places: %s",
                    world.library,
                    world.is_ours ? "" : ", as the program has started it with MPI_Init",
                    world.is_ours ? "use one that is built with MPI_THREAD_MULTIPLE"
                                  : "start it with MPI_Init_thread and MPI_THREAD_MULTIPLE");
    if (!world.is_ours && world.threads != net::mpi_threads::any)
        base::fatal("the program has started %s without MPI_THREAD_MULTIPLE, and places need it "
                    "besides: start it with that",
                    world.library);
    if (world.count > net::k_most_places)
        base::fatal("%u places are too many: at most %u", world.count, net::k_most_places);
}

// All must run the same program: code is named by its offset in it.
void compare_programs_of_all(net::mpi_functions const& mpi, net::mpi_endpoint* all,
                             net::mpi_world const& world) {
    std::uint64_t const own = messenger::program_id();
    std::vector<std::uint64_t> ids(world.count);
    check(mpi, mpi.gather(all, &own, sizeof own, ids.data()), "compare the programs of the places");
    if (own != ids[0])
        base::fatal("place %u runs another program than place 0 (build-ids differ): start the same "
                    "file at all places",
                    world.here);
}

// Launchers start places of one job with different environments if they are told to, or of hosts
// whose users have different ones.
void compare_options_of_all(net::mpi_functions const& mpi, net::mpi_endpoint* all,
                            net::mpi_world const& world, std::span<common_option const> options) {
    std::vector<std::uint64_t> own;
    for (common_option const& each : options) own.push_back(each.value);
    std::vector<std::uint64_t> found(world.count * own.size());
    check(mpi, mpi.gather(all, own.data(), own.size() * sizeof own[0], found.data()),
          "compare the options of the places");
    for (std::size_t k = 0; k < own.size(); ++k)
        if (own[k] != found[k])
            base::fatal("place %u has %s=%llu, and place 0 has %llu: let the launcher pass the "
                        "same value to all places",
                        world.here, options[k].variable, static_cast<unsigned long long>(own[k]),
                        static_cast<unsigned long long>(found[k]));
}

// --- places of this host -------------------------------------------------------------------------

// How the other places of a host find the memory that the first one has made for them.
struct invitation {
    rank first = 0;    // what all places of the host have in common: the lowest one, which makes it
    pid_t process = 0; // whose descriptor it is
    int descriptor = -1;
    int segments = -1;       // another one, of global memory
    std::uint64_t token = 0; // stands in it
};

class host_finder {
public:
    // `first`: the lowest place of this host.
    host_finder(net::mpi_functions const& mpi, net::mpi_endpoint* all, net::mpi_world const& world,
                rank first)
        : m_mpi(mpi), m_all(all), m_here(world.here), m_count(world.count), m_first(first) {}

    // Null: this place is alone on its host, or not all of the host can map the memory. Called by
    // all places.
    std::unique_ptr<net::shm_transport> connect() {
        invitation own;
        own.first = m_first;
        if (variable(k_on_host_variable) == "mpi") own.first = m_count + m_here; // alone
        std::vector<rank> const firsts = gather(own.first);
        for (rank r = 0; r < m_count; ++r)
            if (firsts[r] == own.first) m_ranks.push_back(r);
        bool const is_first = m_ranks.front() == m_here;
        net::session memory = is_first ? make(own) : net::session();
        std::vector<invitation> const invitations = gather(own);
        if (!is_first) memory = accept(invitations[m_ranks.front()]);
        std::vector<char> const has_it = gather(static_cast<char>(memory.is_valid()));
        for (rank const r : m_ranks)
            if (has_it[r] == 0) return nullptr;
        auto const place =
            static_cast<rank>(std::find(m_ranks.begin(), m_ranks.end(), m_here) - m_ranks.begin());
        // relaxed: published by messages
        memory.entry(place).process.store(getpid(), std::memory_order_relaxed);
        return std::make_unique<net::shm_transport>(std::move(memory), place);
    }
    // The places of this host.
    [[nodiscard]] std::vector<rank> const& ranks() const noexcept { return m_ranks; }

private:
    template <class T> std::vector<T> gather(T const& own) const {
        std::vector<T> all(m_count);
        check(m_mpi, m_mpi.gather(m_all, &own, sizeof own, all.data()),
              "tell all places of each other");
        return all;
    }
    [[nodiscard]] net::session make(invitation& to) const {
        if (m_ranks.size() == 1) return {};
        net::session made = net::session::create(static_cast<rank>(m_ranks.size()));
        if (!made.is_valid()) return made;
        to.process = getpid();
        to.descriptor = made.memory().descriptor();
        to.segments = made.segments_descriptor();
        to.token = os::monotonic_ns() ^ messenger::program_id();
        made.head().program.store(to.token);
        return made;
    }
    [[nodiscard]] static int open_there(pid_t process, int descriptor) {
        std::string const path =
            "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
        return open(path.c_str(), O_RDWR | O_CLOEXEC);
    }
    // The memory is opened through /proc, as it has no name. Anything else there has another token.
    [[nodiscard]] static net::session accept(invitation const& from) {
        int const descriptor = from.descriptor < 0 ? -1 : open_there(from.process, from.descriptor);
        if (descriptor < 0) return {};
        net::session found =
            net::session::adopt(descriptor, open_there(from.process, from.segments));
        if (found.is_valid() && found.segments_descriptor() >= 0 &&
            found.head().program.load() == from.token)
            return found;
        return {};
    }

    net::mpi_functions const& m_mpi;
    net::mpi_endpoint* m_all;
    rank m_here;
    rank m_count;
    rank m_first;
    std::vector<rank> m_ranks;
};

void watch_other_hosts(net::mpi_functions const& mpi, net::mpi_endpoint* all,
                       net::mpi_world const& world, rank first) {
    host_card const own = open_host_watch(world.here, first);
    std::vector<host_card> cards(world.count);
    check(mpi, mpi.gather(all, &own, sizeof own, cards.data()), "tell all places of each other");
    begin_host_watch(world.here, cards);
}

std::unique_ptr<net::transport> connect(net::mpi_functions const& mpi, net::mpi_endpoint* all,
                                        net::mpi_world const& world) {
    rank first = 0;
    check(mpi, mpi.find_hosts(all, first), "tell which places share a host");
    watch_other_hosts(mpi, all, world, first);
    host_finder host(mpi, all, world, first);
    std::unique_ptr<net::shm_transport> near = host.connect();
    std::vector<int> descriptors(world.descriptors, world.descriptors + world.descriptor_count);
    auto far = std::make_unique<net::mpi_transport>(mpi, all, world.here, world.count,
                                                    world.tells_deaths, std::move(descriptors));
    if (near == nullptr) return far;
    return std::make_unique<net::host_transport>(std::move(near), host.ranks(), std::move(far));
}

// No place goes on, and dies perhaps, before all are through with what fails when one dies.
void wait_for_all(net::mpi_functions const& mpi, net::mpi_endpoint* all) {
    net::mpi_request meeting;
    check(mpi, mpi.meet(all, meeting), "wait for all places");
    for (bool have_come = false; !have_come;) {
        int const error = mpi.test(meeting, have_come);
        if (error == net::mpi_functions::k_peer_is_dead)
            base::fatal("cannot become a place: another one died before all were there");
        check(mpi, error, "wait for all places");
        if (!have_come) os::machine::yield_processor();
    }
}

} // namespace

bool is_in_mpi_job() noexcept {
    std::string_view const asked = variable(k_transport_variable);
    if (!asked.empty()) return asked != "none";
    trace const* const t = find_trace();
    return t != nullptr && variable(t->count) != "1" && !program_uses_mpi();
}

int places_of_host() noexcept {
    trace const* const t = is_in_mpi_job() ? find_trace() : nullptr;
    int const count = t != nullptr ? std::atoi(std::string(variable(t->count_of_host)).c_str()) : 1;
    return std::max(count, 1);
}

mpi_job join_mpi_job(std::span<common_option const> options) {
    std::string const flavour = wanted_flavour();
    net::mpi_functions const& mpi = load(flavour);
    net::mpi_world world;
    start_lease const until_all_are_there;
    check(mpi, mpi.start(world), "start");
    check_world(world);
    setenv(k_transport_variable, "none",
           1); // NOLINT(concurrency-mt-unsafe): programs that this one starts are no places
    net::mpi_endpoint* all = nullptr;
    check(mpi, mpi.open(world.count, all), "connect the places");
    compare_programs_of_all(mpi, all, world);
    compare_options_of_all(mpi, all, world, options);
    std::unique_ptr<net::transport> transport = connect(mpi, all, world);
    if (world.tells_deaths) wait_for_all(mpi, all);
    return {std::move(transport), mpi.finish, world.tells_deaths};
}

} // namespace tulle::membership
