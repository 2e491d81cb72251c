// SPDX-License-Identifier: Apache-2.0
// A program of several places that behaves as its first argument says; the second one is a place, an exit code, or a number of bytes. Driven
// by places_test.py.
#include <tulle/tulle.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

int number = 0; // the second argument

tulle::place chosen() { return tulle::place(number); }

void say(std::string const& text) {
    std::printf("%s", text.c_str());
    std::fflush(stdout);
}

// At every place, one after the other.
template <class F, class... A> void everywhere(F f, A... arguments) {
    for (tulle::place const p : tulle::places()) tulle::at(p, f, arguments...);
}

int count() {
    int mask = 0;
    for (tulle::place const p : tulle::places()) mask += tulle::at(p, [] { return 1 << tulle::here().index(); });
    std::printf("%d places, mask %d\n", tulle::place_count(), mask);
    return number;
}

// One place ends, and nobody expects it.
int exits() {
    tulle::at(chosen(), [] { std::_Exit(5); });
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
    everywhere([](int bytes) { say(std::string(static_cast<std::size_t>(bytes), 'x') + "\nshort\n"); }, number);
    return EXIT_SUCCESS;
}
int prints_for_ever() {
    for (;;) everywhere([] { say("again\n"); });
}

std::string input() {
    std::string text;
    for (int c = std::getchar(); c != EOF; c = std::getchar()) text += static_cast<char>(c);
    return text;
}
int reads() {
    for (tulle::place const p : tulle::places()) std::printf("%d: '%s'\n", p.index(), tulle::at(p, [] { return input(); }).c_str());
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

// Whether this process is to be that place; asked before it uses Tulle, so of what `tulle run` tells the library.
bool will_be(int place) {
    char const* const assignment = std::getenv("TULLE_PLACE");
    return assignment != nullptr && std::atoi(assignment) == place;
}

int conduct(std::string const& how) {
    static std::map<std::string, int (*)()> const s_all{
        {"count", &count},
        {"exits", &exits},
        {"aborts", &aborts},
        {"is-killed", &is_killed},
        {"hangs-at-exit", &hangs_at_exit},
        {"fails-at-exit", &fails_at_exit},
        {"prints", &prints},
        {"prints-no-newline", &prints_no_newline},
        {"prints-long-lines", &prints_long_lines},
        {"prints-for-ever", &prints_for_ever},
        {"reads", &reads},
        {"waits", &waits},
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
    if (how == "exits-early") return will_be(number) ? 6 : conduct("count");
    if (how == "is-killed-early") return will_be(number) ? std::raise(SIGKILL) : conduct("count");
    if (how == "never-takes-part") return will_be(number) ? EXIT_SUCCESS : conduct("count");
    return conduct(how);
}
