// SPDX-License-Identifier: Apache-2.0
// What a place does with its own work, and how it takes that of others. What others ask for:
// balance_service.cpp.
#include "balance/balance.hpp"

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "base/rng.hpp"
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "messenger/exception_wire.hpp"
#include "messenger/image.hpp"
#include "sched/records/join_word.hpp"
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
using messenger::place_context;
using messenger::scoped_context;

namespace {

constexpr std::size_t k_private_steal_area_bytes = std::size_t{4} << 20U;
constexpr std::uint32_t k_victims = 4;          // probed in one round of a search
constexpr std::uint32_t k_refusals = 2;         // by victims at random, before a place rests
constexpr int k_activities_between_yields = 32; // while other threads of this place may be ready

// What workers without work poll in a process that is no place.
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
    [[nodiscard]] bool set_wake_flags() noexcept override { return m_work.set_wake_flags(); }
    [[nodiscard]] bool has_work() const noexcept override { return m_work.is_there(); }

private:
    balance m_work;
};

// Workers may poll it until the process ends.
lone_poller& alone() {
    constinit static base::made_once<lone_poller> s_alone;
    return s_alone.get();
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
      m_count(carrier != nullptr ? carrier->workplaces() : 1) {
    if (carrier == nullptr) return;
    carrier->handle<&balance::serve>(message_kind::work, *this);
    if (here() >= m_count) return; // a memory place takes no part
    for (rank const end : neighbours(here(), m_count))
        m_lifelines.push_back(std::make_unique<lifeline>(end));
    m_waiting.reserve(m_lifelines.size());
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

// From now on all places search for such work. They send nothing before.
void balance::begin() noexcept {
    if (m_carrier == nullptr) return install();
    // relaxed: a hint, which the exchange settles.
    if (m_is_used.load(std::memory_order_relaxed)) return;
    static_cast<void>(os::membarrier_register_global()); // before a worker makes a heavy fence
    if (m_is_used.exchange(true, std::memory_order_release)) return; // pairs with take
    for (rank r = 0; r < m_count; ++r) {
        if (r != here()) tell(r, work_message::hello);
    }
}

void balance::install() noexcept {
    auto& s = sched::scheduler::instance();
    if (s.idle_poller() == nullptr) s.set_idle_poller(&alone());
}

// The caller holds the lock.
steal_area& balance::own_steal_area() noexcept {
    if (m_has_steal_area.load(std::memory_order_relaxed))
        return m_steal_area; // relaxed: under the lock
    if (m_transport != nullptr) m_steal_area = steal_area(m_transport->steal_area(here()));
    if (!m_steal_area.is_there()) {
        m_own = os::fixed_range::reserve(0, k_private_steal_area_bytes);
        if (!m_own.is_valid() || !m_own.fill(0, m_own.size())) return m_steal_area;
        m_steal_area = steal_area({m_own.low(), m_own.size()});
    }
    m_has_steal_area.store(true,
                           std::memory_order_release); // pairs with take, set_wake_flags, is_there
    return m_steal_area;
}

// Whether the fence of a thief reaches this process.
bool balance::is_asymmetric() const noexcept {
    return sched::scheduler::instance().opens_asymmetric_deques() &&
           (m_own.is_valid() || os::membarrier_global_available());
}

// The first publish() takes the cold path, where the owner checks for workers that sleep and places
// that wait: they may not have seen this deque when they set the wake flags.
global_deque* balance::open() noexcept {
    begin();
    std::lock_guard const held(m_lock);
    steal_area& own = own_steal_area();
    if (!own.is_there()) return nullptr;
    global_deque* deque = m_free.pop();
    if (deque != nullptr)
        deque->reopen(is_asymmetric());
    else
        deque = own.add(this, is_asymmetric());
    if (deque != nullptr) deque->set_wake_flag();
    return deque;
}

void balance::close(global_deque& empty) noexcept {
    std::lock_guard const held(m_lock);
    m_free.push(empty);
}

// The wake flag is cleared before sleepers are searched for, as in sched/records/join.cpp: a thread
// that sets it again sees the record.
void balance::published(global_deque& own) noexcept {
    if (!own.is_asymmetric()) global_owner(own).share_all();
    own.clear_wake_flag(); // E1 of park/sleep_steps.hpp
    park::notify(sched::scheduler::instance().idle());
    // relaxed: written before their heavy fence
    if (m_waiting_count.load(std::memory_order_relaxed) != 0) serve_lifelines();
}

void balance::add(std::unique_ptr<any_activity> activity) noexcept {
    if (sched::scheduler::instance().is_deterministic()) return start(std::move(activity));
    begin();
    bool is_waited_for = false;
    {
        std::lock_guard const held(m_lock);
        m_bag.add_youngest(std::move(activity));
        count_activities();
        is_waited_for = !m_waiting.empty();
    }
    sched::scheduler::instance().notify_light();
    if (is_waited_for) serve_lifelines();
}

// The caller holds the lock.
void balance::count_activities() noexcept {
    // relaxed: a hint; a sleeper reads it after its heavy fence
    m_activities.store(m_bag.size(), std::memory_order_relaxed);
    if (m_transport != nullptr) own_steal_area().show_activities(m_bag.size());
}

// --- taking it -----------------------------------------------------------------------------------

bool balance::take(bool is_idle) noexcept {
    if (start_activities(is_idle)) return true;
    if (m_has_steal_area.load(std::memory_order_acquire)) { // pairs with own_steal_area
        if (auto const found = m_steal_area.steal(draw()); found.here != nullptr) {
            start({here(), found.there, found.here, nullptr});
            return true;
        }
    }
    // acquire pairs with begin and greet
    return is_idle && m_count > 1 && m_is_used.load(std::memory_order_acquire) && probe_elsewhere();
}

// Sets the wake flags. A worker that goes to sleep calls this before its heavy fence: B1 of
// deque/split_deque.hpp.
bool balance::set_wake_flags() noexcept {
    // acquire pairs with own_steal_area
    if (!m_has_steal_area.load(std::memory_order_acquire)) return false;
    std::uint32_t const used = m_steal_area.used();
    for (std::uint32_t k = 0; k < used; ++k) m_steal_area.deque(k).set_wake_flag();
    return used != 0;
}

bool balance::is_there() const noexcept {
    // relaxed: a hint, or after a heavy fence.
    if (m_activities.load(std::memory_order_relaxed) != 0) return true;
    // Pairs with own_steal_area.
    return m_has_steal_area.load(std::memory_order_acquire) && m_steal_area.looks_stealable();
}

bool balance::probe_elsewhere() noexcept {
    for (std::uint32_t k = 0; k < std::min(m_count - 1, k_victims); ++k) {
        rank const victim = (here() + 1 + draw() % (m_count - 1)) % m_count;
        if (probe(victim)) return true;
    }
    return false;
}

// Takes a record out of the victim's steal area, or else asks the victim: for activities, if it
// shows some; without a steal area, until too many have refused. Where deaths are survived no place
// takes anything from the steal area of another one: a thief may die with the deque locked, and its
// victim must know which place has a record.
bool balance::probe(rank victim) noexcept {
    if (m_carrier->is_dead(victim)) return false;
    steal_area const theirs(m_transport->steal_area(victim));
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
    // acquire: pairs with the stores of false, before which the question was taken out of its list
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
}

void balance::set_hungry(bool is_hungry) noexcept {
    // relaxed, both: hints. The request that follows is read after them.
    if (m_is_hungry.exchange(is_hungry, std::memory_order_relaxed) == is_hungry) return;
    {
        std::lock_guard const held(m_lock);
        steal_area& own = own_steal_area(); // shows what holds by now
        if (own.is_there()) own.show_hunger(m_is_hungry.load(std::memory_order_relaxed));
    }
    if (is_hungry) return;
    // A lifeline that sees no hunger forgets who waits: it has to be told again. relaxed: as above
    for (auto const& l : m_lifelines) l->is_told.store(false, std::memory_order_relaxed);
}

// --- running it ----------------------------------------------------------------------------------

// A worker calls this. It starts a thread that runs activities until there are none. While that
// thread waits in one, its worker starts another such thread; a worker that is not idle does so
// only if none has begun since it was asked last.
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

// Starts a thread for one activity, in a deterministic run, which chooses among threads.
void balance::start(std::unique_ptr<any_activity> activity) noexcept try {
    spawn_detached([this, own = std::move(activity)]() mutable noexcept { run(std::move(own)); });
} catch (...) {
    base::fatal("no memory for a thread that runs an activity");
}

void balance::run(std::unique_ptr<any_activity> activity) noexcept {
    finish_scope& scope = *activity->scope;
    place_context context{m_carrier, &scope};
    scoped_context const for_this_thread(context);
    try {
        wire_reader in({activity->arguments.data(), activity->arguments.size()});
        activity->code(in, scope);
    } catch (...) {
        finishes::add_exception(scope, detail::caught_exception());
    }
    activity.reset();
    finishes::end(scope);
}

void balance::start(stolen record) noexcept try {
    if (m_carrier != nullptr) m_carrier->begin_use();
    spawn_detached([this, own = std::move(record)]() noexcept {
        run(own);
        if (m_carrier != nullptr) m_carrier->end_use();
    });
} catch (...) {
    base::fatal("no memory for a thread that was forked globally");
}

void balance::run(stolen const& record) noexcept {
    place_context context{m_carrier, nullptr};
    scoped_context const for_this_thread(context);
    m_order.before_delivery();
    try {
        if (record.here->code != global_record::k_joined) call(*record.here);
    } catch (...) {
        m_order.before_send();
        return tell_failure(record, detail::caught_exception());
    }
    m_order.before_send();
    tell_end(record);
}

void balance::call(global_record& record) const {
    auto const code = reinterpret_cast<detail::global_code>(
        code_of(record.code)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    if (code == nullptr)
        throw remote_error(static_cast<int>(here()), "",
                           "tulle: place " + std::to_string(here()) +
                               " does not have the code of what was forked globally: is the same "
                               "library loaded at all places?");
    code(record.body);
}

} // namespace tulle::balance

namespace tulle::detail {

void start_anywhere(std::unique_ptr<any_activity> activity) {
    if (activity->scope->at != nullptr)
        activity->scope->at->carrier().refuse_addresses({}, activity->arguments);
    finishes::begin(*activity->scope);
    balance::balance_of_caller().add(std::move(activity));
}

} // namespace tulle::detail
