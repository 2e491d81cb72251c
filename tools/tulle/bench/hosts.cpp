// SPDX-License-Identifier: Apache-2.0
#include "bench/hosts.hpp"

#include "bench/figure.hpp"
#include "command.hpp"
#include "places/hosts.hpp"

#include <algorithm>

namespace tulle::tool {

namespace {

std::string joined(std::vector<std::string> const& words, std::string_view between) {
    std::string text;
    for (std::string const& word : words) text += (text.empty() ? "" : std::string(between)) + word;
    return text;
}

bool may_be_on_hosts(workload const& w) { return !w.places.empty() && !w.one_host; }

std::vector<std::string> names_of_those_on_hosts() {
    std::vector<std::string> names;
    for (workload const& w : workloads())
        if (may_be_on_hosts(w)) names.emplace_back(w.name);
    return names;
}

void check_runs_on(bench_hosts const& hosts, workload const& w) {
    if (!may_be_on_hosts(w))
        throw failure(k_exit_usage, "bench: '" + std::string(w.name) + "' is not over places" +
                                        (w.one_host ? " that may be on several hosts" : "") +
                                        ", and --hosts is for " +
                                        joined(names_of_those_on_hosts(), ", "));
    if (!places_on(hosts, w).empty()) return;
    std::vector<std::string> counts;
    for (int const places : places_instead(w, hosts.places))
        counts.push_back(std::to_string(places));
    throw failure(k_exit_usage, "bench: '" + std::string(w.name) + "' is measured with " +
                                    joined(counts, " or ") +
                                    " places, which do not fit the hosts: each has one at least, "
                                    "or as many as its number says");
}

// A program of one MPI has its name, and more may follow.
bool is_program_of(contestant const& c, std::string const& mpi) {
    return c.library.starts_with(mpi);
}

} // namespace

std::vector<int> places_on(bench_hosts const& hosts, workload const& w) {
    std::vector<int> fitting = places_instead(w, hosts.places);
    std::erase_if(fitting, [&hosts](int places) {
        return !hold_places(hosts.list, static_cast<unsigned>(places));
    });
    return fitting;
}

std::vector<workload const*> workloads_on(bench_hosts const& hosts,
                                          std::vector<std::string> const& names) {
    std::vector<workload const*> chosen = workloads_named(names);
    if (names.empty())
        std::erase_if(chosen, [&hosts](workload const* w) {
            return !may_be_on_hosts(*w) || places_on(hosts, *w).empty();
        });
    for (workload const* const w : chosen) check_runs_on(hosts, *w);
    if (chosen.empty())
        throw failure(
            k_exit_usage,
            "bench: no benchmark is measured with a number of places that fits the hosts");
    return chosen;
}

std::vector<contestant> over_each_mpi(std::vector<contestant> const& found,
                                      bench_hosts const& hosts) {
    std::vector<contestant> all;
    for (std::string const& mpi : usable_mpis(hosts.mpi))
        for (contestant const& c : found) {
            if (!is_ours(c.library) && !is_program_of(c, mpi)) continue;
            all.push_back(c);
            all.back().mpi = mpi;
        }
    return all;
}

arguments start_on_hosts(contestant const& c, int places, bench_hosts const& hosts) {
    std::string const count = std::to_string(places);
    arguments words = is_ours(c.library)
                          ? arguments{"/proc/self/exe", "run", "--hosts", hosts.list, "-n", count,
                                      "--mpi",          c.mpi, "--tags",  "none",     "--"}
                          : launcher_on_hosts(c.mpi, hosts.list, static_cast<unsigned>(places));
    words.insert(words.end(), c.command.begin(), c.command.end());
    words.insert(words.end(), {"--places", count});
    return words;
}

} // namespace tulle::tool
