// SPDX-License-Identifier: Apache-2.0
// A mutex for the threads of all places. Plain, each lock asks its home, and each unlock gives it
// back. Hierarchical, it stays at the place that has it, whose threads lock it without any message,
// until another place asks for it; that one gets it after `tuning::most_turns` more turns at most.
// It is plain at first, and turns hierarchical, for good, when it is contended (or as its mode
// says).
//   // at one place; copies travel, and are the same mutex
//   tulle::global_mutex const m = tulle::global_mutex::make();
//   m.lock(); ...; m.unlock(); // std::lock_guard works
// Messages: plain, two for a lock and one for an unlock, none of them at the home; hierarchical,
// none while it stays, four when it moves.
// Contexts: any thread of the process. Memory ordering: as of std::mutex, over all places.
// Sources: hierarchical and contention-sensitive locks: N. Ekström, "Improving DSZOOM's run time
// system", 2004, section 4; the bound on turns:
// Radović and Hagersten, "Efficient synchronization for nonuniform communication architectures", SC
// 2002.
#pragma once

#include <tulle/detail/visibility.h>
#include <tulle/place.hpp>

#include <cstdint>

namespace tulle {

// Names a mutex; copies name the same one. Travels.
class global_mutex {
public:
    // What it is, as said above.
    enum class mode : std::uint8_t {
        contention_sensitive, // plain until it is contended
        plain,                // always
        hierarchical          // always
    };

    // When it turns hierarchical, and how long a place may keep it.
    struct tuning {
        int threshold = 16;  // so many more that found it taken than found it free: it is contended
        int most_turns = 64; // of threads of a place while another place waits
    };

    // The homes are the places in turn, or as given. Errors: those of finish(); std::bad_alloc;
    // std::invalid_argument: a threshold below 0, no turns.
    [[nodiscard]] TULLE_API static global_mutex make(mode m = mode::contention_sensitive);
    [[nodiscard]] TULLE_API static global_mutex make(place home,
                                                     mode m = mode::contention_sensitive);
    [[nodiscard]] TULLE_API static global_mutex make(place home, mode m, tuning const& how);

    // Errors: std::logic_error: it has been destroyed; std::bad_alloc; dead_place: its home has
    // died, or a place that had it (then nobody gets it any more).
    TULLE_API void lock() const;
    TULLE_API void unlock() const; // by the thread that has locked it

    // The place that others ask for it.
    [[nodiscard]] place home() const { return place(m_home); }
    // By now. Errors: as of lock().
    [[nodiscard]] TULLE_API bool is_hierarchical() const;
    // Nobody may have it locked, or want it.
    TULLE_API void destroy() const;

private:
    global_mutex(int home, std::uint64_t name) noexcept : m_home(home), m_name(name) {}

    int m_home;
    std::uint64_t m_name;
};

} // namespace tulle
