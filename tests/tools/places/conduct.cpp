// SPDX-License-Identifier: Apache-2.0
// A program of several places that behaves as its first argument says; the second one is a place,
// an exit code, or a number of bytes. Driven by places_test.py.
#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;

int number = 0;   // the second argument
std::string word; // the third one

tulle::place chosen() { return tulle::place(number); }

void say(std::string const& text) {
    std::printf("%s", text.c_str());
    std::fflush(stdout);
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

double processor_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// At every place, one after the other.
template <class F, class... A> void everywhere(F f, A... arguments) {
    for (tulle::place const p : tulle::places()) tulle::at(p, f, arguments...);
}

int count() {
    int mask = 0;
    for (tulle::place const p : tulle::places())
        mask += tulle::at(p, [] { return 1 << tulle::here().index(); });
    std::printf("%d places, mask %d\n", tulle::place_count(), mask);
    return number;
}

// One place ends, and nobody expects it.
int exits() {
    tulle::at(chosen(), [] { std::_Exit(5); });
    return EXIT_SUCCESS;
}
int leaves() {
    tulle::at(chosen(), [] { std::_Exit(0); });
    return EXIT_SUCCESS;
}
int aborts() {
    tulle::at(chosen(), [] { std::abort(); });
    return EXIT_SUCCESS;
}
int is_killed() {
    tulle::at(chosen(), [] {
        say("last words\nand half a li");
        std::raise(SIGKILL);
    });
    return EXIT_SUCCESS;
}

void end_as(std::string const& how) {
    if (how == "exits") std::_Exit(5);
    if (how == "aborts") std::abort();
    std::raise(SIGKILL);
}

std::atomic<int> ended{0}; // at each place its own
void end_after_the_death(int dead) {
    while (!tulle::place(dead).is_dead()) tulle::this_thread::yield();
    ++ended;
}

// The others go on.
int survives() {
    std::uint64_t lost = 0;
    try {
        tulle::finish([](tulle::activities& all) {
            for (tulle::place const p : tulle::places())
                for (int k = 0; k < 10 && p != chosen(); ++k)
                    all.async_at(
                        p, [](int dead) { end_after_the_death(dead); }, number);
            all.async_at(
                chosen(), [](std::string const& how) { end_as(how); }, word);
        });
    } catch (tulle::dead_place const& e) {
        lost = e.lost();
        std::printf("%s\n", e.what());
    }
    try {
        tulle::at(chosen(), [] {});
    } catch (tulle::dead_place const& e) {
        std::printf("call: place %d\n", e.place());
    }
    int sum = 0;
    std::string left;
    for (tulle::place const p : tulle::places()) {
        if (p.is_dead()) continue;
        sum += tulle::at(p, [] { return ended.load(); });
        left += " " + std::to_string(p.index());
    }
    std::printf("finish: place %d, %d lost, %d ended\nleft:%s\n", number, static_cast<int>(lost),
                sum, left.c_str());
    return EXIT_SUCCESS;
}
// A place that takes what another one has forked dies of it; the others take the rest.
void die_elsewhere(int home) {
    if (tulle::here().index() != home) std::raise(SIGKILL);
}
int forks_to_the_dead() {
    for (int left = tulle::place_count() - 1; left != 0;) {
        auto child = tulle::global_fork<&die_elsewhere>(0);
        tulle::this_thread::sleep_for(1ms);
        try {
            child.join();
        } catch (tulle::dead_place const& e) {
            std::printf("%s\n", e.what());
            --left;
        }
    }
    return EXIT_SUCCESS;
}
int goes_on() {
    everywhere([] {});
    say("ready\n");
    while (!chosen().is_dead()) tulle::this_thread::sleep_for(1ms);
    say("place " + std::to_string(number) + " is dead\n");
    return EXIT_SUCCESS;
}

// After place 0 has ended.
int hangs_at_exit() {
    tulle::at(chosen(), [] {
        std::signal(SIGTERM, SIG_IGN);
        std::atexit([] { std::this_thread::sleep_for(1h); });
    });
    return EXIT_SUCCESS;
}
int fails_at_exit() {
    tulle::at(chosen(), [] { std::atexit([] { std::_Exit(23); }); });
    return EXIT_SUCCESS;
}

int prints() {
    everywhere([] { say("one\ntwo\n"); });
    everywhere([] { std::fputs("wrong\n", stderr); });
    return EXIT_SUCCESS;
}
int prints_no_newline() {
    everywhere([] { say("unended " + std::to_string(tulle::here().index())); });
    return EXIT_SUCCESS;
}
int prints_long_lines() {
    everywhere(
        [](int bytes) { say(std::string(static_cast<std::size_t>(bytes), 'x') + "\nshort\n"); },
        number);
    return EXIT_SUCCESS;
}
// All at the same time, as much as fits into a buffer at once.
int prints_many_lines() {
    tulle::finish([](tulle::activities& all) {
        for (tulle::place const p : tulle::places())
            all.async_at(
                p,
                [](int lines) {
                    std::string const line(70, static_cast<char>('a' + tulle::here().index()));
                    for (int k = 0; k < lines; ++k) std::printf("%s\n", line.c_str());
                    std::fflush(stdout);
                },
                number);
    });
    return EXIT_SUCCESS;
}
int asks() {
    say("name? ");
    int const answer = std::getchar();
    say(std::string("it is ") + static_cast<char>(answer) + "\n");
    return EXIT_SUCCESS;
}
int prints_for_ever() {
    for (;;) everywhere([] { say("again\n"); });
}

int workers() {
    everywhere([] { say(std::to_string(tulle::worker_count()) + "\n"); });
    return EXIT_SUCCESS;
}
// Of each OS thread of this place: its name, or main, and what the system says of that field.
std::vector<std::pair<std::string, std::string>> os_threads(std::string const& field) {
    std::vector<std::pair<std::string, std::string>> all;
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(task.path() / "status");
        std::string name;
        for (std::string line; std::getline(status, line);) {
            if (line.rfind("Name:", 0) == 0)
                name = task.path().filename() == std::to_string(getpid()) ? "main" : line.substr(6);
            if (line.rfind(field, 0) == 0) all.emplace_back(name, line.substr(field.size() + 1));
        }
    }
    return all;
}
void say_of_os_threads(std::string const& field) {
    for (auto const& [name, value] : os_threads(field))
        say(std::to_string(tulle::here().index()) + " " + name + " " + value + "\n");
}
int processors() {
    everywhere([] { say_of_os_threads("Cpus_allowed_list:"); });
    return EXIT_SUCCESS;
}
// The library's; the C library blocks all signals of an OS thread until it begins.
bool have_all_begun() {
    for (auto const& [name, mask] : os_threads("SigBlk:"))
        if (name.rfind("tulle-", 0) == 0 &&
            (std::stoull(mask, nullptr, 16) >> (SIGSEGV - 1) & 1U) != 0)
            return false;
    return true;
}
int blocked_signals() {
    everywhere([] {
        for (int tries = 0; tries < 1000 && !have_all_begun(); ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        say_of_os_threads("SigBlk:");
    });
    return EXIT_SUCCESS;
}
int hosts() {
    for (tulle::place const p : tulle::places())
        std::printf("%d: %s\n", p.index(), tulle::at(p, [] { return host_name(); }).c_str());
    return EXIT_SUCCESS;
}

// Processor time that each place uses while all wait, for so many seconds.
int idle_time() {
    auto const used = [] {
        std::vector<double> times;
        for (tulle::place const p : tulle::places())
            times.push_back(tulle::at(p, [] { return processor_seconds(); }));
        return times;
    };
    used();
    std::this_thread::sleep_for(500ms);
    std::vector<double> const before = used();
    std::this_thread::sleep_for(std::chrono::seconds(number));
    std::vector<double> const after = used();
    for (std::size_t k = 0; k < before.size(); ++k) std::printf("%.4f\n", after[k] - before[k]);
    return EXIT_SUCCESS;
}

// How long so many rounds of calls of all places take, and so many barriers, in milliseconds.
double milliseconds_of(void (*what)()) {
    auto const begin = std::chrono::steady_clock::now();
    for (int k = 0; k < number; ++k) what();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}
int takes_time() {
    everywhere([] {});
    std::printf("calls %.3f\n", milliseconds_of([] { everywhere([] {}); }));
    std::fflush(stdout);
    auto const meet = [](int times) {
        for (int k = 0; k < times; ++k) tulle::team().barrier();
    };
    tulle::finish([meet](tulle::activities& all) {
        for (tulle::place const p : tulle::places())
            if (p != tulle::here()) all.async_at(p, meet, number);
        std::printf("barriers %.3f\n", milliseconds_of([] { tulle::team().barrier(); }));
    });
    return EXIT_SUCCESS;
}

int starts_itself() {
    return std::system(("/proc/" + std::to_string(getpid()) + "/exe count").c_str()) == 0
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}

std::string input() {
    std::string text;
    for (int c = std::getchar(); c != EOF; c = std::getchar()) text += static_cast<char>(c);
    return text;
}
int reads() {
    for (tulle::place const p : tulle::places())
        std::printf("%d: '%s'\n", p.index(), tulle::at(p, [] { return input(); }).c_str());
    return EXIT_SUCCESS;
}
// Until its input ends.
int waits() {
    everywhere([] {});
    say("ready\n");
    input();
    return number;
}
int ignores_signals() {
    everywhere([] {
        for (int const signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
    });
    return waits();
}

// Whether this process is to be that place; asked before it uses Tulle, so of what its launcher
// tells the library.
bool will_be(int place) {
    for (char const* const name : {"TULLE_PLACE", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
        if (char const* const assignment = std::getenv(name)) return std::atoi(assignment) == place;
    return false;
}

int conduct(std::string const& how) {
    static std::map<std::string, int (*)()> const s_all{
        {"count", &count},
        {"exits", &exits},
        {"leaves", &leaves},
        {"aborts", &aborts},
        {"is-killed", &is_killed},
        {"survives", &survives},
        {"forks-to-the-dead", &forks_to_the_dead},
        {"goes-on", &goes_on},
        {"hangs-at-exit", &hangs_at_exit},
        {"fails-at-exit", &fails_at_exit},
        {"prints", &prints},
        {"prints-no-newline", &prints_no_newline},
        {"prints-long-lines", &prints_long_lines},
        {"prints-many-lines", &prints_many_lines},
        {"asks", &asks},
        {"prints-for-ever", &prints_for_ever},
        {"reads", &reads},
        {"waits", &waits},
        {"workers", &workers},
        {"processors", &processors},
        {"blocked-signals", &blocked_signals},
        {"hosts", &hosts},
        {"idle-time", &idle_time},
        {"takes-time", &takes_time},
        {"starts-itself", &starts_itself},
        {"ignores-signals", &ignores_signals},
    };
    tulle::initialize();
    return s_all.at(how)();
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return EXIT_FAILURE;
    std::string const how = argv[1];
    number = argc > 2 ? std::atoi(argv[2]) : 0;
    word = argc > 3 ? argv[3] : "";
    if (how == "exits-early") return will_be(number) ? 6 : conduct("count");
    if (how == "is-killed-early") return will_be(number) ? std::raise(SIGKILL) : conduct("count");
    if (how == "never-takes-part") return will_be(number) ? EXIT_SUCCESS : conduct("count");
    // Does something else first.
    if (how == "is-late" && will_be(number)) std::this_thread::sleep_for(400ms);
    return conduct(how == "is-late" ? "count" : how);
}
