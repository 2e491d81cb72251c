// SPDX-License-Identifier: Apache-2.0
#include "membership/host_silence.hpp"

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "membership/place_report.hpp"
#include "net/host_watch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <sys/random.h>
#include <unistd.h>

namespace tulle::membership {

namespace {

using net::host_watch;
using net::rank;

constexpr std::uint32_t k_launcher_id = UINT32_MAX;
constexpr std::uint32_t k_early_ids = 0x80000000U; // of places that do not know their number yet
constexpr std::uint64_t k_second_ns = 1'000'000'000;

constexpr std::chrono::milliseconds k_pause_after_words{200};

std::uint64_t s_limit_ns = 0;
std::uint64_t s_start_limit_ns = 0;

// The watch of the first place of a host. It is not destroyed with the process: a forked child has
// no such thread.
std::unique_ptr<host_watch>& own_watch() {
    constinit static base::made_once<std::unique_ptr<host_watch>> s_own;
    return s_own.get();
}

std::uint64_t random_number() noexcept {
    std::uint64_t made = 0;
    if (getrandom(&made, sizeof made, 0) != sizeof made)
        made = static_cast<std::uint64_t>(getpid());
    return made;
}

std::optional<net::host_contact> launcher() {
    char const* const text =
        ::secure_getenv(net::k_launcher_variable); // NOLINT(concurrency-mt-unsafe)
    return text != nullptr ? net::parse_contact(text) : std::nullopt;
}

bool are_one_host(net::host_contact const& a, net::host_contact const& b) {
    return std::strcmp(a.name.data(), b.name.data()) == 0;
}

// What the thread of the watch does with what it learns.
class listener {
public:
    listener(rank here, std::vector<host_card> cards, std::optional<net::host_contact> launcher)
        : m_here(here), m_cards(std::move(cards)), m_launcher(std::move(launcher)) {}

    [[nodiscard]] std::vector<host_watch::member> others() const {
        std::vector<host_watch::member> found;
        rank const own = m_cards[m_here].first;
        for (rank r = 0; r < m_cards.size(); ++r)
            if (m_cards[r].first == r && r != own) found.push_back({r, m_cards[r].contact});
        return found;
    }
    // No place goes on without a host.
    [[noreturn]] void tell_lost(host_watch::member const& host, host_watch::loss how) const {
        base::warn("%s %s %llu s (TULLE_HOST_TIMEOUT); %s, and the places of host %s end",
                   name_of(host).c_str(),
                   how == host_watch::loss::unreachable
                       ? "has not been heard for"
                       : "is there, but what should be heard there has ended, for",
                   seconds(), places_of(host).c_str(), m_cards[m_here].contact.name.data());
        if (m_launcher && are_one_host(*m_launcher, host.contact)) report(place_news::host_is_lost);
        // A launcher that hears of a death first may drop what was said before it, and none tells
        // when it has passed the words on.
        std::this_thread::sleep_for(k_pause_after_words);
        for (rank r = 0; r < m_cards.size(); ++r)
            if (r != m_here && m_cards[r].first == m_cards[m_here].first)
                kill(m_cards[r].process, SIGKILL);
        _exit(EXIT_FAILURE);
    }
    void tell_stopped(host_watch::member const& host) const {
        base::warn("%s is there, but place %u has not run for %llu s: is it stopped? Others wait "
                   "for it",
                   name_of(host).c_str(), host.id, seconds());
    }
    void tell_unheard(host_watch::member const& host) const {
        if (m_here == 0)
            base::warn("nothing is heard of %s by UDP, so nobody will notice if it dies: firewalls "
                       "may be in between; TULLE_HOST_TIMEOUT=off "
                       "if this is known",
                       name_of(host).c_str());
    }

private:
    [[nodiscard]] unsigned long long seconds() const noexcept {
        return m_cards[0].limit_ns / k_second_ns;
    }
    [[nodiscard]] static std::string name_of(host_watch::member const& host) {
        return std::string("host ") + host.contact.name.data();
    }
    // The places of a host that is lost count as dead.
    [[nodiscard]] std::string places_of(host_watch::member const& host) const {
        std::string text;
        int count = 0;
        for (rank r = 0; r < m_cards.size(); ++r)
            if (m_cards[r].first == host.id)
                text += (count++ == 0 ? " " : ", ") + std::to_string(r);
        return (count == 1 ? "place" : "places") + text + (count == 1 ? " counts" : " count") +
               " as dead";
    }

    rank m_here;
    std::vector<host_card> m_cards;
    std::optional<net::host_contact> m_launcher;
};

} // namespace

void set_host_limits(std::uint64_t silence, std::uint64_t start) noexcept {
    s_limit_ns = silence * k_second_ns;
    s_start_limit_ns = start * k_second_ns;
}

host_card open_host_watch(rank here, rank first_of_host) {
    host_card own;
    own.first = first_of_host;
    own.process = getpid();
    own.limit_ns = s_limit_ns;
    if (here != first_of_host) return own;
    own_watch() = std::make_unique<host_watch>(random_number());
    own.contact = own_watch()->contact();
    return own;
}

void begin_host_watch(rank here, std::vector<host_card> const& cards) {
    if (own_watch() == nullptr) return;
    auto const where = launcher();
    auto const told = std::make_shared<listener>(here, cards, where);
    host_watch::settings chosen;
    chosen.own_id = here;
    chosen.limit_ns = cards[0].limit_ns;
    chosen.others = told->others();
    chosen.tell_lost = [told](host_watch::member const& host, host_watch::loss how) {
        told->tell_lost(host, how);
    };
    chosen.tell_stopped = [told](host_watch::member const& host) { told->tell_stopped(host); };
    chosen.tell_unheard = [told](host_watch::member const& host) { told->tell_unheard(host); };
    own_watch()->set_job(where ? where->job : cards[0].contact.job);
    bool const is_wanted = chosen.limit_ns != 0 && !chosen.others.empty();
    if (!is_wanted || !own_watch()->start(std::move(chosen))) own_watch() = nullptr;
}

start_lease::start_lease() {
    auto const where = launcher();
    if (!where || s_limit_ns == 0 || s_start_limit_ns == 0) return;
    auto watch = std::make_unique<host_watch>(where->job);
    if (are_one_host(*where, watch->contact())) return;
    host_watch::settings chosen;
    chosen.own_id = static_cast<std::uint32_t>(random_number()) | k_early_ids;
    chosen.limit_ns = s_limit_ns;
    chosen.first_limit_ns = s_start_limit_ns;
    chosen.others = {{k_launcher_id, *where}};
    // `tulle run` sees to what is silent later.
    chosen.tell_lost = [](host_watch::member const&, host_watch::loss) {};
    chosen.tell_stopped = [](host_watch::member const&) {};
    chosen.tell_unheard = [own = std::string(watch->contact().name.data())](
                              host_watch::member const& host) {
        base::warn("the launcher's host %s has not been heard for %llu s (TULLE_START_TIMEOUT), "
                   "before all places were there; a place of host %s ends",
                   host.contact.name.data(),
                   static_cast<unsigned long long>(s_start_limit_ns / k_second_ns), own.c_str());
        report(place_news::host_is_lost);
        _exit(EXIT_FAILURE);
    };
    if (watch->start(std::move(chosen))) m_watch = std::move(watch);
}

start_lease::~start_lease() = default;

void end_host_watch() noexcept { own_watch() = nullptr; }

} // namespace tulle::membership
