// SPDX-License-Identifier: Apache-2.0
#include "places/job_place.hpp"

#include "command.hpp"
#include "membership/place_report.hpp"
#include "places/job_words.hpp"
#include "places/launcher_lease.hpp"
#include "watched_signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

using news_of_place = membership::place_news;

constexpr int k_signals_begin = 128; // as the shell has it
constexpr int k_cannot_run = 126;
constexpr int k_not_found = 127;
constexpr std::array<std::string_view, 3> k_daemons{"hydra_pmi_proxy", "orted", "prted"};
constexpr useconds_t k_before_daemon_ends_us = 500'000;
constexpr int k_last_words_ms = 1000; // for another process that holds the program's output
constexpr std::chrono::seconds k_patience_with_launcher{1}; // until it answers

unsigned own_place() {
    for (char const* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
        if (char const* const value = std::getenv(name))
            return static_cast<unsigned>(std::atoi(value)); // NOLINT(concurrency-mt-unsafe)
    throw failure(k_exit_usage, "run: --place-of-job is for the launchers of MPIs");
}

// What the program may be started by can close descriptors, so the pipe is told by its number in
// the file system, too.
void let_tell(int pipe) {
    struct stat found {};
    if (fstat(pipe, &found) != 0 || fcntl(pipe, F_SETFD, 0) != 0) return;
    setenv("TULLE_REPORT", (std::to_string(pipe) + "/" + std::to_string(found.st_ino)).c_str(),
           1); // NOLINT(concurrency-mt-unsafe)
}

class job_place {
public:
    job_place(arguments const& words, tagging tags, bool has_input, bool whole_lines,
              std::chrono::seconds host_limit)
        : m_words(words),
          m_tags(tags),
          m_place(own_place()),
          m_has_input(has_input && m_place == 0),
          m_whole_lines(whole_lines && tags != tagging::none && keep_writes_apart(STDERR_FILENO)),
          m_lease(host_limit) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // what has started us sometimes ends without a word
    }

    int run() {
        start();
        m_lease.begin(); // after the fork, as it has a thread
        tell_started();
        while (!m_status && !m_lease.is_lost()) step(-1);
        if (!m_status) return end_without_launcher();
        read_rest_of_report();
        while (has_output() && step(k_last_words_ms)) {}
        for (tagged_output& o : m_outputs)
            if (o.is_open()) o.end();
        int const code = judge();
        if (has_told(news_of_place::host_is_lost)) end_daemon();
        return code;
    }

private:
    // Who knows that all places have been started does not wait for that any more, so until then
    // the launcher's host must have heard of this one. It is told anyway where no datagram passes.
    void tell_started() {
        using std::chrono::steady_clock;
        auto const end = steady_clock::now() + k_patience_with_launcher;
        for (auto now = steady_clock::now(); !m_status && m_lease.is_expected() && now < end;
             now = steady_clock::now())
            step(static_cast<int>(
                     std::chrono::duration_cast<std::chrono::milliseconds>(end - now).count()) +
                 1);
        tell(job_news::started, m_place);
    }
    void start() {
        pipe_ends out =
            m_whole_lines || is_piped(m_tags, m_place, STDOUT_FILENO) ? make_pipe() : pipe_ends();
        pipe_ends err = is_piped(m_tags, m_place, STDERR_FILENO) ? make_pipe() : pipe_ends();
        pipe_ends error = make_pipe(); // closed by a successful exec
        pipe_ends report = make_pipe();
        pid_t const parent = getpid();
        m_process = fork();
        if (m_process < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (m_process == 0)
            become_program(out.write.get(), err.write.get(), error.write.get(), report.write.get(),
                           parent);
        error.write.reset();
        m_report = std::move(report.read);
        if (out.read.is_open() && m_whole_lines)
            m_outputs.emplace_back(
                m_tags, m_place, std::move(out.read), [this](std::string_view text) {
                    return write_printed(STDERR_FILENO, m_place, text, m_signals);
                });
        else if (out.read.is_open())
            m_outputs.emplace_back(m_tags, m_place, std::move(out.read), STDOUT_FILENO, m_signals);
        if (err.read.is_open())
            m_outputs.emplace_back(m_tags, m_place, std::move(err.read), STDERR_FILENO, m_signals);
        int why = 0;
        if (read(error.read.get(), &why, sizeof why) != sizeof why) return;
        tell(job_news::started, m_place); // itself
        throw failure(why == ENOENT ? k_not_found : k_cannot_run,
                      "run: place " + std::to_string(m_place) + " cannot run '" + m_words.front() +
                          "': " + std::strerror(why));
    }
    [[noreturn]] void become_program(int out, int err, int error, int report, pid_t parent) const {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with us, whatever ends us
        if (getppid() != parent) _exit(k_exit_failed);
        m_signals.restore_mask();
        if (out >= 0) dup2(out, STDOUT_FILENO);
        if (err >= 0) dup2(err, STDERR_FILENO);
        if (!m_has_input) dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        let_tell(report);
        become(m_words);
        int const why = errno;
        static_cast<void>(!write(error, &why, sizeof why));
        _exit(k_cannot_run);
    }

    // False: nothing has happened in this time.
    bool step(int time_ms) {
        std::vector<pollfd> wanted{{m_signals.news(), POLLIN, 0},
                                   {m_report.is_open() ? m_report.get() : -1, POLLIN, 0},
                                   {m_lease.news(), POLLIN, 0}};
        std::size_t const first_output = wanted.size();
        for (tagged_output const& o : m_outputs)
            wanted.push_back({o.is_open() ? o.from() : -1, POLLIN, 0});
        bool const has_beginning =
            std::any_of(m_outputs.begin(), m_outputs.end(),
                        [](tagged_output const& o) { return o.has_beginning(); });
        int const ready = poll(wanted.data(), wanted.size(),
                               has_beginning ? tagged_output::k_patience_with_lines_ms : time_ms);
        if (ready == 0 && has_beginning) {
            for (tagged_output& o : m_outputs)
                if (o.has_beginning()) o.pass_beginning();
            return true;
        }
        for (std::size_t k = 0; k < m_outputs.size(); ++k)
            if ((wanted[k + first_output].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
                m_outputs[k].read_some();
        if (wanted[1].revents != 0) read_report();
        if (wanted[2].revents != 0) m_lease.take_news();
        if ((wanted[0].revents & POLLIN) != 0) take_signal();
        return ready != 0;
    }
    void take_signal() {
        auto const info = m_signals.take();
        if (!info) return;
        auto const number = static_cast<int>(info->ssi_signo);
        if (number != SIGCHLD) {
            m_is_stopped |= number != SIGQUIT && number != SIGUSR1 && number != SIGUSR2;
            if (!m_status) kill(m_process, number);
            return;
        }
        int status = 0;
        if (!m_status && waitpid(m_process, &status, WNOHANG) == m_process) m_status = status;
    }

    // What its library tells.
    void read_report() {
        std::array<char, 16> news{};
        ssize_t const got = read(m_report.get(), news.data(), news.size());
        if (got <= 0) return m_report.reset();
        for (char const each : std::string_view(news.data(), static_cast<std::size_t>(got))) {
            if (each == static_cast<char>(news_of_place::joined)) tell(job_news::joined, m_place);
            m_news += each;
        }
    }
    // What has been told before it ended; programs that it has started may hold the other end.
    void read_rest_of_report() {
        pollfd wanted{m_report.get(), POLLIN, 0};
        while (m_report.is_open() && poll(&wanted, 1, 0) == 1) read_report();
    }
    [[nodiscard]] bool has_told(news_of_place news) const {
        return m_news.find(static_cast<char>(news)) != std::string::npos;
    }
    static void tell(job_news news, unsigned number) {
        write_all(STDERR_FILENO, text_of({news, number}));
    }

    // One that has taken part and has not left as it should is missed, whatever its exit code is.
    [[nodiscard]] int judge() const {
        int const status = *m_status;
        bool const took_part = has_told(news_of_place::joined);
        bool const is_missed = status == 0 && took_part && !has_told(news_of_place::left);
        bool const is_told = m_place == 0 && !WIFSIGNALED(status); // its exit code is the job's
        bool const go_on =
            // Until it tells so they wait for it, and do not hear of its death.
            m_place != 0 && has_told(news_of_place::others_go_on);
        int code = WIFSIGNALED(status) ? k_signals_begin + WTERMSIG(status) : WEXITSTATUS(status);
        if (is_missed && !is_told) code = k_exit_failed;
        if (m_is_stopped) return go_on || is_told ? 0 : code;
        if (status == 0 && !took_part) tell(job_news::apart, m_place);
        if (code != 0 && !is_told) {
            outcome how;
            how.status = status;
            std::fprintf(stderr, "tulle: run: place %u: %s; the others %s\n", m_place,
                         how.reason().c_str(), go_on ? "go on" : "are stopped");
        }
        if (go_on) return 0;
        if (code != 0 || is_missed) tell(job_news::exited, static_cast<unsigned>(code));
        return is_told ? 0 : code; // which a launcher takes for a failure of the job
    }
    // The launcher's host is lost.
    int end_without_launcher() {
        std::fprintf(stderr,
                     "tulle: run: the launcher's host %s has not been heard for %lld s "
                     "(TULLE_HOST_TIMEOUT), and nobody takes what place %u prints; it ends\n",
                     m_lease.launchers_host().c_str(),
                     static_cast<long long>(m_lease.limit().count()), m_place);
        kill(m_process, SIGKILL);
        end_daemon();
        return k_exit_failed;
    }
    // What the launcher has started on this host waits for it, which is not there any more.
    static void end_daemon() {
        pid_t const daemon = getppid();
        std::ifstream file("/proc/" + std::to_string(daemon) + "/comm");
        std::string name;
        std::getline(file, name);
        if (std::find(k_daemons.begin(), k_daemons.end(), name) == k_daemons.end()) return;
        for (int const number : {SIGTERM, SIGKILL}) {
            usleep(k_before_daemon_ends_us);
            if (getppid() == daemon) kill(daemon, number);
        }
    }
    [[nodiscard]] bool has_output() const {
        return std::any_of(m_outputs.begin(), m_outputs.end(),
                           [](tagged_output const& o) { return o.is_open(); });
    }

    arguments const& m_words;
    tagging m_tags;
    unsigned m_place;
    bool m_has_input;
    bool m_whole_lines;
    watched_signals m_signals{SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    descriptor m_report; // what the library tells (membership/place_report.hpp)
    std::string m_news;  // of this
    pid_t m_process = 0;
    std::vector<tagged_output> m_outputs;
    std::optional<int> m_status; // as from waitpid
    bool m_is_stopped = false;   // so how it ends is the launcher's doing
    launcher_lease m_lease;
};

} // namespace

int run_job_place(arguments const& words, tagging tags, bool has_input, bool whole_lines,
                  std::chrono::seconds host_limit) {
    return job_place(words, tags, has_input, whole_lines, host_limit).run();
}

} // namespace tulle::tool
