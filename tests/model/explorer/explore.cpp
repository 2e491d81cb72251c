// SPDX-License-Identifier: Apache-2.0
#include "explore.hpp"

#include "arch/fiber_annotations.hpp"
#include "base/sanitize.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace tulle::model {

namespace {

// While a body runs: abort() in the code under test (an assertion) still prints the token.
class abort_report {
public:
    abort_report(std::string_view name, execution const& e)
        : m_name(name), m_execution(e), m_outer(t_reporting) {
        t_reporting = this;
        m_previous = std::signal(SIGABRT, &abort_report::print);
    }
    ~abort_report() {
        std::signal(SIGABRT, m_previous);
        t_reporting = m_outer;
    }
    abort_report(abort_report const&) = delete;
    abort_report& operator=(abort_report const&) = delete;

private:
    static void print(int) {
        std::fprintf(stderr, "aborted in a model test; replay with TULLE_MODEL_SEED=%s:%s\n",
                     t_reporting->m_name.c_str(), encode(t_reporting->m_execution.taken()).c_str());
        std::signal(SIGABRT, SIG_DFL);
    }
    static thread_local abort_report* t_reporting;

    std::string m_name;
    execution const& m_execution;
    abort_report* m_outer;
    void (*m_previous)(int) = SIG_DFL;
};
thread_local abort_report* abort_report::t_reporting = nullptr;

// A sanitizer makes each execution many times slower, and looks at what one does, not at which
// there are: a sample is enough for it. What must fail still gets all that it asks for.
std::size_t most_executions(options const& o) noexcept {
    if (!(base::k_thread_sanitizer || base::k_address_sanitizer) || o.expect_failure)
        return o.executions;
    std::size_t const sample = o.how == search::exhaustive ? 10000 : 2000;
    return std::min(o.executions, sample);
}

class explorer {
public:
    explorer(std::string_view name, options const& o, test_body const& body, site_book& sites)
        : m_name(name),
          m_options(o),
          m_body(body),
          m_sites(sites),
          m_limits(o.limit),
          m_executions(most_executions(o)) {
        if (o.how == search::exhaustive) m_limits.preemptions = o.preemptions;
        m_result.sampled = m_executions < o.executions;
    }

    [[nodiscard]] result run() {
        if (auto const wanted = requested()) {
            report(*wanted);
            m_result.executions = 1;
        } else {
            m_options.how == search::exhaustive ? run_all() : run_some();
        }
        if (m_result.failed && !m_options.expect_failure) std::cerr << m_result;
        return std::move(m_result);
    }

private:
    // The choices to replay, if the token of this test was given.
    [[nodiscard]] std::optional<choices> requested() const {
        char const* const variable = std::getenv("TULLE_MODEL_SEED");
        std::string const token =
            m_options.replay.empty() && variable != nullptr ? variable : m_options.replay;
        if (!token.starts_with(m_name + ":")) return std::nullopt;
        return decode(std::string_view(token).substr(m_name.size() + 1));
    }
    [[nodiscard]] bool attempt(execution& e, strategy& decide) {
        ++m_result.executions;
        return e.run(m_body, decide);
    }
    void run_all();
    void run_some();
    void report(choices const& taken);

    std::string m_name;
    options const& m_options;
    test_body const& m_body;
    site_book& m_sites;
    limits m_limits;
    std::size_t m_executions;
    result m_result;
};

void explorer::run_all() {
    execution e(m_limits, m_sites);
    abort_report const reporting(m_name, e);
    depth_first decide;
    while (m_result.executions < m_executions) {
        if (!attempt(e, decide)) return report(e.taken());
        m_result.complete = !decide.advance();
        if (m_result.complete) return;
    }
}

void explorer::run_some() {
    execution e(m_limits, m_sites);
    abort_report const reporting(m_name, e);
    std::size_t longest = 8;
    for (std::size_t i = 0; i < m_executions; ++i) {
        by_chance decide(m_options.seed + i, longest);
        if (!attempt(e, decide)) return report(e.taken());
        longest = std::max(longest, e.taken().size());
    }
}

// Runs the execution once more, for its trace.
void explorer::report(choices const& taken) {
    execution e(m_limits, m_sites);
    abort_report const reporting(m_name, e);
    e.start_trace();
    replayed decide(taken);
    m_result.failed = !e.run(m_body, decide);
    m_result.message = e.message();
    m_result.token = m_name + ":" + encode(e.taken());
    m_result.trace = e.trace();
    if (!m_result.failed && m_options.replay.empty() && m_result.executions > 0) {
        m_result.failed = true;
        m_result.message = "a failure that does not repeat: make the test body deterministic";
    }
}

} // namespace

std::ostream& operator<<(std::ostream& out, result const& r) {
    if (!r.failed)
        return out << "passed " << r.executions
                   << (r.complete ? " executions, which are all" : " executions");
    return out << "model test failed in execution " << r.executions << ": " << r.message << "\n"
               << r.trace << "replay with TULLE_MODEL_SEED=" << r.token << "\n";
}

result explore(std::string_view name, options const& o, test_body const& body) {
    site_book sites;
    return explorer(name, o, body, sites).run();
}

namespace {

// A body that fails by itself would fail with each order weakened, too.
void require_unweakened_passes(std::string_view name, options const& o, test_body const& body,
                               site_book& sites) {
    result const r = explorer(name, o, body, sites).run();
    if (!r.passed())
        throw std::logic_error("the body of weaken_each fails with no order weakened: " +
                               r.message);
}

std::size_t executions_of_last_found(std::vector<mutant> const& mutants) {
    std::size_t most = 0;
    for (mutant const& m : mutants) {
        if (m.outcome.failed) most = std::max(most, m.outcome.executions);
    }
    return most;
}

} // namespace

std::vector<mutant> weaken_each(std::string_view name, options const& o, test_body const& body) {
    options sample = o;
    sample.executions = std::min<std::size_t>(o.executions, 2000);
    sample.how = search::random;
    site_book passed;
    passed.collect();
    require_unweakened_passes(name, sample, body, passed);

    options quiet = o;
    quiet.expect_failure = true;
    std::vector<mutant> mutants;
    for (site const& s : passed.sites()) {
        if (o.weakens != nullptr && !o.weakens(s)) continue;
        for (mutation const& m : weakenings(s)) {
            site_book sites;
            sites.mutate(m);
            mutants.push_back({m, explorer(name, quiet, body, sites).run()});
        }
    }
    options as_far = o;
    as_far.executions = executions_of_last_found(mutants);
    if (as_far.executions > sample.executions || as_far.how != sample.how) {
        site_book sites;
        require_unweakened_passes(name, as_far, body, sites);
    }
    return mutants;
}

std::vector<mutant> found_by_any(std::vector<mutant> first, std::vector<mutant> const& second) {
    for (mutant const& m : second) {
        auto const is_same = [&m](mutant const& other) {
            return other.change.where == m.change.where &&
                   other.change.weakened == m.change.weakened;
        };
        auto const at = std::find_if(first.begin(), first.end(), is_same);
        if (at == first.end())
            first.push_back(m);
        else if (m.outcome.failed)
            *at = m;
    }
    return first;
}

std::string survivors(std::vector<mutant> const& mutants) {
    std::ostringstream out;
    for (mutant const& m : mutants) {
        if (!m.outcome.failed)
            out << describe(m.change.where) << " -> " << name_of(m.change.weakened) << "\n";
    }
    return out.str();
}

} // namespace tulle::model
