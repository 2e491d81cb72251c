// SPDX-License-Identifier: Apache-2.0
// Global memory of another place. Started alone, the program starts itself with `tulle run`.
#include "../common/libraries/tulle.hpp"
#include "onesided.hpp"

#include <tulle/tulle.hpp>

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace tulle::bench {
namespace {

class other_place {
public:
    other_place()
        : m_word(allocate_global_at<std::uint64_t>(place(1))),
          m_bytes(allocate_global_at<unsigned char>(place(1), k_copied)) {
        std::vector<unsigned char> const sevens(k_copied, 7);
        write(std::span(sevens), m_bytes);
    }
    ~other_place() {
        free_global(m_word);
        free_global(m_bytes);
    }
    [[nodiscard]] std::uint64_t get() const { return m_word.load(); }
    void put(std::uint64_t value) const { m_word.store(value); }
    void fetch_add(std::uint64_t value) const { tulle::fetch_add(m_word, value); }
    [[nodiscard]] bool compare_exchange(std::uint64_t expected, std::uint64_t desired) const {
        return tulle::compare_exchange(m_word, expected, desired);
    }
    void copy(unsigned char* to) const { read(m_bytes, std::span(to, k_copied)); }

private:
    global_ptr<std::uint64_t> m_word;
    global_ptr<unsigned char> m_bytes;
};

[[noreturn]] void start_two_places(char** argv) {
    auto const self = std::filesystem::read_symlink("/proc/self/exe");
    std::string const tulle = self.parent_path() / "../../bin/tulle";
    std::vector<char const*> words{tulle.c_str(), "run",        "-n",       "2",
                                   "--",          self.c_str(), "onesided", "tulle"};
    for (char** word = argv + 1; *word != nullptr; ++word) words.push_back(*word);
    words.push_back(nullptr);
    execv(tulle.c_str(),
          const_cast<char**>(
              words.data())); // NOLINT(cppcoreguidelines-pro-type-const-cast): as execv has it
    std::perror(tulle.c_str());
    std::exit(2);
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {2'000'000, 100'000});
    if (std::getenv("TULLE_PLACE") == nullptr) start_two_places(argv);
    tulle_runtime library(s.workers);
    std::vector<figure> figures;
    library.run([&] {
        other_place there;
        figures = measure_one_sided(there, s);
    });
    return print_all("onesided", "tulle", s, figures);
}

} // namespace

benchmark const registered("onesided", "tulle", run);

} // namespace tulle::bench
