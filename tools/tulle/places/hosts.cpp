// SPDX-License-Identifier: Apache-2.0
#include "places/hosts.hpp"

#include "command.hpp"
#include "net/mpi_plugin.hpp"
#include "net/packet.hpp"
#include "places/job.hpp"
#include "places/launcher_watch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace tulle::tool {

namespace {

struct host {
    std::string name;
    unsigned places = 0; // 0: not said
};

struct launcher {
    char const* flavour;
    char const* title;
    char const* package;
    std::array<char const*, 3> names; // of its program, the surest first
    std::string_view says;            // what it says of itself, with --version
    arguments (*command)(std::string const& program, std::vector<host> const& hosts,
                         unsigned places);
    int survives_from; // the version that can go on without a place that has died; 0: none
};

// --- their options -------------------------------------------------------------------------------

std::string list_of(std::vector<host> const& hosts) {
    std::string list;
    for (host const& h : hosts)
        list += (list.empty() ? "" : ",") + h.name + ":" + std::to_string(h.places);
    return list;
}

std::vector<std::string> own_variables() {
    std::vector<std::string> names;
    for (char** v = environ; *v != nullptr; ++v) {
        std::string_view const assignment = *v;
        if (assignment.substr(0, 6) == "TULLE_")
            names.emplace_back(assignment.substr(0, assignment.find('=')));
    }
    return names;
}

// It binds each process to a core otherwise, workers and all; refuses more processes than it counts
// processors, and root; and hands on no variables.
arguments open_mpi_command(std::string const& program, std::vector<host> const& hosts,
                           unsigned places) {
    arguments words{program, "-n", std::to_string(places), "--bind-to", "none", "--oversubscribe"};
    if (!hosts.empty()) words.insert(words.end(), {"--host", list_of(hosts)});
    if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
    for (std::string const& name : own_variables()) words.insert(words.end(), {"-x", name});
    return words;
}

arguments mpich_command(std::string const& program, std::vector<host> const& hosts,
                        unsigned places) {
    arguments words{program, "-n", std::to_string(places)};
    if (!hosts.empty()) words.insert(words.end(), {"-hosts", list_of(hosts)});
    return words;
}

constexpr std::array<launcher, 2> k_launchers{{
    {"openmpi",
     "Open MPI",
     "openmpi-bin",
     {"mpirun.openmpi", "orterun", "mpirun"},
     "(Open MPI) ",
     &open_mpi_command,
     5},
    {"mpich",
     "MPICH",
     "mpich",
     {"mpirun.mpich", "mpiexec.hydra", "mpirun"},
     "HYDRA",
     &mpich_command,
     0},
}};

// --- which one -----------------------------------------------------------------------------------

struct found_launcher {
    std::string program;
    bool can_survive; // deaths of places
};

std::optional<found_launcher> find_launcher(launcher const& wanted) {
    for (char const* const name : wanted.names) {
        auto const path = find_program(name);
        if (!path) continue;
        limits limit{std::chrono::seconds(10)};
        limit.merge = true;
        std::string const version = capture({path->string(), "--version"}, limit).output;
        std::size_t const at = version.find(wanted.says);
        if (at == std::string::npos) continue;
        int const number =
            std::atoi(version.c_str() + at + wanted.says.size()); // NOLINT: 0 is none
        return found_launcher{path->string(),
                              wanted.survives_from != 0 && number >= wanted.survives_from};
    }
    return std::nullopt;
}

struct choice {
    launcher const* what;
    found_launcher found;
    net::mpi_plugin plugin;
};

// At most so many of those that can be used, in their order.
std::vector<choice> choices(std::string const& asked, std::size_t most) {
    std::vector<choice> usable;
    std::string missing;
    for (launcher const& l : k_launchers) {
        if ((!asked.empty() && asked != l.flavour) || usable.size() == most) continue;
        auto const found = find_launcher(l);
        net::mpi_plugin const plugin = net::load_mpi_plugin(l.flavour);
        if (found && plugin.functions != nullptr) {
            usable.push_back({&l, *found, plugin});
            continue;
        }
        missing += std::string("\n  ") + l.title + ": ";
        missing += !found ? std::string("its mpirun is not in PATH (Debian: ") + l.package +
                                ", on each host)"
                          : "this Tulle was built without it (" + plugin.why +
                                "): install its compiler wrapper and build again";
    }
    if (usable.empty())
        throw failure(k_exit_failed,
                      "places on several hosts need an MPI, and none can be used:" + missing);
    return usable;
}

choice choose(std::string const& asked) { return choices(asked, 1).front(); }

// --- where ---------------------------------------------------------------------------------------

host host_of(std::string_view word) {
    auto const colon = word.rfind(':');
    host h{std::string(word.substr(0, colon)), 0};
    if (colon != std::string_view::npos) {
        std::string_view const number = word.substr(colon + 1);
        auto const [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), h.places);
        if (error != std::errc() || end != number.data() + number.size() || h.places == 0 ||
            h.places > net::k_most_places)
            throw failure(k_exit_usage,
                          "--hosts: '" + std::string(word) + "' is not HOST or HOST:PLACES");
    }
    if (h.name.empty() || h.name.front() == '-')
        throw failure(k_exit_usage, "--hosts: a name is missing in '" + std::string(word) + "'");
    return h;
}

std::vector<host> hosts_in(std::string_view list) {
    std::vector<host> hosts;
    for (std::size_t begin = 0; begin <= list.size();) {
        std::size_t const end = std::min(list.find(',', begin), list.size());
        hosts.push_back(host_of(list.substr(begin, end - begin)));
        begin = end + 1;
    }
    return hosts;
}

// What the numbers of a list leave to be distributed.
struct capacity {
    unsigned fixed = 0;        // on hosts that have a number
    std::vector<host*> open{}; // those that have none

    explicit capacity(std::vector<host>& hosts) {
        for (host& h : hosts) {
            fixed += h.places;
            if (h.places == 0) open.push_back(&h);
        }
    }
    [[nodiscard]] unsigned least() const { return fixed + static_cast<unsigned>(open.size()); }
    [[nodiscard]] bool holds(unsigned places) const {
        return open.empty() ? places == fixed : places >= least();
    }
};

// So many on each host that all are somewhere: those that have no number share what is left.
unsigned distribute(std::vector<host>& hosts, unsigned places) {
    capacity const is(hosts);
    auto const& [fixed, open] = is;
    if (places == 0) places = is.least();
    if (!is.holds(places))
        throw failure(k_exit_usage, "--hosts: " + std::to_string(places) +
                                        " places do not fit the hosts: each has one at least, or "
                                        "as many as its number says");
    for (std::size_t k = 0; k < open.size(); ++k)
        open[k]->places =
            static_cast<unsigned>((places - fixed + open.size() - 1 - k) / open.size());
    return places;
}

// A line with the name of its host for each process that PBS has room for.
std::vector<std::string> room_in_pbs() {
    char const* const file = std::getenv("PBS_NODEFILE"); // NOLINT(concurrency-mt-unsafe)
    std::ifstream lines(file != nullptr ? file : "");
    std::vector<std::string> names;
    for (std::string name; std::getline(lines, name);)
        if (!name.empty()) names.push_back(name);
    return names;
}

// As many on each host as its share of the room; none if this is not PBS. Not every launcher asks
// PBS: that of Debian's Open MPI does not.
std::vector<host> hosts_of_pbs(unsigned places) {
    std::vector<std::string> const room = room_in_pbs();
    std::vector<host> hosts;
    for (std::size_t k = 0; !room.empty() && k < places; ++k) {
        std::string const& name = room[k * room.size() / places];
        auto const known = std::find_if(hosts.begin(), hosts.end(),
                                        [&name](host const& h) { return h.name == name; });
        known != hosts.end() ? static_cast<void>(++known->places) : hosts.push_back({name, 1});
    }
    return hosts;
}

// Neither bytes nor an end are to come.
bool input_has_ended() {
    struct stat found {};
    if (fstat(STDIN_FILENO, &found) != 0) return true;
    if (S_ISREG(found.st_mode)) return lseek(STDIN_FILENO, 0, SEEK_CUR) >= found.st_size;
    struct stat nothing {};
    if (S_ISCHR(found.st_mode))
        return stat("/dev/null", &nothing) == 0 && found.st_rdev == nothing.st_rdev;
    pollfd wanted{STDIN_FILENO, POLLIN, 0};
    return poll(&wanted, 1, 0) == 1 && wanted.revents == POLLHUP;
}

} // namespace

bool has_allocation() {
    char const* const nodes = std::getenv("SLURM_JOB_NUM_NODES"); // NOLINT(concurrency-mt-unsafe)
    std::vector<std::string> const room = room_in_pbs();
    return (nodes != nullptr && std::atoi(nodes) > 1) ||
           std::set<std::string>(room.begin(), room.end()).size() > 1;
}

std::vector<std::string> usable_mpis(std::string const& mpi) {
    std::vector<std::string> names;
    for (choice const& c : choices(mpi, k_launchers.size())) names.emplace_back(c.what->flavour);
    return names;
}

bool hold_places(std::string const& list, unsigned places) {
    std::vector<host> hosts = hosts_in(list);
    return capacity(hosts).holds(places);
}

arguments launcher_on_hosts(std::string const& mpi, std::string const& list, unsigned places) {
    std::vector<host> hosts = hosts_in(list);
    distribute(hosts, places);
    choice const chosen = choose(mpi);
    return chosen.what->command(chosen.found.program, hosts, places);
}

int run_on_hosts(hosts_request const& request) {
    std::vector<host> hosts =
        request.hosts.empty() ? hosts_of_pbs(request.places) : hosts_in(request.hosts);
    unsigned const places =
        request.hosts.empty() ? request.places : distribute(hosts, request.places);
    if (places > net::k_most_places)
        throw failure(k_exit_usage,
                      "--hosts: at most " + std::to_string(net::k_most_places) + " places");
    choice const chosen = choose(request.mpi);
    setenv("TULLE_TRANSPORT", chosen.what->flavour, 1); // NOLINT(concurrency-mt-unsafe)
    let_places_find(chosen.plugin);
    launcher_watch watch(request.host_limit);
    arguments words = chosen.what->command(chosen.found.program, hosts, places);
    if (chosen.found.can_survive && wants_survivors())
        words.insert(words.end(), {"--with-ft", "ulfm"});
    words.insert(words.end(), {std::filesystem::read_symlink("/proc/self/exe").string(), "run",
                               "--place-of-job", word_of(request.tags)});
    // MPICH tells the first place of the end, and is ended by SIGPIPE when that place is not there
    // any more.
    bool const has_input = !input_has_ended();
    if (!has_input) words.emplace_back("--no-input");
    if (isatty(STDOUT_FILENO) == 0) words.emplace_back("--whole-lines");
    words.emplace_back("--");
    words.insert(words.end(), request.words.begin(), request.words.end());
    std::vector<std::string> names;
    for (host const& h : hosts) names.insert(names.end(), h.places, h.name);
    return run_job({words, places, names, request.start_limit, has_input}, watch);
}

} // namespace tulle::tool
