// SPDX-License-Identifier: Apache-2.0
// What a place does with its own work, and how it takes that of others. What others ask for:
// balance_service.cpp.
#include "balance/balance.hpp"

#include "base/error.hpp"
#include "base/rng.hpp"
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "messenger/exception_wire.hpp"
#include "messenger/image.hpp"
#include "sched/join_word.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/caught_exception.hpp>
#include <tulle/place.hpp>
#include <tulle/signal.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace tulle::balance {

using detail::finish_scope;
using messenger::code_of;
using messenger::endpoint_of_caller;
using messenger::message_kind;
using messenger::stand;
using messenger::standing;

namespace {

constexpr std::size_t k_private_shelf_bytes = std::size_t{4} << 20U;
constexpr std::uint32_t k_victims = 4;          // looked at in one round of a search
constexpr std::uint32_t k_refusals = 2;         // by victims at random, before a place rests
constexpr int k_activities_between_yields = 32; // while other threads of this place may be ready

// Of a process that is no place: what workers without work look at.
class lone_poller final : public base::idle_poller {
public:
    lone_poller() : m_work(nullptr) {}
    [[nodiscard]] balance& work() noexcept { return m_work; }

    bool poll() noexcept override { return false; }
    bool poll_between() noexcept override { return false; }
    [[nodiscard]] std::uint64_t expects_until() const noexcept override { return 0; }
    void let_others_run() noexcept override {} // it expects nothing
    void begin_watch() noexcept override {}
    void end_watch(bool /*has_work*/) noexcept override {}
    bool take_work(bool is_idle) noexcept override { return m_work.take(is_idle); }
    void alarm() noexcept override { m_work.alarm(); }
    [[nodiscard]] bool has_work() const noexcept override { return m_work.is_there(); }

private:
    balance m_work;
};

// Never destroyed: workers may look at it until the process ends.
lone_poller& alone() {
    static auto* const s_alone = new lone_poller;
    return *s_alone;
}

std::vector<rank> neighbours(rank here, rank count) {
    std::vector<rank> all;
    for (rank bit = 1; bit < count; bit *= 2) {
        if ((here ^ bit) < count) all.push_back(here ^ bit);
    }
    return all;
}

} // namespace

balance& work_of(endpoint const& e) noexcept {
    return *static_cast<balance*>(e.handler_of(message_kind::work));
}

balance& balance_of_caller() {
    endpoint const* const e = endpoint_of_caller();
    return e != nullptr ? work_of(*e) : alone().work();
}

balance::balance(endpoint* carrier)
    : m_carrier(carrier),
      m_transport(carrier != nullptr ? &carrier->transport() : nullptr),
      m_count(carrier != nullptr ? carrier->count() : 1) {
    if (carrier == nullptr) return;
    for (rank const end : neighbours(here(), m_count))
        m_lifelines.push_back(std::make_unique<lifeline>(end));
    m_waiting.reserve(m_lifelines.size());
    carrier->handle<&balance::serve>(message_kind::work, *this);
    carrier->set_idle_work(*this);
}

rank balance::here() const noexcept { return m_transport != nullptr ? m_transport->here() : 0; }

// Different numbers, in no order that matters.
std::uint32_t balance::draw() noexcept {
    constexpr auto k_step = static_cast<std::uint32_t>(base::k_golden_ratio >> 32U);
    // relaxed: only different numbers are wanted
    return (m_draws.fetch_add(1, std::memory_order_relaxed) * k_step) >> 8U;
}

// --- making work ---------------------------------------------------------------------------------

// From now on all places look for such work. They send nothing before.
void balance::begin() noexcept {
    if (m_carrier == nullptr) return install();
    // relaxed: a hint, which the exchange settles.
    if (m_is_used.load(std::memory_order_relaxed) ||
        m_is_used.exchange(true, std::memory_order_relaxed))
        return;
    static_cast<void>(os::membarrier_register_global());
    for (rank r = 0; r < m_count; ++r) {
        if (r != here()) tell(r, work_message::hello);
    }
}

void balance::install() noexcept {
    auto& s = sched::scheduler::instance();
    if (s.idle_poller() == nullptr) s.set_idle_poller(&alone());
}

// Under the lock.
shelf& balance::own_shelf() noexcept {
    if (m_has_shelf.load(std::memory_order_relaxed)) return m_shelf; // relaxed: under the lock
    if (m_transport != nullptr) m_shelf = shelf(m_transport->shelf(here()));
    if (!m_shelf.is_there()) {
        m_own = os::fixed_range::reserve(0, k_private_shelf_bytes);
        if (!m_own.is_valid() || !m_own.fill(0, m_own.size())) return m_shelf;
        m_shelf = shelf({m_own.low(), m_own.size()});
    }
    m_has_shelf.store(true, std::memory_order_release); // pairs with take, alarm, is_there
    return m_shelf;
}

// Whether the fence of whoever steals reaches this process.
bool balance::is_asymmetric() const noexcept {
    return sched::scheduler::instance().opens_asymmetric_deques() &&
           (m_own.is_valid() || os::membarrier_global_available());
}

// Its first publish() takes the cold path, by which it sees who sleeps or waits: they may not have
// seen this deque (alarm).
global_deque* balance::open() noexcept {
    begin();
    std::lock_guard const held(m_lock);
    shelf& own = own_shelf();
    if (!own.is_there()) return nullptr;
    global_deque* deque = m_free.pop();
    if (deque != nullptr)
        deque->reopen(is_asymmetric());
    else
        deque = own.add(this, is_asymmetric());
    if (deque != nullptr) deque->alarm();
    return deque;
}

void balance::close(global_deque& empty) noexcept {
    std::lock_guard const held(m_lock);
    m_free.push(empty);
}

// The alarm is off before anybody is looked for, as in sched/join.cpp: who sets it again sees the
// record.
void balance::published(global_deque& of) noexcept {
    if (!of.is_asymmetric()) global_owner(of).share_all();
    of.silence(); // E1 of park/sleep_steps.hpp
    park::notify(sched::scheduler::instance().idle());
    // relaxed: written before their heavy fence
    if (m_waiting_count.load(std::memory_order_relaxed) != 0) serve_lifelines();
}

void balance::add(std::unique_ptr<any_activity> what) noexcept {
    if (sched::scheduler::instance().is_deterministic()) return start(std::move(what));
    begin();
    bool is_waited_for = false;
    {
        std::lock_guard const held(m_lock);
        m_bag.add_youngest(std::move(what));
        count_activities();
        is_waited_for = !m_waiting.empty();
    }
    sched::scheduler::instance().notify_light();
    if (is_waited_for) serve_lifelines();
}

// Under the lock.
void balance::count_activities() noexcept {
    // relaxed: a hint; a sleeper reads it after its heavy fence
    m_activities.store(m_bag.size(), std::memory_order_relaxed);
    if (m_transport != nullptr) own_shelf().show_activities(m_bag.size());
}

// --- taking it -----------------------------------------------------------------------------------

bool balance::take(bool is_idle) noexcept {
    if (start_activities(is_idle)) return true;
    if (m_has_shelf.load(std::memory_order_acquire)) { // pairs with own_shelf
        if (auto const found = m_shelf.steal(draw()); found.here != nullptr) {
            start({here(), found.there, found.here, nullptr});
            return true;
        }
    }
    // relaxed: a hint
    return is_idle && m_count > 1 && m_is_used.load(std::memory_order_relaxed) && look_elsewhere();
}

// By a worker that goes to sleep, before its heavy fence: B1 of deque/split_deque.hpp.
void balance::alarm() noexcept {
    if (!m_has_shelf.load(std::memory_order_acquire)) return; // pairs with own_shelf
    for (std::uint32_t k = 0; k < m_shelf.used(); ++k) m_shelf.deque(k).alarm();
}

bool balance::is_there() const noexcept {
    // relaxed: a hint, or after a heavy fence.
    if (m_activities.load(std::memory_order_relaxed) != 0) return true;
    // Pairs with own_shelf.
    return m_has_shelf.load(std::memory_order_acquire) && m_shelf.looks_stealable();
}

bool balance::look_elsewhere() noexcept {
    for (std::uint32_t k = 0; k < std::min(m_count - 1, k_victims); ++k) {
        rank const victim = (here() + 1 + draw() % (m_count - 1)) % m_count;
        if (look_at(victim)) return true;
    }
    return false;
}

// What lies on its shelf, or else by asking: for activities, if it shows some; without a shelf,
// until too many have refused. Where deaths are survived nobody takes anything from another one's
// shelf: a thief may die with the deque locked, and its victim must know who has a record.
bool balance::look_at(rank victim) noexcept {
    if (m_carrier->is_dead(victim)) return false;
    shelf const theirs(m_transport->shelf(victim));
    if (!theirs.is_there() || survives_deaths()) {
        if (m_refusals.load(std::memory_order_relaxed) < k_refusals) ask(victim); // relaxed: a hint
        return false;
    }
    if (auto const found = theirs.steal(draw()); found.here != nullptr) {
        start({victim, found.there, found.here, nullptr});
        return true;
    }
    if (theirs.shows_activities()) ask(victim);
    return false;
}

// relaxed: the exchange settles it.
void balance::ask(rank victim) noexcept {
    // acquire: pairs with those that make it false, who have taken the question out of the list
    // that it was in
    if (m_has_asked.load(std::memory_order_relaxed) ||
        m_has_asked.exchange(true, std::memory_order_acquire))
        return;
    tell(victim, work_message::request, false, 0, &m_question);
}

// Lifelines that were told, and have not answered, need not be told again, unless all workers have
// had something to do meanwhile.
void balance::rest() noexcept {
    if (m_count == 1 || !m_is_used.load(std::memory_order_relaxed)) return; // relaxed: a hint
    set_hungry(true);
    for (auto const& l : m_lifelines) {
        // relaxed: it publishes nothing
        if (!l->is_told.exchange(true, std::memory_order_relaxed))
            tell(l->end, work_message::request, true);
    }
    m_refusals.store(0, std::memory_order_relaxed);
}

void balance::wake_up() noexcept {
    // relaxed: a hint
    if (!m_is_hungry.load(std::memory_order_relaxed) ||
        sched::scheduler::instance().idle().sleeping() != 0)
        return;
    set_hungry(false);
    // relaxed: as above
    for (auto const& l : m_lifelines) l->is_told.store(false, std::memory_order_relaxed);
}

void balance::set_hungry(bool is_hungry) noexcept {
    // relaxed, both: hints. The request that follows is read after them.
    if (m_is_hungry.exchange(is_hungry, std::memory_order_relaxed) == is_hungry) return;
    std::lock_guard const held(m_lock);
    if (shelf& own = own_shelf(); own.is_there()) own.show_hunger(is_hungry);
}

// --- running it ----------------------------------------------------------------------------------

// By a worker: a thread that runs activities until there are none. While it waits in one, its
// worker makes another such thread; one that is not idle does only if none has begun since it was
// asked last.
bool balance::start_activities(bool is_idle) noexcept {
    // relaxed, all: hints.
    if (m_activities.load(std::memory_order_relaxed) == 0) return false;
    std::uint64_t const begun = m_begun.load(std::memory_order_relaxed);
    if (m_begun_then.exchange(begun, std::memory_order_relaxed) != begun && !is_idle) return false;
    if (m_carrier != nullptr) m_carrier->begin_use();
    try {
        spawn_detached([this]() noexcept {
            run_activities();
            if (m_carrier != nullptr) m_carrier->end_use();
        });
    } catch (...) {
        base::fatal("no memory for a thread that runs activities");
    }
    return true;
}

void balance::run_activities() noexcept {
    for (int count = 1; auto next = take_youngest(); ++count) {
        run(std::move(next));
        if (count % k_activities_between_yields == 0) this_thread::yield();
    }
}

std::unique_ptr<any_activity> balance::take_youngest() noexcept {
    std::lock_guard const held(m_lock);
    auto youngest = m_bag.take_youngest();
    // relaxed: as in start_activities
    m_begun.store(m_begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    count_activities();
    return youngest;
}

// In a deterministic run, which chooses among threads.
void balance::start(std::unique_ptr<any_activity> what) noexcept try {
    spawn_detached([this, own = std::move(what)]() mutable noexcept { run(std::move(own)); });
} catch (...) {
    base::fatal("no memory for a thread that runs an activity");
}

void balance::run(std::unique_ptr<any_activity> what) noexcept {
    finish_scope& of = *what->of;
    standing where{m_carrier, &of};
    stand const for_this_thread(where);
    try {
        wire_reader in({what->arguments.data(), what->arguments.size()});
        wire_writer dropped;
        what->code(in, dropped);
    } catch (...) {
        finishes::add_exception(of, detail::caught_exception());
    }
    what.reset();
    finishes::end(of);
}

void balance::start(stolen what) noexcept try {
    if (m_carrier != nullptr) m_carrier->begin_use();
    spawn_detached([this, own = std::move(what)]() noexcept {
        run(own);
        if (m_carrier != nullptr) m_carrier->end_use();
    });
} catch (...) {
    base::fatal("no memory for a thread that was forked globally");
}

void balance::run(stolen const& what) noexcept {
    standing where{m_carrier, nullptr};
    stand const for_this_thread(where);
    try {
        if (what.here->code != global_record::k_joined) call(*what.here);
    } catch (...) {
        return tell_failure(what, detail::caught_exception());
    }
    tell_end(what);
}

void balance::call(global_record& of) const {
    auto const code = reinterpret_cast<detail::global_code>(
        code_of(of.code)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    if (code == nullptr)
        throw remote_error(static_cast<int>(here()), "",
                           "tulle: place " + std::to_string(here()) +
                               " does not have the code of what was forked globally: is the same "
                               "library loaded at all places?");
    code(of.body);
}

} // namespace tulle::balance

namespace tulle::detail {

void start_anywhere(std::unique_ptr<any_activity> what) {
    if (what->of->at != nullptr) what->of->at->carrier().refuse_addresses({}, what->arguments);
    finishes::begin(*what->of);
    balance::balance_of_caller().add(std::move(what));
}

} // namespace tulle::detail
