// SPDX-License-Identifier: Apache-2.0
#include "cpus/member.hpp"

#include "base/error.hpp"
#include "os/thread.hpp"

#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace tulle::cpus {

namespace {

constexpr int k_visit_ms = 1000;
constexpr int k_pause_ms = 10; // after a change, for others that come with it

// Later it may be otherwise.
bool is_passing(int error) noexcept {
    return error == EBUSY || error == ENOMEM || error == EMFILE || error == ENFILE ||
           error == EINTR;
}

} // namespace

int member::join(std::string path, std::vector<int> may, wish const& wanted,
                 follower const& program) {
    std::lock_guard const held(m_lock);
    if (m_registry || m_has_thread) return EALREADY;
    registry shared(std::move(path));
    m_program = program;
    m_wanted = wanted;
    m_has = may;
    m_may = std::move(may);
    m_registry = std::move(shared);
    int error = visit();
    if (error == 0) error = start_thread();
    if (error == 0) return 0;
    if (m_has != m_may) static_cast<void>(m_program.moves(m_has, m_may));
    m_why = m_registry->take_why();
    forget();
    return error;
}

// What the registry says, and the program follows.
int member::visit() noexcept try {
    auto now = m_registry->visit(m_may, m_wanted);
    if (!now) return errno;
    if (*now != m_has && m_program.moves(m_has, *now)) m_has = std::move(*now);
    return 0;
} catch (std::bad_alloc const&) {
    return ENOMEM;
}

// It handles no signals of the program.
int member::start_thread() noexcept {
    // None: it visits the file once a second.
    m_changes = os::private_descriptor([] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); });
    m_end = os::private_descriptor([] { return ::eventfd(0, EFD_CLOEXEC); });
    if (!m_end.is_open()) return errno;
    int const error =
        os::with_signals_blocked([this] { return os::start_thread(m_thread, &run, this); });
    m_has_thread = error == 0;
    return error;
}

// If the entry stays, the others see that the process has ended when it has.
void member::forget() noexcept {
    m_changes.close();
    m_end.close();
    try {
        if (m_registry) static_cast<void>(m_registry->leave());
    } catch (std::bad_alloc const&) {
        base::warn("no memory to leave the registry of processors");
    }
    m_registry.reset();
}

void member::leave() noexcept {
    if (!m_has_thread) return;
    static_cast<void>(::eventfd_write(m_end.number(), 1));
    pthread_join(m_thread, nullptr);
    m_has_thread = false;
    std::lock_guard const held(m_lock);
    forget();
    spread();
}

void member::spread() noexcept try {
    os::move_threads(m_has, m_may);
} catch (std::bad_alloc const&) {
    return; // they keep to what they have
}

// --- the thread ----------------------------------------------------------------------------------

void* member::run(void* self) noexcept {
    os::set_name("tulle-cpus");
    static_cast<member*>(self)->watch();
    return nullptr;
}

void member::watch() noexcept {
    m_program.starts(os::thread_id());
    while (watch_and_visit() && sleep()) {}
}

// The watch comes first, so that no change after the visit is missed. A file that was removed and
// made again is another one to watch.
bool member::watch_and_visit() noexcept try {
    std::lock_guard const held(m_lock);
    if (m_changes.is_open())
        static_cast<void>(::inotify_add_watch(m_changes.number(), m_registry->path().c_str(),
                                              IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF));
    if (int const error = visit(); error != 0 && !is_passing(error)) give_up();
    return m_registry.has_value();
} catch (std::bad_alloc const&) {
    return true; // later
}

void member::give_up() {
    std::string const why = m_registry->why();
    if (m_has != m_may) static_cast<void>(m_program.moves(m_has, m_may));
    m_has = m_may;
    m_registry.reset();
    m_program.gives_up(why);
}

// False: leave() has been called.
bool member::sleep() const noexcept {
    std::array<pollfd, 2> wanted{{{m_end.number(), POLLIN, 0}, {m_changes.number(), POLLIN, 0}}};
    static_cast<void>(::poll(wanted.data(), wanted.size(), k_visit_ms));
    static_cast<void>(::poll(wanted.data(), 1, k_pause_ms));
    if (wanted[0].revents != 0) return false;
    std::array<char, 4096> events; // which ones does not matter
    while (m_changes.is_open() && ::read(m_changes.number(), events.data(), events.size()) > 0) {}
    return true;
}

// --- wishes --------------------------------------------------------------------------------------

int member::want(wish const& wanted) { return want(wanted, may()); }

int member::want(wish const& wanted, std::vector<int> may) {
    std::lock_guard const held(m_lock);
    if (!m_registry) return ENOTSUP;
    if (!makes_sense(wanted) || may.empty()) return EINVAL;
    std::swap(m_may, may);
    wish const before = std::exchange(m_wanted, wanted);
    int const error = visit();
    if (error == 0 || error == EBUSY) return 0;
    std::swap(m_may, may);
    m_wanted = before;
    return error;
}

std::optional<wish> member::wanted() {
    std::lock_guard const held(m_lock);
    return m_registry ? std::optional(m_wanted) : std::nullopt;
}

std::vector<int> member::has() {
    std::lock_guard const held(m_lock);
    return m_has;
}

std::vector<int> member::may() {
    std::lock_guard const held(m_lock);
    return m_may;
}

std::vector<int> member::may_now() {
    std::lock_guard const held(m_lock); // nobody moves the thread
    std::vector<int> now = os::affinity_of(::getpid());
    return now.empty() || now == m_has ? m_may : now;
}

void member::after_process_fork(bool in_child) noexcept {
    if (in_child && m_has_thread) {
        m_has_thread = false;
        m_registry.reset(); // the entry is the parent's
        forget();
        spread();
    }
    m_lock.unlock();
}

} // namespace tulle::cpus
