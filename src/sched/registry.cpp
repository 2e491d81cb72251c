// SPDX-License-Identifier: Apache-2.0
#include "sched/registry.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tulle::sched {

void registry::open(os::topology const& machine, plan const& chosen) {
    m_plan = chosen;
    auto const most = static_cast<std::size_t>(chosen.most_workers);
    auto const& groups = machine.groups;
    std::size_t const count = std::min(groups.size(), static_cast<std::size_t>(chosen.workers));
    for (std::size_t k = 0; k < groups.size(); ++k) {
        std::size_t const target = k * count / groups.size();
        if (target == m_shepherds.size()) {
            auto& s = m_shepherds.emplace_back(
                std::make_unique<shepherd>(static_cast<int>(target), std::vector<int>{}));
            s->workers.reserve(most);
        }
        auto& cpus = m_shepherds[target]->cpus;
        cpus.insert(cpus.end(), groups[k].cpus.begin(), groups[k].cpus.end());
    }
    for (auto const& s : m_shepherds) s->first_cpu = s->cpus.empty() ? -1 : s->cpus.front();
    for (auto const& s : m_shepherds) s->domain = s->cpus;
    m_workers.reserve(most);
    m_remotes.reserve(most);
}

void registry::clear() noexcept {
    m_remotes.clear();
    m_workers.clear();
    m_shepherds.clear();
}

std::unique_ptr<registry> registry::leave_behind() noexcept {
    std::unique_ptr<registry> kept(new (std::nothrow) registry);
    if (kept == nullptr) {
        for (auto& w : m_workers) static_cast<void>(w.release());
        for (auto& s : m_shepherds) static_cast<void>(s.release());
    } else {
        std::swap(kept->m_shepherds, m_shepherds);
        kept->m_workers.take(m_workers);
        kept->m_remotes.take(m_remotes);
    }
    clear();
    return kept;
}

// Workers go to the shepherds in turn, each weighed by its processors unless their number was asked
// for.
shepherd& registry::roomiest() const noexcept {
    if (m_plan.deals_evenly) return *m_shepherds[m_workers.size() % m_shepherds.size()];
    auto const fill = [](auto const& s) {
        return static_cast<double>(s->workers.size()) /
               static_cast<double>(std::max<std::size_t>(s->cpus.size(), 1));
    };
    return **std::min_element(m_shepherds.begin(), m_shepherds.end(),
                              [&](auto const& a, auto const& b) { return fill(a) < fill(b); });
}

worker& registry::add(scheduler& owner, worker_kind kind, bool asymmetric, shepherd* home) {
    auto const index = static_cast<int>(m_workers.size());
    auto made = std::make_unique<worker>(owner, kind, index, asymmetric);
    worker& w = *made;
    w.home = home != nullptr ? home : &roomiest();
    w.local_number = 2 * static_cast<std::size_t>(index);
    w.random = base::rng(m_plan.seed + static_cast<std::uint64_t>(index) + 1);
    w.seen.assign(static_cast<std::size_t>(m_plan.most_workers), 0);
    m_workers.push_back(std::move(made));
    m_remotes.push_back(&w);
    w.home->workers.push_back(&w);
    return w;
}

void registry::assign(std::vector<int> const& allowed) {
    std::vector<int> unknown = allowed;
    for (auto const& s : m_shepherds) {
        s->cpus.clear();
        for (int const cpu : s->domain) {
            if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end())
                s->cpus.push_back(cpu);
            std::erase(unknown, cpu);
        }
    }
    for (int const cpu : unknown) {
        auto const by_cpus = [](auto const& a, auto const& b) {
            return a->cpus.size() < b->cpus.size();
        };
        (*std::min_element(m_shepherds.begin(), m_shepherds.end(), by_cpus))->cpus.push_back(cpu);
    }
    for (auto const& s : m_shepherds) {
        if (s->cpus.empty()) s->cpus = allowed;
    }
}

} // namespace tulle::sched
