// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include "command.hpp"
#include "tagged_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

constexpr std::string_view k_words_begin = "\x1etulle-exit:"; // a record separator, so that no program prints it by chance
constexpr char k_words_end = '\n';                            // launchers hold back what is no line yet
constexpr int k_ended_by_signal = 128;                        // as the shell has it
constexpr int k_cannot_start = 126;

class job {
public:
    job() {
        sigset_t watched;
        sigemptyset(&watched);
        for (int const number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&watched, number);
        std::signal(SIGCHLD, SIG_DFL);
        sigprocmask(SIG_BLOCK, &watched, &m_mask_before);
        m_signals = descriptor(signalfd(-1, &watched, SFD_CLOEXEC));
        if (!m_signals.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
    }

    int run(arguments const& launcher) {
        start(launcher);
        while (!m_status || m_errors.is_open()) step();
        write_all(STDERR_FILENO, m_reader.rest());
        if (m_signal != 0) return k_ended_by_signal + m_signal;
        int const status = *m_status;
        return m_reader.code().value_or(WIFSIGNALED(status) ? k_ended_by_signal + WTERMSIG(status) : WEXITSTATUS(status));
    }

private:
    void start(arguments const& launcher) {
        pipe_ends errors = make_pipe();
        pipe_ends refused = make_pipe(); // closed by a successful exec
        pid_t const parent = getpid();
        m_process = fork();
        if (m_process < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (m_process == 0) become_launcher(launcher, errors.write.get(), refused.write.get(), parent);
        errors.write.reset();
        refused.write.reset();
        m_errors = std::move(errors.read);
        int why = 0;
        if (read(refused.read.get(), &why, sizeof why) == sizeof why)
            throw failure(k_cannot_start, "run: cannot run '" + launcher.front() + "': " + std::strerror(why));
    }
    [[noreturn]] void become_launcher(arguments const& launcher, int errors, int refused, pid_t parent) const {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // it ends the places then
        if (getppid() != parent) _exit(k_exit_failed);
        sigprocmask(SIG_SETMASK, &m_mask_before, nullptr);
        dup2(errors, STDERR_FILENO);
        become(launcher);
        int const why = errno;
        static_cast<void>(!write(refused, &why, sizeof why));
        _exit(k_cannot_start);
    }

    void step() {
        std::array<pollfd, 2> wanted{{{m_signals.get(), POLLIN, 0}, {m_errors.is_open() ? m_errors.get() : -1, POLLIN, 0}}};
        if (poll(wanted.data(), wanted.size(), patience_ms()) == 0) lose_patience();
        if (wanted[1].revents != 0) pass_on();
        if (wanted[0].revents != 0) take_signal();
    }
    // When a place has told how it ended badly, its launcher should end the others; those of several hosts take seconds, or do not notice at all.
    [[nodiscard]] int patience_ms() const noexcept {
        if (!m_status && m_reader.code() && m_next_signal == SIGTERM) return k_patience_after_failure_ms;
        return m_status || is_over() ? k_patience_ms : -1;
    }
    // It has been told to end, or should have noticed.
    [[nodiscard]] bool is_over() const noexcept { return m_signal != 0 || m_reader.code(); }
    // Launchers do not always end when something goes wrong. Whoever still holds the other end of the pipe when they have is no place.
    void lose_patience() {
        if (m_status) return m_errors.reset();
        kill(m_process, std::exchange(m_next_signal, SIGKILL));
    }
    void pass_on() {
        std::array<char, 65536> buffer;
        ssize_t const got = read(m_errors.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) return;
        if (got <= 0) return m_errors.reset();
        write_all(STDERR_FILENO, m_reader.take({buffer.data(), static_cast<std::size_t>(got)}));
    }
    void take_signal() {
        signalfd_siginfo info{};
        if (read(m_signals.get(), &info, sizeof info) != sizeof info) return;
        auto const number = static_cast<int>(info.ssi_signo);
        int status = 0;
        if (number == SIGCHLD) {
            if (!m_status && waitpid(m_process, &status, WNOHANG) == m_process) m_status = status;
            return;
        }
        if (number != SIGQUIT) m_signal = number;
        bool const is_of_terminal = info.ssi_code == SI_KERNEL; // which has sent it to the launcher, too
        if (!m_status && !is_of_terminal) kill(m_process, number);
    }

    static constexpr int k_patience_ms = 3000;
    static constexpr int k_patience_after_failure_ms = 200; // without output

    sigset_t m_mask_before{};
    descriptor m_signals;
    descriptor m_errors;
    pid_t m_process = 0;
    exit_words_reader m_reader;
    std::optional<int> m_status; // as from waitpid
    int m_signal = 0;            // that has ended the job
    int m_next_signal = SIGTERM; // for a launcher that does not end
};

} // namespace

bool wants_survivors() {
    char const* const asked = std::getenv("TULLE_ON_PLACE_DEATH"); // NOLINT(concurrency-mt-unsafe)
    return asked != nullptr && std::string_view(asked) == "throw";
}

std::string exit_words(int code) { return std::string(k_words_begin) + std::to_string(code) + k_words_end; }

std::string exit_words_reader::take(std::string const& part) {
    std::string out;
    m_rest += part;
    for (;;) {
        std::size_t const begin = std::min(m_rest.find(k_words_begin.front()), m_rest.size());
        out.append(m_rest, 0, begin);
        m_rest.erase(0, begin);
        std::size_t const compared = std::min(m_rest.size(), k_words_begin.size());
        if (m_rest.compare(0, compared, k_words_begin, 0, compared) != 0) { // somebody else's character
            out += m_rest.front();
            m_rest.erase(0, 1);
            continue;
        }
        std::size_t const end = m_rest.find(k_words_end);
        if (end == std::string::npos) return out;
        note(std::string_view(m_rest).substr(k_words_begin.size(), end - k_words_begin.size()));
        m_rest.erase(0, end + 1);
    }
}

void exit_words_reader::note(std::string_view number) noexcept {
    int code = 0;
    std::from_chars(number.data(), number.data() + number.size(), code);
    if (!m_code && code != 0) m_code = code;
}

int run_job(arguments const& launcher) { return job().run(launcher); }

} // namespace tulle::tool
