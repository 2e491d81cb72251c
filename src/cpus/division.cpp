// SPDX-License-Identifier: Apache-2.0
#include "cpus/division.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace tulle::cpus {

namespace {

constexpr int k_nobody = -1;

// Programs and CPUs are named by their indices in lists.
class division {
public:
    division(std::span<program const> programs, os::locality (*where)(int cpu));
    [[nodiscard]] std::vector<std::vector<int>> divide();

private:
    struct claim { // on a CPU, by the program that is asked to give it up
        int program;
        int cpu;
    };
    struct crowd { // how many of some CPUs are in each domain, and on each node
        std::vector<int> in_domain, on_node;
    };

    [[nodiscard]] std::size_t index_of(int cpu) const;
    [[nodiscard]] program const& of(int p) const { return m_programs[static_cast<std::size_t>(p)]; }
    [[nodiscard]] int count(int p) const { return m_counts[static_cast<std::size_t>(p)]; }
    [[nodiscard]] int& owner(int cpu) { return m_owners[static_cast<std::size_t>(cpu)]; }
    [[nodiscard]] bool may(int p, int cpu) const {
        return m_may[static_cast<std::size_t>(p)][static_cast<std::size_t>(cpu)];
    }
    [[nodiscard]] int programs() const { return static_cast<int>(m_programs.size()); }
    [[nodiscard]] int cpus() const { return static_cast<int>(m_cpus.size()); }

    void count_up_to(int (*limit)(program const& p));
    [[nodiscard]] int poorest(int (*limit)(program const& p)) const;
    [[nodiscard]] bool is_poorer(int a, int b) const;
    [[nodiscard]] bool grow(int p);
    [[nodiscard]] int keep(int p);
    void share(int p);
    [[nodiscard]] std::vector<std::vector<int>> result() const;
    [[nodiscard]] int nearest_free_cpu(int p) const;
    template <class Belongs> [[nodiscard]] crowd crowd_of(Belongs belongs) const;
    [[nodiscard]] std::vector<int> had(int p) const;
    [[nodiscard]] bool has(int p, int cpu) const;

    std::span<program const> m_programs;
    std::vector<int> m_cpus;    // all that somebody may use, ascending
    std::vector<int> m_domains; // of each CPU: those of one domain are near each other
    std::vector<int> m_nodes;
    std::vector<std::vector<bool>> m_may; // of each program, by CPU
    std::vector<int> m_owners;            // of each CPU
    std::vector<int> m_counts;            // of each program
    std::vector<bool> m_is_full;          // it can have no more, whoever moves
    // By program: the CPU that it shares with others, where it has none of its own.
    std::vector<int> m_guests;
};

// The number of the value among those that are different.
template <class T> int number_of(std::vector<T>& known, T value) {
    auto const found = std::find(known.begin(), known.end(), value);
    auto const number = static_cast<int>(found - known.begin());
    if (found == known.end()) known.push_back(value);
    return number;
}

division::division(std::span<program const> programs, os::locality (*where)(int cpu))
    : m_programs(programs) {
    for (program const& p : programs) m_cpus.insert(m_cpus.end(), p.may.begin(), p.may.end());
    std::sort(m_cpus.begin(), m_cpus.end());
    m_cpus.erase(std::unique(m_cpus.begin(), m_cpus.end()), m_cpus.end());
    std::vector<os::locality> domains;
    std::vector<int> nodes;
    for (int const cpu : m_cpus) {
        m_domains.push_back(number_of(domains, where(cpu)));
        m_nodes.push_back(number_of(nodes, where(cpu).node));
    }
    for (program const& p : programs) {
        auto& mask = m_may.emplace_back(m_cpus.size(), false);
        for (int const cpu : p.may) mask[index_of(cpu)] = true;
    }
    m_owners.assign(m_cpus.size(), k_nobody);
    m_counts.assign(programs.size(), 0);
    m_is_full.assign(programs.size(), false);
    m_guests.assign(programs.size(), k_nobody);
}

std::size_t division::index_of(int cpu) const {
    return static_cast<std::size_t>(std::lower_bound(m_cpus.begin(), m_cpus.end(), cpu) -
                                    m_cpus.begin());
}

// Those that it may still use.
std::vector<int> division::had(int p) const {
    std::vector<int> found;
    for (int const cpu : of(p).has) {
        std::size_t const index = index_of(cpu);
        if (index < m_cpus.size() && m_cpus[index] == cpu && may(p, static_cast<int>(index)))
            found.push_back(static_cast<int>(index));
    }
    return found;
}

bool division::has(int p, int cpu) const {
    return std::find(of(p).has.begin(), of(p).has.end(), m_cpus[static_cast<std::size_t>(cpu)]) !=
           of(p).has.end();
}

// --- how many each gets --------------------------------------------------------------------------

// Of two alike it is the one that has more than that already, so that nothing moves; but not for
// the first CPU, which a program may only share.
bool division::is_poorer(int a, int b) const {
    std::int64_t const left = (2 * std::int64_t{count(a)} + 1) * of(b).weight;
    std::int64_t const right = (2 * std::int64_t{count(b)} + 1) * of(a).weight;
    auto const has_next = [this](int p) {
        return count(p) > 0 && of(p).has.size() > static_cast<std::size_t>(count(p));
    };
    return left != right ? left < right : has_next(a) && !has_next(b);
}

int division::poorest(int (*limit)(program const& p)) const {
    int found = k_nobody;
    for (int p = 0; p < programs(); ++p) {
        if (m_is_full[static_cast<std::size_t>(p)] || count(p) >= limit(of(p))) continue;
        if (found == k_nobody || is_poorer(p, found)) found = p;
    }
    return found;
}

// Once a program cannot grow it never can: CPUs that are taken stay so, whichever program has them.
void division::count_up_to(int (*limit)(program const& p)) {
    for (int p = poorest(limit); p != k_nobody; p = poorest(limit)) {
        bool const has_grown = grow(p);
        m_counts[static_cast<std::size_t>(p)] += has_grown ? 1 : 0;
        m_is_full[static_cast<std::size_t>(p)] = !has_grown;
    }
}

// A breadth-first search: programs that would give one up if they got another, until one can take a
// free CPU.
bool division::grow(int p) {
    std::vector<claim> asked{{p, k_nobody}}; // in the order in which they were reached
    std::vector<std::size_t> by{0};          // the one that asks each
    std::vector<bool> is_asked(m_programs.size(), false);
    is_asked[static_cast<std::size_t>(p)] = true;
    for (std::size_t k = 0; k < asked.size(); ++k) {
        if (int free = nearest_free_cpu(asked[k].program); free != k_nobody) {
            for (; asked[k].cpu != k_nobody; k = by[k]) {
                owner(free) = asked[k].program;
                free = asked[k].cpu;
            }
            owner(free) = p;
            return true;
        }
        for (int cpu = 0; cpu < cpus(); ++cpu) {
            int const holder = owner(cpu);
            if (holder == k_nobody || is_asked[static_cast<std::size_t>(holder)] ||
                !may(asked[k].program, cpu))
                continue;
            is_asked[static_cast<std::size_t>(holder)] = true;
            asked.push_back({holder, cpu});
            by.push_back(k);
        }
    }
    return false;
}

// --- which ones ----------------------------------------------------------------------------------

template <class Belongs> division::crowd division::crowd_of(Belongs belongs) const {
    crowd found{std::vector<int>(m_cpus.size(), 0), std::vector<int>(m_cpus.size(), 0)};
    for (int cpu = 0; cpu < cpus(); ++cpu) {
        if (!belongs(cpu)) continue;
        auto const index = static_cast<std::size_t>(cpu);
        ++found.in_domain[static_cast<std::size_t>(m_domains[index])];
        ++found.on_node[static_cast<std::size_t>(m_nodes[index])];
    }
    return found;
}

// How many it needs besides.
int division::keep(int p) {
    std::vector<int> candidates = had(p);
    std::erase_if(candidates, [this](int cpu) { return owner(cpu) != k_nobody; });
    crowd const all = crowd_of([&](int cpu) {
        return std::find(candidates.begin(), candidates.end(), cpu) != candidates.end();
    });
    auto const rank = [&](int cpu) {
        auto const index = static_cast<std::size_t>(cpu);
        return std::tuple(-all.in_domain[static_cast<std::size_t>(m_domains[index])],
                          -all.on_node[static_cast<std::size_t>(m_nodes[index])], cpu);
    };
    std::sort(candidates.begin(), candidates.end(),
              [&](int a, int b) { return rank(a) < rank(b); });
    if (candidates.size() > static_cast<std::size_t>(count(p)))
        candidates.resize(static_cast<std::size_t>(count(p)));
    for (int const cpu : candidates) owner(cpu) = p;
    return count(p) - static_cast<int>(candidates.size());
}

// Near those that it has; else where the most are free, for those that follow.
int division::nearest_free_cpu(int p) const {
    auto const is_free = [&](int cpu) {
        return m_owners[static_cast<std::size_t>(cpu)] == k_nobody && may(p, cpu);
    };
    crowd const own =
        crowd_of([&](int cpu) { return m_owners[static_cast<std::size_t>(cpu)] == p; });
    crowd const free = crowd_of(is_free);
    auto const rank = [&](int cpu) {
        auto const domain = static_cast<std::size_t>(m_domains[static_cast<std::size_t>(cpu)]);
        auto const node = static_cast<std::size_t>(m_nodes[static_cast<std::size_t>(cpu)]);
        return std::tuple(own.in_domain[domain], own.on_node[node], free.in_domain[domain]);
    };
    int found = k_nobody;
    for (int cpu = 0; cpu < cpus(); ++cpu) {
        if (is_free(cpu) && (found == k_nobody || rank(cpu) > rank(found))) found = cpu;
    }
    return found;
}

// Called after all others have theirs.
void division::share(int p) {
    std::vector<std::int64_t> load(m_cpus.size(), 0);
    for (int cpu = 0; cpu < cpus(); ++cpu)
        if (owner(cpu) != k_nobody) load[static_cast<std::size_t>(cpu)] += of(owner(cpu)).weight;
    for (int other = 0; other < programs(); ++other) {
        int const cpu = m_guests[static_cast<std::size_t>(other)];
        if (cpu != k_nobody) load[static_cast<std::size_t>(cpu)] += of(other).weight;
    }
    auto const rank = [&](int cpu) {
        return std::tuple(load[static_cast<std::size_t>(cpu)], !has(p, cpu));
    };
    int& chosen = m_guests[static_cast<std::size_t>(p)];
    for (int cpu = 0; cpu < cpus(); ++cpu) {
        if (may(p, cpu) && (chosen == k_nobody || rank(cpu) < rank(chosen))) chosen = cpu;
    }
}

std::vector<std::vector<int>> division::result() const {
    std::vector<std::vector<int>> cpus_of(m_programs.size());
    for (std::size_t index = 0; index < m_cpus.size(); ++index)
        if (m_owners[index] != k_nobody)
            cpus_of[static_cast<std::size_t>(m_owners[index])].push_back(m_cpus[index]);
    for (std::size_t p = 0; p < cpus_of.size(); ++p)
        if (m_guests[p] != k_nobody)
            cpus_of[p].push_back(m_cpus[static_cast<std::size_t>(m_guests[p])]);
    return cpus_of;
}

std::vector<std::vector<int>> division::divide() {
    count_up_to([](program const&) { return 1; });
    count_up_to([](program const& p) { return p.least; });
    count_up_to([](program const& p) { return p.most; });
    m_owners.assign(m_cpus.size(), k_nobody);
    std::vector<int> missing;
    missing.reserve(m_programs.size());
    for (int p = 0; p < programs(); ++p) missing.push_back(keep(p));
    for (int p = 0; p < programs(); ++p)
        // It can: so many were counted.
        for (int& n = missing[static_cast<std::size_t>(p)]; n > 0; --n) static_cast<void>(grow(p));
    for (int p = 0; p < programs(); ++p)
        if (count(p) == 0) share(p);
    return result();
}

} // namespace

std::vector<std::vector<int>> divide(std::span<program const> programs,
                                     os::locality (*where)(int cpu)) {
    return division(programs, where).divide();
}

} // namespace tulle::cpus
