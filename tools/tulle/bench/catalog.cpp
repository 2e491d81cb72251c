// SPDX-License-Identifier: Apache-2.0
#include "bench/catalog.hpp"

#include "base/nearest_word.hpp"
#include "bench/figure.hpp"
#include "bench/papers.hpp"
#include "command.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

namespace tulle::tool {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Those of the paper on MassiveThreads, also where there are fewer processors.
std::vector<int> const k_workers_of_the_paper{1, 2, 4, 8, 16};

workload const* find_workload(std::string_view name) {
    auto const& all = workloads();
    auto const found =
        std::find_if(all.begin(), all.end(), [name](workload const& w) { return w.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string names_of_those_over_places() {
    std::string names;
    for (workload const& w : workloads())
        if (!w.places.empty()) names += (names.empty() ? "" : ", ") + std::string(w.name);
    return names;
}

bool is_possible(workload const& w, int places) {
    return places >= w.possible.least && places <= w.possible.most;
}

std::vector<std::string> names_of_benchmarks() {
    std::vector<std::string> names;
    for (workload const& w : workloads()) names.emplace_back(w.name);
    for (workload_set const& set : workload_sets()) names.emplace_back(set.name);
    return names;
}

std::vector<std::string_view> members_of(std::string const& name) {
    for (workload_set const& set : workload_sets())
        if (set.name == name) return set.members;
    if (find_workload(name) != nullptr) return {name};
    throw failure(k_exit_usage, "bench: there is no benchmark '" + name + "'; " +
                                    base::did_you_mean(name, names_of_benchmarks()) +
                                    "`tulle bench --list` names them all");
}

// The programs bench-LIBRARY, by library.
std::map<std::string, fs::path> programs_in(fs::path const& folder) {
    constexpr std::string_view prefix = "bench-";
    std::map<std::string, fs::path> found;
    std::error_code none;
    for (fs::directory_entry const& entry : fs::directory_iterator(folder, none)) {
        std::string const name = entry.path().filename().string();
        if (!name.starts_with(prefix) || name.find('-', prefix.size()) != std::string::npos ||
            !entry.is_regular_file(none))
            continue;
        found.emplace(name.substr(prefix.size()), entry.path());
    }
    return found;
}

// Of lines "WORKLOAD LIBRARY".
void add_listed(std::string const& lines, fs::path const& program, std::vector<contestant>& all) {
    std::istringstream in(lines);
    for (std::string bench, library; in >> bench >> library;)
        all.push_back({bench, library, {program, bench, library}});
}

std::vector<workload> const k_workloads{
    {"fib",
     "a thread per call of Fibonacci; cost of a spawn and join over the serial program",
     {1, 2}},
    {"switch",
     "two stacks in turn, no scheduler: in assembly (tulle), by the C library, by "
     "swapcontext of `tulle run --ucontext` (tulle_preloaded), by Boost.Context",
     {1},
     true},
    {"yield", "two threads yield to each other on one worker", {1}},
    {"create-one", "create a thread, join it", {1}},
    {"create-many", "create a million threads, then join all; time and memory of each", {1, 2}},
    {"create-blocks",
     "create and run a million threads in blocks of 200, at most 400 alive",
     {1, 2}},
    {"blocked",
     "a million threads alive and waiting at once, then released; time, and memory of each",
     {1}},
    {"mutex", "lock and unlock a mutex that nobody else wants", {1}},
    {"mutex-contended", "8 threads lock one mutex; cost of a lock, longest wait", {2}},
    {"full-empty", "write into an empty cell, take the value out; read a full cell", {1}},
    {"empty-words", "a million words that are empty at once; memory of each", {1}},
    {"pingpong", "two threads pass values there and back through two cells", {1, 2}},
    {"waits",
     "1000 threads in a ring wait for each other in turn, with and without reports of "
     "deadlocks",
     {1, 2}},
    {"region", "start and end of a loop with an empty iteration for each worker", {1, 2}},
    {"grain1", "iterations of an empty loop that are given out one at a time", {1, 2}},
    {"axpy", "y = y + a x over 10 million doubles", {1, 2}},
    {"reduce", "sum of 10 million doubles", {1, 2}},
    {"scan", "sums of all beginnings of 10 million doubles", {1, 2}},
    {"sort", "sort 2 million random doubles with the sort that each library has", {1, 2}},
    {"rwlock", "read alone; 8 threads of whose sections a tenth writes; longest wait", {1, 2}},
    {"channel", "one thread sends numbers to another, through a buffer and without one", {1, 2}},
    {"sort-sizes", "sort 10^6, 10^7 and 10^8 random doubles beside qsort()", {1, 2}},
    {"shepherds",
     "the six microbenchmarks of the Qthreads paper, over the number of shepherds, which are the "
     "workers here; beside POSIX threads",
     {1, 2, 4}},
    {"chapel-calls",
     "what Chapel's run time asks of its tasking layers: begin, coforall, cobegin, sync variables; "
     "beside threads from a pool",
     {1, 2}},
    {"quicksort", "sort 2 million random doubles", {1, 2}},
    {"matmul", "cache-oblivious product of 1000 x 1000 matrices", {1, 2}},
    {"hpccg", "conjugate gradients on 75 x 75 x 64 points, 149 iterations", {1, 2}},
    {"tnt-fft",
     "Fourier transforms by TNT threads and POSIX threads, over the number of samples",
     {1, 2}},
    {"uts", "unbalanced tree search, tree T1", {1, 2}},
    {"nqueens", "all placements of 13 queens", {1, 2}},
    {"wake", "a foreign thread hands work to an idle program; until it runs", {2}},
    {"behind-busy",
     "a ready thread behind workers that compute 50 ms at a time; until it runs",
     {1, 2}},
    {"sleepers",
     "a million threads sleep until times of their own; how late they wake, and processor time "
     "of each",
     {1, 2}},
    {"behind-blocked",
     "a thread that is made while every worker is in read(2); until it runs",
     {1, 2}},
    {"socketpair", "two threads pass bytes there and back through a pair of sockets", {1, 2}},
    {"echo",
     "a server that sends back what it gets, with a thread for each connection; beside loops over "
     "an epoll",
     {2}},
    {"connections", "connections that are held, each with a thread; memory of each", {1}},
    {"idle", "processor time that a program with nothing to do uses", {2}},
    {"startup", "a process that starts, runs a thread and ends", {2}},
    {"at",
     "a call at another place and back, with and without data; activities there",
     {1},
     false,
     {2},
     false,
     {2, 2}},
    {"barrier",
     "a barrier of places, one thread each; of threads of all places, by their number",
     {1},
     false,
     {2, 4}},
    {"one-way",
     "one activity at a time, here and at another place; until it runs, until the spawner goes on, "
     "and until it has waited for the end",
     {1},
     false,
     {2},
     true,
     {2, 2}},
    {"hpccg-places",
     "hpccg over places, one thread each: planes exchanged, sums of all",
     {1},
     false,
     {1, 2}},
    {"remote-create",
     "create threads at all places and wait for all, by their number and how their places are "
     "chosen",
     {1},
     false,
     {2, 4}},
    {"global-lock", "threads at all places lock one mutex, by their number", {1}, false, {2}},
    {"process-lock",
     "processes of one host lock, increment a counter and unlock, by their number",
     {1},
     false,
     {20},
     true},
    {"process-barrier",
     "processes of one host meet at a barrier, by their number",
     {1},
     false,
     {20},
     true},
    {"global-fib",
     "Fibonacci(30), a thread for each call that any place may run",
     {1},
     false,
     {1, 2}},
    {"global-sort",
     "merge sort of a million numbers in global memory, with threads that any place may run",
     {1},
     false,
     {1, 2},
     true},
    {"onesided", "read, write and change words of another place, and read 64 KiB", {1}},
    {"onesided-sizes",
     "copy bytes from a place and to it, by their number, and 1 KiB of each of several",
     {1},
     false,
     {4},
     false,
     {2}},
    {"spanning",
     "one read and one write of the memory of all places, 64 KiB of each",
     {1},
     false,
     {1, 2, 4, 8, 16, 32, 64}},
    {"progress",
     "reading memory of a place whose workers compute, until it is there",
     {1},
     false,
     {2},
     false,
     {2}},
    {"noise",
     "equal quanta of work on all processors, and with one kept free; time lost to the system",
     {2}},
    {"checks",
     "small programs with checks of accesses to coherent memory: none, of loads (of integers, of "
     "floating-point numbers, both), of stores, all; with and without optimization: time, code, "
     "checks executed, overhead of all programs",
     {1}},
    {"coherent",
     "copies of coherent memory of two places: a miss, long runs, barriers, a counter under a lock",
     {1},
     false,
     {2},
     false,
     {2}},
    {"splash",
     "programs of SPLASH-2 from sources that you have (--sources): by POSIX threads, as processes "
     "that share memory, and as processes with copies of it",
     {1},
     false,
     {2}},
    {"splash-checks",
     "the same with checks of accesses: none, of loads (of integers, of floating-point numbers, "
     "both), of stores, all; with and without optimization; overhead of all programs",
     {1}},
    {"local-start", "start of an activity on the same worker, and until the spawner goes on", {1}},
    {"paper-fib", "Fibonacci(30), a thread for each call, by the library built over each switch",
     k_workers_of_the_paper, true},
    {"paper-scale", "the same with a larger n", k_workers_of_the_paper, true},
    {"paper-simple", "Fibonacci(30) by a small thread library over each switch", {1, 2}, true},
    {"paper-create", "create and join by a small thread library over each switch", {1}, true},
};

} // namespace

std::vector<workload> const& workloads() { return k_workloads; }

std::vector<workload_set> const& workload_sets() {
    static std::vector<workload_set> const all = [] {
        std::vector<workload_set> sets;
        for (paper const& p : papers())
            sets.push_back({p.name, p.sentence, {p.benchmarks.begin(), p.benchmarks.end()}});
        return sets;
    }();
    return all;
}

std::vector<workload const*> workloads_named(std::vector<std::string> const& names) {
    std::vector<workload const*> chosen;
    for (std::string const& name : names)
        for (std::string_view const member : members_of(name)) {
            workload const* const w = find_workload(member);
            if (std::find(chosen.begin(), chosen.end(), w) == chosen.end()) chosen.push_back(w);
        }
    if (names.empty())
        for (workload const& w : workloads()) chosen.push_back(&w);
    return chosen;
}

std::vector<int> places_instead(workload const& w, std::vector<int> const& asked) {
    if (asked.empty()) return w.places;
    if (w.places.empty())
        throw failure(k_exit_usage,
                      "bench: '" + std::string(w.name) +
                          "' is not over places that may be chosen, and --places is for " +
                          names_of_those_over_places());
    for (int const places : asked) {
        if (is_possible(w, places)) continue;
        std::string const least = std::to_string(w.possible.least);
        throw failure(k_exit_usage,
                      "bench: '" + std::string(w.name) + "' is measured with " +
                          (w.possible.least == w.possible.most ? least : "at least " + least) +
                          " places");
    }
    return asked;
}

std::vector<int> possible_places(workload const& w, std::vector<int> const& asked) {
    std::vector<int> possible = w.places.empty() ? std::vector<int>{} : asked;
    std::erase_if(possible, [&w](int places) { return !is_possible(w, places); });
    return possible.empty() ? w.places : possible;
}

bool compares_backends(std::string_view bench) {
    workload const* const w = find_workload(bench);
    return w != nullptr && w->backends;
}

bench_programs ask_programs(fs::path const& folder, bool peers) {
    bench_programs found;
    for (auto const& [library, path] : programs_in(folder)) {
        if (!peers && is_peer(library)) continue;
        outcome const said = capture({path, "--list"}, {20s, true, {}});
        if (said.ok()) {
            add_listed(said.output, path, found.contestants);
            continue;
        }
        found.absent.push_back(path.filename().string() +
                               " is left out: --list failed: " + said.reason());
        found.is_ours_absent = found.is_ours_absent || is_ours(library);
    }
    std::sort(found.contestants.begin(), found.contestants.end(),
              [](contestant const& a, contestant const& b) {
                  return std::tuple(!is_ours(a.library), a.bench, a.library) <
                         std::tuple(!is_ours(b.library), b.bench, b.library);
              });
    return found;
}

arguments start_with_places(contestant const& c, int places) {
    std::string const count = std::to_string(places);
    arguments words;
    if (is_ours(c.library))
        words = {"/proc/self/exe", "run", "-n", count, "--tags", "none"};
    else if (c.library.starts_with("openmpi") ||
             c.library.starts_with("argodsm")) // ArgoDSM is over it
        words = {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", count};
    else if (c.library.starts_with("mpich"))
        words = {"mpirun.mpich", "-n", count};
    words.insert(words.end(), c.command.begin(), c.command.end());
    words.insert(words.end(), {"--places", count});
    return words;
}

fs::path default_bench_folder() {
    std::error_code none;
    fs::path const self = fs::read_symlink("/proc/self/exe", none);
    return self.parent_path().parent_path() / "libexec" / "tulle";
}

} // namespace tulle::tool
