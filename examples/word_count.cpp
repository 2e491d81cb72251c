// SPDX-License-Identifier: Apache-2.0
//
// Counts the words of all files below a directory. The files are dealt over the places; each
// returns what it has counted.
#include "common/places.hpp"
#include "common/program.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using namespace examples;

using names = std::vector<std::string>;
using counts = std::map<std::string, long>;

names files_below(std::string const& directory) {
    names found;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(directory))
        if (entry.is_regular_file()) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

counts count_file(std::string const& name) {
    std::ifstream file(name, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read '" + name + "'");
    counts found;
    std::string word;
    for (std::istreambuf_iterator<char> in(file), end; in != end; ++in) {
        if (is_letter(*in)) {
            word += static_cast<char>(*in | 0x20); // small letters
        } else if (!word.empty()) {
            ++found[std::exchange(word, {})];
        }
    }
    if (!word.empty()) ++found[word];
    return found;
}

counts sum(counts a, counts const& b) {
    for (auto const& [word, count] : b) a[word] += count;
    return a;
}

// By all workers of this place.
counts count_files(names const& files) {
    return tulle::parallel_reduce(files.begin(), files.end(), counts(), count_file, sum);
}

counts count_at_all_places(names const& files) {
    std::vector<tulle::future<counts>> under_way;
    for (tulle::place const p : tulle::places()) {
        names dealt;
        for (auto k = static_cast<std::size_t>(p.index()); k < files.size();
             k += static_cast<std::size_t>(tulle::place_count()))
            dealt.push_back(files[k]);
        under_way.push_back(tulle::async_at(
            p, [](names const& some) { return count_files(some); }, dealt));
    }
    counts all;
    for (auto& each : under_way) all = sum(std::move(all), each.get());
    return all;
}

void print(counts const& found, std::size_t most) {
    std::vector<std::pair<long, std::string>> order;
    for (auto const& [word, count] : found) order.emplace_back(-count, word);
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < std::min(most, order.size()); ++k)
        std::printf("%8ld %s\n", -order[k].first, order[k].second.c_str());
}

bool count(std::string const& directory, std::size_t most) {
    names const files = files_below(directory);
    counts const found = count_at_all_places(files);
    print(found, most);
    counts expected;
    for (std::string const& file : files) expected = sum(std::move(expected), count_file(file));
    return found == expected;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Counts the words of all files below a directory.", "word_count"};
    std::string directory;
    std::size_t most = 10;
    line.text("DIRECTORY", directory, "");
    line.require("DIRECTORY");
    line.number("--most", most, "print so many words, the most frequent ones");
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{});
        return count(directory, most) ? k_exit_ok : k_exit_check_failed;
    });
}
