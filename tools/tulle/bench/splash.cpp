// SPDX-License-Identifier: Apache-2.0
#include "bench/splash.hpp"

#include "bench/overhead.hpp"
#include "bench/splash_build.hpp"
#include "bench/splash_result.hpp"
#include "command.hpp"
#include "places/hosts.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

namespace tulle::tool {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr char const* k_input = "tulle-input";
constexpr char const* k_errors = "tulle-errors";
// More turns of a lock without contention than there ever are.
constexpr char const* k_never = "TULLE_LOCK_THRESHOLD=2147483647";
constexpr char const* k_unit = "TULLE_COHERENT_UNIT";

// One way to run a program.
struct splash_run {
    std::string library;
    std::string variant; // how it was compiled
    int places;
    arguments environment{};
    std::string mpi{};
    std::string level{}; // of optimization, where that is a part of the name
};

std::string filled(std::string text, int places) {
    constexpr std::string_view gap = "{P}";
    for (std::size_t at = text.find(gap); at != std::string::npos; at = text.find(gap, at))
        text.replace(at, gap.size(), std::to_string(places));
    return text;
}

std::string last_line_of(fs::path const& file) {
    std::ifstream in(file);
    std::string last;
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && (last.empty() || line.find("tulle: ") != std::string::npos))
            last = line;
    return last;
}

class splash_session {
public:
    splash_session(bench_settings const& settings, workload const& w)
        : m_settings(settings),
          m_workload(w),
          m_shop(find_splash_suite(settings.sources), settings.folder / "splash") {}

    bench_result run(bench_report const& report) {
        splash_variants const variants =
            variants_of_splash(m_settings.folder / "splash" / "threads.c", is_about_checks());
        for (std::string const& sentence : variants.absent)
            note(std::string(m_workload.name) + " is " + sentence);
        std::vector<splash_run> const runs = choose(variants);
        for (splash_program const& program : splash_programs())
            if (is_wanted(program)) measure(program, variants, runs);
        if (m_result.figures.empty())
            throw failure(k_exit_failed, "bench: splash: nothing could be measured");
        for (figure const& f : overheads_of_checks(m_result.figures)) m_result.figures.push_back(f);
        report(m_workload, m_result.figures);
        return std::move(m_result);
    }

private:
    void note(std::string const& sentence) {
        std::fprintf(stderr, "bench: %s\n", sentence.c_str());
        m_result.notes.push_back(sentence);
    }

    void fail(std::string const& sentence) {
        m_result.ok = false;
        note(sentence);
    }

    // The small one where the sources have no data for the other one: some are too large for a
    // copy of a repository.
    [[nodiscard]] splash_size const& size_of(splash_program const& program) const {
        bool const is_small = m_settings.quick || (!m_shop.has_data(program, program.paper) &&
                                                   m_shop.has_data(program, program.quick));
        return is_small ? program.quick : program.paper;
    }

    [[nodiscard]] std::vector<int> places() const {
        if (is_about_checks()) return {};
        return m_settings.hosts ? places_on(*m_settings.hosts, m_workload)
                                : places_instead(m_workload, m_settings.places);
    }

    [[nodiscard]] bool is_about_checks() const { return m_workload.places.empty(); }

    // The first one of each number of processes has the result that others must have.
    [[nodiscard]] std::vector<splash_run> choose(splash_variants const& variants) const {
        std::vector<splash_run> all;
        if (is_about_checks()) add_checked(all);
        for (int const p : places()) {
            if (m_settings.hosts)
                add_on_hosts(all, p);
            else
                add_on_this_host(all, p);
        }
        std::erase_if(all, [&variants](splash_run const& r) { return !variants.has(r.variant); });
        return all;
    }

    static void add_on_this_host(std::vector<splash_run>& all, int p) {
        all.push_back({"pthread", "pthread", p});
        all.push_back({"tulle", "tulle", p});
        all.push_back({"tulle_private", "coherent", p, {"TULLE_COHERENT=private"}});
        all.push_back({"tulle_refreshed", "refreshed", p, {"TULLE_COHERENT=private"}});
        all.push_back({"tulle_directory", "directory", p, {"TULLE_COHERENT=private"}});
    }

    void add_on_hosts(std::vector<splash_run>& all, int p) const {
        for (std::string const& mpi : usable_mpis(m_settings.hosts->mpi)) {
            all.push_back({"pthread", "pthread", p, {}, mpi});
            all.push_back({"tulle_hosts", "coherent", p, {}, mpi});
            all.push_back({"tulle_hosts_plain", "coherent", p, {k_never}, mpi});
        }
    }

    static void add_checked(std::vector<splash_run>& all) {
        for (std::string const& level : splash_levels())
            for (std::string const& kind : splash_checks()) {
                arguments const environment =
                    kind == "directory" ? arguments{"TULLE_COHERENT=private"} : arguments{};
                std::string library = "checked_" + kind;
                std::replace(library.begin(), library.end(), '-', '_');
                all.push_back({library, kind + level, 1, environment, "", level});
            }
    }

    [[nodiscard]] bool is_wanted(splash_program const& program) {
        auto const& names = m_settings.programs;
        if (!names.empty() && std::find(names.begin(), names.end(), program.name) == names.end())
            return false;
        if (!m_shop.has(program)) {
            note("splash: " + program.name + " is left out: the sources have no " + program.folder);
            return false;
        }
        return has_data(program);
    }

    [[nodiscard]] bool has_data(splash_program const& program) {
        splash_size const& size = size_of(program);
        if (!m_shop.has_data(program, size)) {
            note("splash: " + program.name + " is left out: the sources have no " + program.folder +
                 '/' + size.data);
            return false;
        }
        if (!m_settings.quick && &size == &program.quick)
            note("splash: " + program.name + " has the size of --quick: the sources have no " +
                 program.folder + '/' + program.paper.data);
        return true;
    }

    void measure(splash_program const& program, splash_variants const& variants,
                 std::vector<splash_run> const& runs) {
        std::fprintf(stderr, "bench: splash: %s\n", program.name.c_str());
        m_shop.clear();
        m_shop.build(program, variants.all);
        tell_what_is_not_compiled(program, variants);
        tell_unit(program, runs);
        m_right.clear();
        m_failed.clear();
        for (int round = 0; round < rounds(); ++round)
            for (splash_run const& one : runs) run_one(program, one);
    }

    // Over hosts a program that locks for each step, as Barnes does, takes minutes.
    [[nodiscard]] int rounds() const {
        if (!m_settings.quick) return m_settings.runs;
        return m_settings.hosts ? 1 : 3;
    }

    void tell_what_is_not_compiled(splash_program const& program, splash_variants const& variants) {
        for (splash_variant const& variant : variants.all)
            if (!m_shop.executable_of(program, variant.name))
                fail("splash: " + program.name + " (" + variant.name +
                     ") was not compiled: " + m_shop.why_not(program, variant.name));
    }

    // Bytes of copies that are brought at once; 0: as the environment says, or the default. Who has
    // set the variable means it for all programs.
    [[nodiscard]] int unit_of(splash_program const& program) const {
        if (m_settings.unit != 0) return m_settings.unit;
        return std::getenv(k_unit) != nullptr ? 0 : program.unit;
    }

    // The directory's are lines.
    static bool has_units(splash_run const& how) {
        return how.variant == "coherent" || how.variant == "refreshed";
    }

    void tell_unit(splash_program const& program, std::vector<splash_run> const& runs) {
        int const unit = unit_of(program);
        if (unit == 0 || std::none_of(runs.begin(), runs.end(), has_units)) return;
        note("splash: " + program.name + ": copies in units of " + std::to_string(unit) + " bytes" +
             (m_settings.unit != 0 ? "" : ", which suit it (--unit)"));
    }

    [[nodiscard]] arguments start(splash_program const& program, splash_run const& how,
                                  fs::path const& executable) const {
        arguments words{"env"};
        words.insert(words.end(), how.environment.begin(), how.environment.end());
        if (int const unit = unit_of(program); unit != 0 && has_units(how))
            words.push_back(std::string(k_unit) + '=' + std::to_string(unit));
        if (how.library != "pthread") {
            std::string const count = std::to_string(how.places);
            std::string const self = fs::read_symlink("/proc/self/exe").string();
            words.insert(words.end(), {self, "run", "-n", count, "--tags", "none"});
            if (!how.mpi.empty())
                words.insert(words.end(), {"--hosts", m_settings.hosts->list, "--mpi", how.mpi});
            words.emplace_back("--");
        }
        words.push_back(executable.string());
        return words;
    }

    [[nodiscard]] outcome execute(splash_program const& program, splash_run const& how,
                                  fs::path const& executable) const {
        fs::path const folder = executable.parent_path();
        splash_size const& size = size_of(program);
        for (fs::path const& picture : splash_pictures(size, folder)) fs::remove(picture);
        std::ofstream(folder / k_input) << filled(size.input, how.places);
        arguments words{"sh", "-c",
                        std::string("exec \"$@\" ") + filled(size.words, how.places) + " < " +
                            k_input + " 2> " + k_errors,
                        "sh"};
        arguments const more = start(program, how, executable);
        words.insert(words.end(), more.begin(), more.end());
        return capture(words, {longest(), false, folder});
    }

    // Each miss of another host's memory takes a message and its answer.
    [[nodiscard]] std::chrono::seconds longest() const {
        if (!m_settings.quick) return 1800s;
        return m_settings.hosts ? 600s : 120s;
    }

    void run_one(splash_program const& program, splash_run const& how) {
        std::string const key = how.library + how.level + how.mpi + std::to_string(how.places);
        std::optional<fs::path> const executable = m_shop.executable_of(program, how.variant);
        if (!executable || m_failed.contains(key)) return;
        outcome const ended = execute(program, how, *executable);
        std::optional<double> const time = splash_time(ended.output);
        std::string const what = "splash: " + program.name + ": " + how.library + how.level +
                                 " with " + count_text(1, how.places, how.mpi);
        if (!ended.ok() || !time) {
            m_failed.insert(key);
            add(program, how, std::nullopt, false);
            fail(what + " failed: " + (ended.ok() ? "it printed no time" : ended.reason()) + "; " +
                 last_line_of(executable->parent_path() / k_errors));
            return;
        }
        std::string const wrong = compare(program, how, ended.output, executable->parent_path());
        if (!wrong.empty()) fail(what + " has a wrong result: " + wrong);
        add(program, how, time, wrong.empty());
    }

    // With the first result of so many processes.
    [[nodiscard]] std::string compare(splash_program const& program, splash_run const& how,
                                      std::string const& output, fs::path const& folder) {
        splash_result const found = splash_result_of(program, size_of(program), output, folder);
        auto const [right, is_first] = m_right.emplace(how.places, found);
        return splash_difference(program, right->second, found,
                                 m_settings.hosts ? line_order::any : line_order::same);
    }

    void add(splash_program const& program, splash_run const& how, std::optional<double> time,
             bool is_right) {
        figure f;
        f.bench = m_workload.name;
        f.library = how.library;
        f.places = how.places;
        f.n = size_of(program).n;
        f.unit = "ms, " + program.name + (how.level.empty() ? "" : ' ' + how.level);
        f.mpi = how.mpi;
        f.ok = is_right;
        if (time) {
            f.values = {*time};
            f.min = f.max = *time;
            f.runs = 1;
        }
        auto& all = m_result.figures;
        auto const found = std::find_if(
            all.begin(), all.end(), [&f](figure const& other) { return other.same_quantity(f); });
        if (found == all.end())
            all.push_back(f);
        else if (time)
            found->merge(f);
        else
            found->ok = false;
    }

    bench_settings const& m_settings;
    workload const& m_workload;
    splash_workshop m_shop;
    std::map<int, splash_result> m_right; // of each number of processes
    std::set<std::string> m_failed;
    bench_result m_result;
};

} // namespace

bool is_from_sources(std::string_view name) { return name.starts_with("splash"); }

std::string needed_sources() {
    return "needs --sources DIR, with the sources of SPLASH-2 or of SPLASH-3 "
           "(https://github.com/SakalisC/Splash-3), which are not ours to give";
}

bench_result measure_splash(bench_settings const& settings, workload const& w,
                            bench_report const& report) {
    return splash_session(settings, w).run(report);
}

} // namespace tulle::tool
