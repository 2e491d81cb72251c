// SPDX-License-Identifier: Apache-2.0
#include "places/job.hpp"

#include "command.hpp"
#include "places/job_words.hpp"
#include "tagged_output.hpp"
#include "watched_signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

using clock = std::chrono::steady_clock;

constexpr int k_ended_by_signal = 128; // as the shell has it
constexpr int k_cannot_start = 126;

// Why a name leads nowhere, as far as this host knows; empty: it leads somewhere.
std::string why_unknown(std::string const& host) {
    addrinfo* found = nullptr;
    int const error = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
    if (error != 0) return gai_strerror(error);
    freeaddrinfo(found);
    return {};
}

// What has become of the places, as far as they have told.
class roll {
public:
    explicit roll(job_request const& request) : m_request(request), m_has_started(request.places) {}

    void note(job_word word) {
        if (word.number >= m_has_started.size()) return;
        if (word.what == job_news::started && !m_has_started[word.number])
            m_has_started[word.number] = true, ++m_started;
        if (word.what == job_news::joined) m_somebody_joined = true;
        if (word.what == job_news::apart && !m_first_apart) m_first_apart = word.number;
    }
    [[nodiscard]] bool all_have_started() const noexcept {
        return m_started == m_has_started.size();
    }
    // One that has ended though others use the library, and wait for it.
    [[nodiscard]] std::optional<unsigned> missed() const noexcept {
        return m_somebody_joined ? m_first_apart : std::nullopt;
    }
    // Those that have not been started, and a word for each host that may be why: "places 1, 3 on
    // b".
    [[nodiscard]] std::string missing() const {
        std::string text = m_started + 1 == m_has_started.size() ? "place" : "places";
        std::set<std::string> hosts;
        std::string separator = " ";
        for (unsigned k = 0; k < m_has_started.size(); ++k) {
            if (m_has_started[k]) continue;
            text += std::exchange(separator, ", ") + std::to_string(k);
            if (k < m_request.hosts.size()) hosts.insert(m_request.hosts[k]);
        }
        separator = " on ";
        for (std::string const& host : hosts) {
            std::string const why = why_unknown(host);
            text += std::exchange(separator, ", ") + host + (why.empty() ? "" : " (" + why + ")");
        }
        return text;
    }

private:
    job_request const& m_request;
    std::vector<bool> m_has_started;
    std::size_t m_started = 0;
    bool m_somebody_joined = false;
    std::optional<unsigned> m_first_apart;
};

class job {
public:
    job(job_request const& request, launcher_watch& watch)
        : m_request(request), m_watch(watch), m_roll(request) {}

    int run() {
        start(m_request.launcher);
        guard_launcher();
        m_watch.begin(); // after the forks, as it has a thread
        while (!m_status || m_errors.is_open()) step();
        write_all(STDERR_FILENO, m_reader.rest(), &m_signals);
        if (*m_status != 0 && !is_over() && !m_roll.all_have_started())
            std::fprintf(stderr, "tulle: run: %s: not started, as %s\n", m_roll.missing().c_str(),
                         what_launcher_says());
        if (m_signal != 0) return k_ended_by_signal + m_signal;
        int const status = *m_status;
        return m_code.value_or(WIFSIGNALED(status) ? k_ended_by_signal + WTERMSIG(status)
                                                   : WEXITSTATUS(status));
    }

private:
    void start(arguments const& launcher) {
        pipe_ends errors = make_pipe();
        pipe_ends refused = make_pipe(); // closed by a successful exec
        pipe_ends input = m_request.has_input ? pipe_ends() : make_pipe();
        pid_t const parent = getpid();
        m_process = fork();
        if (m_process < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (m_process == 0)
            become_launcher(launcher, input.read.get(), errors.write.get(), refused.write.get(),
                            parent);
        errors.write.reset();
        refused.write.reset();
        m_errors = std::move(errors.read);
        m_input = std::move(input.write);
        int why = 0;
        if (read(refused.read.get(), &why, sizeof why) == sizeof why)
            throw failure(k_cannot_start,
                          "run: cannot run '" + launcher.front() + "': " + std::strerror(why));
    }
    // A launcher that has been told to end waits for its daemons, and when a host is gone for ever
    // it waits for ever. Somebody has to be there still when this process has been killed.
    void guard_launcher() {
        descriptor const launcher(static_cast<int>(syscall(SYS_pidfd_open, m_process, 0)));
        pipe_ends life = make_pipe(); // closed when this process ends, whatever ends it
        if (!launcher.is_open() || fork() != 0)
            return static_cast<void>(m_life = std::move(life.write));
        int const nothing = open("/dev/null", O_RDWR);
        // Others wait for the end of these.
        for (int const number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, number);
        life.write.reset();
        m_errors.reset();
        std::array<pollfd, 2> wanted{{{launcher.get(), POLLIN, 0}, {life.read.get(), POLLIN, 0}}};
        while (poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) {}
        if (wanted[0].revents == 0 && poll(wanted.data(), 1, k_patience_ms) == 0)
            syscall(SYS_pidfd_send_signal, launcher.get(), SIGKILL, nullptr, 0);
        _exit(0);
    }
    [[noreturn]] void become_launcher(arguments const& launcher, int input, int errors, int refused,
                                      pid_t parent) const {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // it ends the places then
        if (getppid() != parent) _exit(k_exit_failed);
        m_signals.restore_mask();
        if (input >= 0) dup2(input, STDIN_FILENO);
        dup2(errors, STDERR_FILENO);
        become(launcher);
        int const why = errno;
        static_cast<void>(!write(refused, &why, sizeof why));
        _exit(k_cannot_start);
    }

    void step() {
        std::array<pollfd, 3> wanted{{{m_signals.news(), POLLIN, 0},
                                      {m_errors.is_open() ? m_errors.get() : -1, POLLIN, 0},
                                      {is_over() ? -1 : m_watch.news(), POLLIN, 0}}};
        int const limit_ms = start_limit_ms();
        int const patience = patience_ms();
        int const time_ms =
            limit_ms >= 0 && (patience < 0 || limit_ms < patience) ? limit_ms : patience;
        bool const has_news = poll(wanted.data(), wanted.size(), time_ms) != 0;
        if (!has_news && time_ms == patience) lose_patience();
        if (wanted[1].revents != 0) pass_on();
        if (wanted[0].revents != 0) take_signal();
        judge();
    }
    // Until the limit of the start is reached, or -1: there is none, or it does not matter any
    // more.
    [[nodiscard]] int start_limit_ms() const {
        if (m_request.start_limit.count() == 0 || m_roll.all_have_started() || m_status ||
            is_over())
            return -1;
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(
                              m_began + m_request.start_limit - clock::now())
                              .count();
        return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, k_longest_wait_ms));
    }
    // What no place ends the job for.
    void judge() {
        if (m_status || is_over()) return;
        if (auto const missed = m_roll.missed()) {
            std::fprintf(
                stderr,
                "tulle: run: place %u: exit code 0 before it used Tulle; the others are stopped\n",
                *missed);
            m_code = *missed == 0 ? 0 : k_exit_failed; // that of place 0 is the job's
        } else if (auto const lost = m_watch.lost_host()) {
            std::fprintf(stderr,
                         "tulle: run: host %s has not been heard for %lld s (TULLE_HOST_TIMEOUT); "
                         "the job is stopped\n",
                         lost->c_str(), static_cast<long long>(m_watch.limit().count()));
            m_code = k_exit_failed;
        } else if (start_limit_ms() == 0) {
            std::fprintf(stderr,
                         "tulle: run: %s: not started within %lld s (TULLE_START_TIMEOUT), as %s; "
                         "it is stopped\n",
                         m_roll.missing().c_str(),
                         static_cast<long long>(m_request.start_limit.count()),
                         what_launcher_says());
            m_code = k_exit_failed;
        }
    }
    [[nodiscard]] char const* what_launcher_says() const {
        return m_has_spoken ? "the launcher tells above" : "the launcher does not tell";
    }
    // When a place has told how it ended badly, its launcher should end the others; those of
    // several hosts take seconds, or do not notice at all.
    [[nodiscard]] int patience_ms() const noexcept {
        if (!m_status && m_code && m_next_signal == SIGTERM) return k_patience_after_failure_ms;
        return m_status || is_over() ? k_patience_ms : -1;
    }
    // It has been told to end, or should have noticed.
    [[nodiscard]] bool is_over() const noexcept { return m_signal != 0 || m_code; }
    // Launchers do not always end when something goes wrong. A process that still holds the other
    // end of the pipe when they have is no place.
    void lose_patience() {
        if (m_status) return m_errors.reset();
        kill(m_process, std::exchange(m_next_signal, SIGKILL));
    }
    void pass_on() {
        std::array<char, 65536> buffer;
        ssize_t const got = read(m_errors.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) return;
        if (got <= 0) return m_errors.reset();
        std::string const text = m_reader.take({buffer.data(), static_cast<std::size_t>(got)});
        m_has_spoken |= !text.empty();
        write_all(STDERR_FILENO, text, &m_signals);
        bool const is_written = write_all(STDOUT_FILENO, m_reader.printed(), &m_signals);
        for (job_word const& word : m_reader.words()) {
            m_roll.note(word);
            if (word.what == job_news::exited && !m_code) m_code = static_cast<int>(word.number);
        }
        if (!is_written) m_code = k_exit_failed;
    }
    void take_signal() {
        auto const info = m_signals.take();
        if (!info) return;
        auto const number = static_cast<int>(info->ssi_signo);
        int status = 0;
        if (number == SIGCHLD) {
            if (!m_status && waitpid(m_process, &status, WNOHANG) == m_process) m_status = status;
            return;
        }
        if (number != SIGQUIT) m_signal = number;
        // Which has sent it to the launcher, too. Of a hang-up only the first process of the
        // session hears.
        bool const is_of_terminal = info->ssi_code == SI_KERNEL && number != SIGHUP;
        if (!m_status && !is_of_terminal) kill(m_process, number);
    }

    static constexpr int k_patience_ms = 3000;
    static constexpr int k_patience_after_failure_ms = 1000; // without output
    static constexpr int k_longest_wait_ms = 1'000'000;

    job_request const& m_request;
    launcher_watch& m_watch;
    roll m_roll;
    clock::time_point m_began = clock::now();
    watched_signals m_signals{SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    descriptor m_errors;
    descriptor m_input; // of the launcher, which must not end before the launcher does
    descriptor m_life;
    pid_t m_process = 0;
    job_words_reader m_reader;
    bool m_has_spoken = false;   // the launcher, or a place
    std::optional<int> m_code;   // of the job, which somebody has ended
    std::optional<int> m_status; // as from waitpid
    int m_signal = 0;            // that has ended the job
    int m_next_signal = SIGTERM; // for a launcher that does not end
};

} // namespace

bool wants_survivors() {
    char const* const asked = std::getenv("TULLE_ON_PLACE_DEATH"); // NOLINT(concurrency-mt-unsafe)
    return asked != nullptr && std::string_view(asked) == "throw";
}

int run_job(job_request const& request, launcher_watch& watch) { return job(request, watch).run(); }

} // namespace tulle::tool
