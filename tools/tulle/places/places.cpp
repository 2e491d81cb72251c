// SPDX-License-Identifier: Apache-2.0
#include "places/places.hpp"

#include "command.hpp"
#include "net/session.hpp"
#include "places/processor_shares.hpp"
#include "tagged_output.hpp"
#include "watched_signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_after_main{2000}; // to end after place 0
// To end after another place has died, and to close what was printed into.
constexpr std::chrono::milliseconds k_patience{1000};
constexpr int k_signal_base = 128; // as the shell has it

// So that nothing of ours gets their numbers.
void open_standard_streams() {
    for (int const number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        // The lowest that is free.
        if (fcntl(number, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDWR));
}

struct child {
    pid_t process = 0;
    std::optional<int> status; // as from waitpid, once it has ended
    bool took_part = false;    // by then
    bool has_left = false;     // as it should
    bool is_stopped = false;   // so how it ends is our doing
};

std::string how(int status) {
    outcome o;
    o.status = status;
    return o.reason();
}

int code_of(int status) {
    return WIFSIGNALED(status) ? k_signal_base + WTERMSIG(status) : WEXITSTATUS(status);
}

class places_run {
public:
    // The standard streams are open.
    explicit places_run(places_request const& request)
        : m_request(request),
          m_processors(request.count, request.may_bind),
          m_session(net::session::create(request.count)) {
        if (!m_session.is_valid() || !m_session.keep_for_programs())
            throw failure(k_exit_failed, std::string("run: no memory for the places to share: ") +
                                             std::strerror(errno));
        raise_descriptor_limit();
        m_session.head().processors = m_processors.count();
    }
    ~places_run() {
        for (child const& c : m_children) {
            if (c.status) continue;
            kill(c.process, SIGKILL);
            waitpid(c.process, nullptr, 0);
        }
    }
    places_run(places_run const&) = delete;
    places_run& operator=(places_run const&) = delete;

    int run() {
        for (unsigned rank = 0; rank < m_request.count; ++rank) start(rank);
        while (is_alive() || has_output()) step();
        int const code = m_code.value_or(code_of(*m_children[0].status));
        bool const is_lost = std::any_of(m_outputs.begin(), m_outputs.end(),
                                         [](tagged_output const& o) { return o.is_lost(); });
        return code == 0 && is_lost ? k_exit_failed : code;
    }

private:
    // Many places have many pipes. Children get the limit back.
    void raise_descriptor_limit() noexcept {
        getrlimit(RLIMIT_NOFILE, &m_limit_before);
        rlimit const most{m_limit_before.rlim_max, m_limit_before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &most);
    }
    void start(unsigned rank) {
        pipe_ends out = is_piped(m_request.tags, rank, STDOUT_FILENO) ? make_pipe() : pipe_ends();
        pipe_ends err = is_piped(m_request.tags, rank, STDERR_FILENO) ? make_pipe() : pipe_ends();
        pipe_ends error = make_pipe(); // closed by a successful exec
        std::string const assignment = std::to_string(rank) + "/" +
                                       std::to_string(std::max(m_request.count, rank + 1)) +
                                       "@shm:" + std::to_string(m_session.memory().descriptor()) +
                                       "," + std::to_string(m_session.segments_descriptor());
        pid_t const parent = getpid();
        pid_t const process = fork();
        if (process < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (process == 0)
            become_place(rank, assignment, out.write.get(), err.write.get(), error.write.get(),
                         parent);
        m_children.push_back({process, {}, false, false, false});
        out.write.reset();
        err.write.reset();
        error.write.reset();
        if (out.read.is_open())
            m_outputs.emplace_back(m_request.tags, rank, std::move(out.read), STDOUT_FILENO,
                                   m_signals);
        if (err.read.is_open())
            m_outputs.emplace_back(m_request.tags, rank, std::move(err.read), STDERR_FILENO,
                                   m_signals);
        int why = 0;
        if (read(error.read.get(), &why, sizeof why) == sizeof why)
            throw failure(why == ENOENT ? k_exit_not_found : k_exit_cannot_run,
                          "run: cannot run '" + m_request.words.front() +
                              "': " + std::strerror(why));
    }

    [[noreturn]] void become_place(unsigned rank, std::string const& assignment, int out, int err,
                                   int error, pid_t parent) const {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with us, whatever ends us
        if (getppid() != parent) _exit(k_exit_failed);
        m_signals.restore_mask();
        setrlimit(RLIMIT_NOFILE, &m_limit_before);
        if (out >= 0) dup2(out, STDOUT_FILENO);
        if (err >= 0) dup2(err, STDERR_FILENO);
        if (rank != 0 && !m_request.shares_input)
            dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        setenv("TULLE_PLACE", assignment.c_str(), 1);
        m_processors.take(rank);
        become(m_request.words);
        int const why = errno;
        static_cast<void>(!write(error, &why, sizeof why));
        _exit(k_exit_cannot_run);
    }

    // Waits for something to happen, and sees to it.
    void step() {
        std::vector<pollfd> wanted{{m_signals.news(), POLLIN, 0}};
        for (tagged_output const& o : m_outputs)
            wanted.push_back({o.is_open() ? o.from() : -1, POLLIN, 0});
        int const kill_ms = m_next_kill ? time_left() : -1;
        int const line_ms = has_beginnings() ? tagged_output::k_patience_with_lines_ms : -1;
        int const time_ms = kill_ms < 0 || (line_ms >= 0 && line_ms < kill_ms) ? line_ms : kill_ms;
        if (poll(wanted.data(), wanted.size(), time_ms) == 0 && line_ms >= 0) pass_beginnings();
        for (std::size_t k = 0; k < m_outputs.size(); ++k)
            if ((wanted[k + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
                m_outputs[k].read_some();
        if ((wanted[0].revents & POLLIN) != 0) take_signal();
        if (m_next_kill && clock::now() >= m_kill_at) kill_next();
    }
    [[nodiscard]] bool has_beginnings() const {
        return std::any_of(m_outputs.begin(), m_outputs.end(),
                           [](tagged_output const& o) { return o.has_beginning(); });
    }
    void pass_beginnings() {
        for (tagged_output& o : m_outputs)
            if (o.has_beginning()) o.pass_beginning();
    }
    [[nodiscard]] int time_left() const {
        auto const left =
            std::chrono::duration_cast<std::chrono::milliseconds>(m_kill_at - clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
    }

    void take_signal() {
        auto const info = m_signals.take();
        if (!info) return;
        auto const number = static_cast<int>(info->ssi_signo);
        if (number == SIGCHLD) return reap();
        // Which has sent it to all of the foreground. Of a hang-up only the first process of the
        // session hears.
        bool const is_of_terminal = info->ssi_code == SI_KERNEL && number != SIGHUP;
        // Places report what they do, and go on.
        if (number == SIGQUIT) {
            if (!is_of_terminal) send_all(number);
            return;
        }
        if (m_ending_signal == number) return kill_after({}, SIGKILL); // they take too long
        if (m_ending_signal != 0) {
            if (!is_of_terminal) send_all(number);
            return;
        }
        m_ending_signal = number;
        stop_all(is_of_terminal ? 0 : number, m_request.grace);
    }
    void reap() {
        for (unsigned rank = 0; rank < m_children.size(); ++rank) {
            if (m_children[rank].status) continue;
            std::optional<int> const status = status_of(m_children[rank].process);
            if (!status) continue;
            note_end(rank, *status);
            waitpid(m_children[rank].process, nullptr, 0);
            ended(rank, *status);
        }
        if (!is_alive() && !m_next_kill) kill_after(k_patience, SIGKILL);
        start_wanted();
    }
    // Places that the program asks for while it runs. Who asks for one that cannot be started is
    // told that it has died.
    void start_wanted() {
        while (m_children.size() < m_session.wanted_places() && !m_code && !m_is_stopping &&
               !m_children[0].status) {
            auto const rank = static_cast<unsigned>(m_children.size());
            try {
                start(rank);
            } catch (std::exception const& e) {
                std::fprintf(stderr, "tulle: run: place %u cannot be started: %s\n", rank,
                             e.what());
                constexpr int k_status = W_EXITCODE(k_exit_cannot_run, 0);
                if (m_children.size() > rank) continue; // it ends by itself
                m_children.push_back({0, k_status, false, false, false});
                m_session.declare_dead(rank, k_status);
            }
        }
    }

    // Of a child that has ended, as from waitpid; its number is kept.
    static std::optional<int> status_of(pid_t process) {
        siginfo_t info{};
        if (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != process)
            return {};
        return info.si_code == CLD_EXITED
                   ? W_EXITCODE(info.si_status, 0)
                   : info.si_status | (info.si_code == CLD_DUMPED ? WCOREFLAG : 0);
    }
    void note_end(unsigned rank, int status) {
        // Pairs with the place's store.
        auto const before = m_session.entry(rank).state.load(std::memory_order_acquire);
        m_children[rank].status = status;
        m_children[rank].took_part = before != net::place_state::absent;
        m_children[rank].has_left = before == net::place_state::left;
        if (!m_children[rank].has_left) m_session.declare_dead(rank, status);
    }
    // The others go on without it.
    [[nodiscard]] bool is_survived(unsigned rank) const noexcept {
        // relaxed: stored before the place took part
        return m_children[rank].took_part &&
               m_session.head().survives_deaths.load(std::memory_order_relaxed) &&
               !m_children[0].status;
    }

    void ended(unsigned rank, int status) {
        bool const has_left = m_children[rank].has_left;
        if (rank == 0) return main_ended(has_left, status);
        if (m_children[rank].is_stopped || (status == 0 && (has_left || is_apart(rank)))) return;
        bool const is_survived = !has_left && this->is_survived(rank);
        char const* const then = has_left      ? ""
                                 : is_survived ? "; the others go on"
                                               : "; the others are stopped";
        std::fprintf(stderr, "tulle: run: place %u: %s%s\n", rank, how(status).c_str(), then);
        if (is_survived) return;
        if (m_code.value_or(0) == 0) m_code = status != 0 ? code_of(status) : k_exit_failed;
        if (!has_left) stop_all(SIGTERM);
    }
    // The others have been told to end, unless it was killed.
    void main_ended(bool has_left, int status) {
        if (!m_code && m_ending_signal != 0 && WIFSIGNALED(status))
            m_code = k_signal_base + m_ending_signal;
        if (!m_code && WIFSIGNALED(status))
            std::fprintf(stderr, "tulle: run: place 0: %s\n", how(status).c_str());
        if (!m_code) m_code = code_of(status);
        if (m_is_stopping) return;
        if (!has_left && (status != 0 || !is_apart(0))) return stop_all(SIGTERM);
        kill_after(k_after_main, SIGTERM);
    }
    [[nodiscard]] bool takes_part(unsigned rank) const noexcept {
        child const& c = m_children[rank];
        return c.status ? c.took_part
                        : m_session.entry(rank).state.load(std::memory_order_relaxed) !=
                              net::place_state::absent; // a snapshot
    }
    // A place that does not use Tulle, like place 0: it runs for itself.
    [[nodiscard]] bool is_apart(unsigned rank) const noexcept {
        return !takes_part(rank) && !takes_part(0);
    }

    void kill_after(std::chrono::milliseconds time, int number) {
        m_kill_at = clock::now() + time;
        m_next_kill = number;
    }
    void kill_next() {
        int const number = *m_next_kill;
        m_next_kill.reset();
        if (!is_alive()) return end_outputs();
        for (unsigned rank = 0; rank < m_children.size(); ++rank)
            if (m_is_stopping || !is_apart(rank)) stop_late(rank, number);
        kill_after(k_patience, SIGKILL);
    }
    void stop_late(unsigned rank, int number) {
        child& c = m_children[rank];
        if (c.status) return;
        if (!c.is_stopped)
            std::fprintf(
                stderr,
                "tulle: run: place %u does not end after place 0 has ended; it is stopped\n", rank);
        c.is_stopped = true;
        kill(c.process, number);
    }
    void stop_all(int number, std::chrono::milliseconds time = k_patience) {
        m_is_stopping = true;
        for (child& c : m_children) c.is_stopped = true;
        send_all(number);
        kill_after(time, SIGKILL);
    }
    void send_all(int number) const noexcept {
        for (child const& c : m_children)
            if (!c.status) kill(c.process, number);
    }
    // A process that still holds the other ends is no place.
    void end_outputs() {
        for (tagged_output& o : m_outputs)
            if (o.is_open()) o.end();
    }
    [[nodiscard]] bool is_alive() const {
        return std::any_of(m_children.begin(), m_children.end(),
                           [](child const& c) { return !c.status; });
    }
    [[nodiscard]] bool has_output() const {
        return std::any_of(m_outputs.begin(), m_outputs.end(),
                           [](tagged_output const& o) { return o.is_open(); });
    }

    places_request const& m_request;
    processor_shares m_processors;
    net::session m_session;
    watched_signals m_signals{SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    rlimit m_limit_before{};
    std::vector<child> m_children;
    std::vector<tagged_output> m_outputs;
    std::optional<int> m_code; // decided
    int m_ending_signal = 0;   // that has told us to end
    bool m_is_stopping = false;
    std::optional<int> m_next_kill;
    clock::time_point m_kill_at;
};

} // namespace

int run_places(places_request const& request) {
    open_standard_streams();
    return places_run(request).run();
}

} // namespace tulle::tool
