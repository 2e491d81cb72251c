// SPDX-License-Identifier: Apache-2.0
// A mutex has a part at each place, which its threads lock first, so that at most one of a place
// asks the home. The home gives the mutex to places in the order in which they ask. To a place that
// keeps it, it sends a recall, one for each time that the place has it. The recall waits there like
// any thread, and each thread that unlocks counts turns, so that the place gives the mutex back
// even if its threads never let the recall through.
#include "team/death_watch.hpp"

#include <tulle/c/place.h>
#include <tulle/condition_variable.hpp>
#include <tulle/detail/collective.hpp>
#include <tulle/finish.hpp>
#include <tulle/global_mutex.hpp>
#include <tulle/mutex.hpp>
#include <tulle/semaphore.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace tulle {

namespace {

using lock_mode = global_mutex::mode;

void recall_here(std::uint64_t name, std::uint64_t home);

class lock_home {
public:
    lock_home(int here, std::uint64_t name, lock_mode mode, int threshold) noexcept
        : m_here(here), m_name(name), m_mode(mode), m_threshold(threshold) {}

    // Takes the mutex for a thread of that place; waits. True: the place keeps it until it is
    // recalled.
    [[nodiscard]] bool acquire(int place, bool is_contended_there) {
        std::unique_lock held(m_lock);
        std::uint64_t const ticket = m_tickets++;
        bool const waits = ticket != m_serving;
        if (waits) recall();
        m_moved.wait(held, [&] { return ticket == m_serving || m_dead >= 0; });
        if (m_dead >= 0) detail::throw_dead_place(m_dead);
        if (detail::is_dead_place(place)) pass_over(place);
        m_holder = place;
        note(waits || is_contended_there);
        if (!is_hierarchical()) return false;
        m_keeper = place;
        m_is_recalled = false;
        if (m_tickets != m_serving + 1) recall(); // others wait already
        return true;
    }
    // Of nobody, as after an unlock too many: nothing is done, and the next one gets it.
    void release() {
        std::lock_guard const held(m_lock);
        if (m_holder == k_nowhere) return;
        m_keeper = k_nowhere;
        serve_next();
    }
    // relaxed: written under the lock; others only report it.
    [[nodiscard]] bool is_hierarchical() const noexcept {
        return m_mode == lock_mode::hierarchical ||
               (m_mode == lock_mode::contention_sensitive &&
                m_contention.load(std::memory_order_relaxed) == m_threshold);
    }

private:
    static constexpr int k_nowhere = -1;

    void serve_next() {
        m_holder = k_nowhere;
        ++m_serving;
        m_moved.notify_all();
    }
    // The place has asked, and will not learn that it has the mutex.
    [[noreturn]] void pass_over(int place) {
        serve_next();
        detail::throw_dead_place(place);
    }
    // The holder has died. The data that the mutex guards may be in any state.
    void lose(int place) {
        std::lock_guard const held(m_lock);
        if (m_holder != place) return;
        m_dead = place;
        m_moved.notify_all();
    }
    void note(bool contended) noexcept {
        int const before = m_contention.load(std::memory_order_relaxed); // relaxed: as above
        if (before == m_threshold) return;
        m_contention.store(contended ? before + 1 : before - static_cast<int>(before != 0),
                           std::memory_order_relaxed);
    }
    void recall() {
        if (m_keeper == k_nowhere || m_is_recalled) return;
        m_is_recalled = true;
        static_cast<void>(
            tulle_start_at(m_keeper, {&recall_here, m_name, static_cast<std::uint64_t>(m_here)}));
    }

    int m_here;
    std::uint64_t m_name;
    lock_mode m_mode;
    int m_threshold;
    std::atomic<int> m_contention{0};
    mutex m_lock; // guards the rest
    condition_variable m_moved;
    std::uint64_t m_tickets = 0; // of requests, so far
    // The ticket of the place that has it, or of the next one that asks.
    std::uint64_t m_serving = 0;
    int m_keeper = k_nowhere;
    int m_holder = k_nowhere;   // the place that has the present ticket
    int m_dead = k_nowhere;     // it died with the mutex
    bool m_is_recalled = false; // from the keeper
    teams::death_watch m_watch{[this](int place) { lose(place); }};
};

// A mutex whose waiters do not spin: its holder may be waiting for another place.
class patient_lock {
public:
    void lock() {
        m_free.acquire();
        m_is_held.store(true, std::memory_order_relaxed); // relaxed: see is_held
    }
    [[nodiscard]] bool try_lock() noexcept {
        bool const is_free = m_free.try_acquire();
        if (is_free) m_is_held.store(true, std::memory_order_relaxed); // relaxed: see is_held
        return is_free;
    }
    void unlock() {
        m_is_held.store(false, std::memory_order_relaxed); // relaxed: see is_held
        m_free.release();
    }
    // relaxed: the holder's own; to anybody else a hint.
    [[nodiscard]] bool is_held() const noexcept {
        return m_is_held.load(std::memory_order_relaxed);
    }

private:
    binary_semaphore m_free{1};
    std::atomic<bool> m_is_held{false};
};

struct lock_part {
    explicit lock_part(int turns_at_most) noexcept : most_turns(turns_at_most) {}

    int const most_turns;
    patient_lock lock;    // held by the holder of the mutex, and while it comes and goes
    bool is_kept = false; // by this place; guarded by `lock`
    int turns = 0;        // since it was recalled; guarded by `lock`
    std::atomic<bool> is_recalled{false}; // and has not been given back
    std::unique_ptr<lock_home> home;      // there only
};

// Null: it has been destroyed.
std::shared_ptr<lock_part> find_part(std::uint64_t name) {
    return std::static_pointer_cast<lock_part>(detail::local_object(name));
}

std::shared_ptr<lock_part> part_of(std::uint64_t name) {
    auto found = find_part(name);
    if (found == nullptr) throw std::logic_error("tulle::global_mutex: it has been destroyed");
    return found;
}

// This runs as an i-let, which may come when the mutex has been destroyed already.
void release_at_home(std::uint64_t name, std::uint64_t /*unused*/) {
    if (auto const own = find_part(name); own != nullptr) own->home->release();
}

void release(lock_part& own, std::uint64_t name, int home) {
    if (own.home != nullptr)
        own.home->release();
    else
        static_cast<void>(tulle_start_at(home, {&release_at_home, name, 0}));
}

// The caller holds the part's lock.
void give_back(lock_part& own, std::uint64_t name, int home) {
    own.is_kept = false;
    own.turns = 0;
    // relaxed: guarded by the lock; recall_here sets it after it was kept again
    own.is_recalled.store(false, std::memory_order_relaxed);
    release(own, name, home);
}

// This runs as an i-let, too. A thread that unlocks meanwhile may give the mutex back first.
void recall_here(std::uint64_t name, std::uint64_t home) {
    auto const own = find_part(name);
    if (own == nullptr) return;
    own->is_recalled.store(true, std::memory_order_relaxed); // relaxed: a hint to unlock()
    std::lock_guard const held(own->lock);
    if (own->is_kept && own->is_recalled.load(std::memory_order_relaxed))
        give_back(*own, name, static_cast<int>(home));
}

// The places in turn, but for those that have died.
place next_home() {
    static std::atomic<unsigned> s_turn{0};
    for (;;) {
        // relaxed: each number is taken once, and nothing else hangs on it
        unsigned const turn = s_turn.fetch_add(1, std::memory_order_relaxed);
        place const home(static_cast<int>(turn % static_cast<unsigned>(place_count())));
        if (!home.is_dead()) return home; // as is this place, at the latest
    }
}

} // namespace

global_mutex global_mutex::make(mode m) { return make(next_home(), m); }

global_mutex global_mutex::make(place home, mode m) { return make(home, m, tuning()); }

global_mutex global_mutex::make(place home, mode m, tuning const& how) {
    if (how.threshold < 0 || how.most_turns < 1)
        throw std::invalid_argument(
            "tulle::global_mutex: no threshold below 0, and a turn at least");
    global_mutex const made(home.index(), detail::new_name());
    try {
        finish([&](activities& all) {
            for (place const p : places()) {
                if (p.is_dead()) continue;
                all.async_at(
                    p,
                    [](int home_index, std::uint64_t name, mode chosen, int threshold, int turns) {
                        auto own = std::make_shared<lock_part>(turns);
                        int const here = detail::here_index();
                        if (here == home_index)
                            own->home = std::make_unique<lock_home>(here, name, chosen, threshold);
                        detail::set_local_object(name, std::move(own));
                    },
                    made.m_home, made.m_name, m, how.threshold, how.most_turns);
            }
        });
    } catch (...) {
        made.destroy();
        throw;
    }
    return made;
}

void global_mutex::destroy() const {
    finish([name = m_name](activities& all) {
        for (place const p : places()) {
            if (p.is_dead()) continue;
            all.async_at(
                p, [](std::uint64_t gone) { detail::set_local_object(gone, nullptr); }, name);
        }
    });
}

void global_mutex::lock() const {
    auto const own = part_of(m_name);
    std::unique_lock held(own->lock, std::try_to_lock);
    bool const is_contended = !held;
    if (is_contended) held.lock();
    if (!own->is_kept)
        own->is_kept = at(
            place(m_home),
            [](std::uint64_t name, int from, bool contended) {
                return part_of(name)->home->acquire(from, contended);
            },
            m_name, detail::here_index(), is_contended);
    held.release(); // until unlock
}

void global_mutex::unlock() const {
    auto const own = part_of(m_name);
    if (!own->lock.is_held()) return; // one too many
    if (!own->is_kept)
        release(*own, m_name, m_home);
    else if (own->is_recalled.load(std::memory_order_relaxed) &&
             ++own->turns >= own->most_turns) // relaxed: a hint
        give_back(*own, m_name, m_home);
    own->lock.unlock();
}

bool global_mutex::is_hierarchical() const {
    return at(
        place(m_home), [](std::uint64_t name) { return part_of(name)->home->is_hierarchical(); },
        m_name);
}

} // namespace tulle
