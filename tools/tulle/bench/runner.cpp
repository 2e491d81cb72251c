// SPDX-License-Identifier: Apache-2.0
#include "bench/runner.hpp"

#include "bench/foreign.hpp"
#include "bench/noise.hpp"
#include "bench/overhead.hpp"
#include "bench/splash.hpp"
#include "command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include <unistd.h>

namespace tulle::tool {

namespace {

using namespace std::chrono_literals;

// How much a program is given.
struct run_size {
    int workers; // of each place
    int places;
    bool over_places; // it is told how many, and started as such

    [[nodiscard]] std::string text(contestant const& c) const {
        return count_text(workers, places, c.mpi);
    }
};

class progress {
public:
    explicit progress(std::size_t total) : m_total(total), m_live(isatty(STDERR_FILENO) == 1) {}

    void step(contestant const& c, run_size const& s) {
        ++m_done;
        if (!m_live) return;
        std::fprintf(stderr, "\r\033[K[%zu/%zu] %s: %s, %s", m_done, m_total, c.bench.c_str(),
                     c.library.c_str(), s.text(c).c_str());
    }

    void skip(std::size_t steps) { m_done += steps; }

    void finish(std::string_view bench) {
        if (m_live)
            std::fputs("\r\033[K", stderr);
        else
            std::fprintf(stderr, "bench: %.*s done (%zu of %zu)\n", static_cast<int>(bench.size()),
                         bench.data(), m_done, m_total);
    }

private:
    std::size_t m_total;
    std::size_t m_done = 0;
    bool m_live;
};

class bench_session {
public:
    explicit bench_session(bench_settings const& settings)
        : m_settings(settings), m_others(settings.processor_times) {}

    bench_result run(bench_report const& report) {
        std::vector<workload const*> chosen = choose();
        auto const from_sources =
            std::stable_partition(chosen.begin(), chosen.end(),
                                  [](workload const* w) { return !is_from_sources(w->name); });
        std::vector<workload const*> const others(from_sources, chosen.end());
        chosen.erase(from_sources, chosen.end());
        if (!chosen.empty()) measure_all(chosen, report);
        for (workload const* const w : others) measure_from_sources(*w, report);
        // What runs on several hosts is not all run by this program.
        double const load = m_settings.hosts ? 0 : m_others.processors();
        if (std::string const noise = noise_text(m_result.figures, load); !noise.empty())
            note(noise);
        return std::move(m_result);
    }

private:
    void measure_all(std::vector<workload const*> const& chosen, bench_report const& report) {
        gather(chosen);
        progress meter(count_steps(chosen));
        for (workload const* const w : chosen) measure(*w, meter, report);
    }

    // Its programs are nobody's who builds Tulle.
    void measure_from_sources(workload const& w, bench_report const& report) {
        if (m_settings.sources.empty())
            return note(std::string(w.name) + " is left out: it " + needed_sources());
        bench_result const found = measure_splash(m_settings, w, report);
        m_result.figures.insert(m_result.figures.end(), found.figures.begin(), found.figures.end());
        m_result.notes.insert(m_result.notes.end(), found.notes.begin(), found.notes.end());
        m_result.ok = m_result.ok && found.ok;
    }

    [[nodiscard]] std::vector<workload const*> choose() {
        if (m_settings.hosts) return workloads_on(*m_settings.hosts, m_settings.names);
        std::vector<workload const*> const chosen = workloads_named(m_settings.names);
        auto const is_over_places = [](workload const* w) { return !w->places.empty(); };
        m_are_of_both_kinds = std::any_of(chosen.begin(), chosen.end(), is_over_places) &&
                              !std::all_of(chosen.begin(), chosen.end(), is_over_places);
        // It refuses what cannot be.
        for (workload const* const w : chosen) static_cast<void>(places_of(*w));
        return chosen;
    }

    [[nodiscard]] std::vector<int> places_of(workload const& w) const {
        if (m_settings.hosts) return places_on(*m_settings.hosts, w);
        bool const is_for_others = w.places.empty() && m_are_of_both_kinds;
        return is_of_a_set(w) || is_for_others ? possible_places(w, m_settings.places)
                                               : places_instead(w, m_settings.places);
    }

    // Where some are over places and some are not, numbers of places are for the first and numbers
    // of workers for the others.
    [[nodiscard]] std::vector<int> const& workers_of(workload const& w) const {
        bool const is_for_others =
            !w.places.empty() &&
            (is_of_a_set(w) || (m_are_of_both_kinds && !m_settings.places.empty()));
        return m_settings.workers.empty() || is_for_others ? w.workers : m_settings.workers;
    }

    // It is measured because a set has it, and is not named itself.
    [[nodiscard]] bool is_of_a_set(workload const& w) const {
        return !m_settings.names.empty() &&
               std::find(m_settings.names.begin(), m_settings.names.end(), w.name) ==
                   m_settings.names.end();
    }

    // A quick run asks each program once for three runs inside it; else the programs take turns
    // with one run each.
    [[nodiscard]] int rounds() const { return m_settings.quick ? 1 : m_settings.runs; }

    [[nodiscard]] std::vector<run_size> scales_of(workload const& w) const {
        std::vector<run_size> all;
        for (int const workers : workers_of(w)) {
            for (int const places : places_of(w)) all.push_back({workers, places, true});
            if (w.places.empty()) all.push_back({workers, 1, false});
        }
        return all;
    }

    void gather(std::vector<workload const*> const& chosen) {
        bench_programs const found = ask_programs(m_settings.folder, m_settings.peers);
        for (std::string const& sentence : found.absent) note(sentence);
        m_result.ok = !found.is_ours_absent;
        for (contestant const& c : m_settings.hosts
                                       ? over_each_mpi(found.contestants, *m_settings.hosts)
                                       : found.contestants)
            admit(c);
        if (m_contestants.empty())
            throw failure(k_exit_failed,
                          "bench: there are no benchmark programs in " +
                              m_settings.folder.string() +
                              "; build with -DTULLE_BUILD_BENCH=ON, or name a folder with --dir");
        if (m_settings.peers && !m_settings.hosts) gather_foreign(chosen); // none is over places
        for (workload const* const w : chosen)
            if (m_contestants[std::string(w->name)].empty())
                note(std::string(w->name) + " is left out: no program for it");
    }

    void gather_foreign(std::vector<workload const*> const& chosen) {
        std::vector<std::string_view> wanted;
        for (workload const* const w : chosen) wanted.push_back(w->name);
        foreign_peers const foreign =
            find_foreign_peers(m_settings.folder, wanted, !m_settings.quick);
        for (std::string const& sentence : foreign.absent) note(sentence);
        for (contestant const& c : foreign.contestants) admit(c);
    }

    void admit(contestant const& c) {
        if (m_settings.peers || !is_peer(c.library)) m_contestants[c.bench].push_back(c);
    }

    void note(std::string const& sentence) {
        std::fprintf(stderr, "bench: %s\n", sentence.c_str());
        m_result.notes.push_back(sentence);
    }

    [[nodiscard]] std::size_t count_steps(std::vector<workload const*> const& chosen) {
        std::size_t steps = 0;
        for (workload const* const w : chosen)
            steps += m_contestants[std::string(w->name)].size() * scales_of(*w).size();
        return steps * static_cast<std::size_t>(rounds());
    }

    void measure(workload const& w, progress& meter, bench_report const& report) {
        auto const& contestants = m_contestants[std::string(w.name)];
        if (contestants.empty()) return;
        std::vector<figure> figures;
        m_failed.clear();
        for (int round = 0; round < rounds(); ++round)
            for (run_size const& s : scales_of(w))
                for (contestant const& c : contestants) {
                    meter.step(c, s);
                    run_one(c, s, figures);
                }
        meter.finish(w.name);
        for (figure const& f : overheads_of_checks(figures)) figures.push_back(f);
        report(w, figures);
        m_result.figures.insert(m_result.figures.end(), figures.begin(), figures.end());
    }

    // The time limit of one program. A user who chooses a size knows how long it may take.
    [[nodiscard]] std::chrono::seconds time_limit() const {
        if (m_settings.size != 0) return 3600s;
        return m_settings.quick ? 40s : 180s;
    }

    [[nodiscard]] arguments start(contestant const& c, run_size const& s) const {
        if (m_settings.hosts) return start_on_hosts(c, s.places, *m_settings.hosts);
        return s.over_places ? start_with_places(c, s.places) : c.command;
    }

    // One process. A program that has failed once is not asked again.
    void run_one(contestant const& c, run_size const& s, std::vector<figure>& figures) {
        std::tuple const key{c.library, c.mpi, s.workers, s.places};
        if (m_failed.contains(key)) return;
        arguments command = start(c, s);
        command.insert(command.end(), {"--workers", std::to_string(s.workers), "--runs",
                                       m_settings.quick ? "3" : "1"});
        if (m_settings.quick) command.emplace_back("--quick");
        if (m_settings.size != 0)
            command.insert(command.end(), {"--n", std::to_string(m_settings.size)});
        limits limit{time_limit()};
        limit.input_ends = !m_settings.hosts; // MPICH's launcher may fail when it does: hosts.cpp
        outcome const done = capture(command, limit);
        std::vector<figure> printed = parse_figures(done.output);
        for (figure& f : printed) {
            f.mpi = c.mpi;
            add(f, figures);
        }
        if (done.ok() && !printed.empty()) return;
        m_failed.insert(key);
        if (printed.empty()) figures.push_back(failed_figure(c, s));
        m_result.ok = false;
        note(c.bench + ": " + c.library + " with " + s.text(c) +
             " failed: " + (done.ok() ? "it printed no figure" : done.reason()));
    }

    static figure failed_figure(contestant const& c, run_size const& s) {
        figure f;
        f.bench = c.bench;
        f.library = c.library;
        f.workers = s.workers;
        f.places = s.places;
        f.mpi = c.mpi;
        f.ok = false;
        return f;
    }

    void add(figure const& f, std::vector<figure>& figures) {
        m_result.ok = m_result.ok && f.ok;
        auto const found = std::find_if(figures.begin(), figures.end(), [&f](figure const& other) {
            return other.same_quantity(f);
        });
        if (found == figures.end())
            figures.push_back(f);
        else
            found->merge(f);
    }

    bench_settings const& m_settings;
    load_of_others m_others;
    bool m_are_of_both_kinds = false; // what is measured: over places, and not
    std::map<std::string, std::vector<contestant>> m_contestants;
    std::set<std::tuple<std::string, std::string, int, int>> m_failed;
    bench_result m_result;
};

} // namespace

bench_result run_benches(bench_settings const& settings, bench_report const& report) {
    return bench_session(settings).run(report);
}

} // namespace tulle::tool
