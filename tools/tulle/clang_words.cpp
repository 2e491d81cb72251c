// SPDX-License-Identifier: Apache-2.0
#include "clang_words.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::tool {

namespace {

// With one of these clang stops before it links, or only tells something.
constexpr std::array<std::string_view, 20> k_no_link{"-c",
                                                     "-S",
                                                     "-E",
                                                     "-M",
                                                     "-MM",
                                                     "-fsyntax-only",
                                                     "--version",
                                                     "-dumpversion",
                                                     "-dumpmachine",
                                                     "-###",
                                                     "--help",
                                                     "-r",
                                                     "-emit-ast",
                                                     "--precompile",
                                                     "--compile",
                                                     "--assemble",
                                                     "--preprocess",
                                                     "--analyze",
                                                     "--dependencies",
                                                     "--user-dependencies"};

// What these make lies at no fixed address.
constexpr std::array<std::string_view, 4> k_no_program{"-shared", "--shared", "-static-pie", "-r"};

// With these the next word is their value, and no file to compile.
constexpr std::array<std::string_view, 36> k_with_value{
    "-o",         "--output",  "-x",        "--language",   "-I",          "-L",
    "-D",         "-U",        "-l",        "-u",           "-z",          "-T",
    "-e",         "-include",  "-imacros",  "-isystem",     "-iquote",     "-idirafter",
    "-iprefix",   "-isysroot", "--sysroot", "-iwithprefix", "-MF",         "-MT",
    "-MQ",        "-MJ",       "-Xclang",   "-Xlinker",     "-Xassembler", "-Xpreprocessor",
    "-Xanalyzer", "-target",   "--param",   "-mllvm",       "-arch",       "-B"};

// What clang compiles to a header ahead of others, and does not link.
constexpr std::array<std::string_view, 7> k_ends_of_headers{".h",   ".H",   ".hh", ".hp",
                                                            ".hpp", ".hxx", ".h++"};

template <class Words> bool is_any_of(Words const& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// An option with its value, or, without an option, a file to compile or to link.
struct clang_word {
    std::string_view option;
    std::string_view value;
};

// Of those with a value in the same word these matter here.
clang_word part_with_value(std::string_view word) {
    for (std::string_view const name : {"--output=", "--language="})
        if (word.starts_with(name)) return {name[2] == 'o' ? "-o" : "-x", word.substr(name.size())};
    for (std::string_view const name : {"-o", "-x"})
        if (word.starts_with(name) && word != name) return {name, word.substr(name.size())};
    return {word, {}};
}

// The next word of a response file, which may be quoted in part.
std::optional<std::string> next_word(std::string_view& text) {
    std::size_t n = text.find_first_not_of(" \t\r\n\f\v");
    if (n == std::string_view::npos) return std::nullopt;
    std::string word;
    char quote = 0;
    for (; n < text.size(); ++n) {
        char const c = text[n];
        if (c == '\\' && n + 1 < text.size() && quote != '\'')
            word += text[++n];
        else if (quote != 0 ? c == quote : c == '"' || c == '\'')
            quote = quote != 0 ? char{0} : c;
        else if (quote == 0 && std::string_view(" \t\r\n\f\v").find(c) != std::string_view::npos)
            break;
        else
            word += c;
    }
    text.remove_prefix(n);
    return word;
}

// With the words of files, @file, in place of these, as clang reads them. `depth` ends those that
// name themselves.
arguments with_response_files(arguments const& words, int depth = 0) {
    constexpr int k_deepest = 16;
    arguments all;
    for (std::string const& word : words) {
        std::ifstream in;
        if (word.size() > 1 && word[0] == '@' && depth < k_deepest) in.open(word.substr(1));
        if (!in.is_open()) {
            all.push_back(word);
            continue;
        }
        std::string const content(std::istreambuf_iterator<char>(in), {});
        std::string_view text = content;
        arguments found;
        while (auto one = next_word(text)) found.push_back(*std::move(one));
        found = with_response_files(found, depth + 1);
        all.insert(all.end(), found.begin(), found.end());
    }
    return all;
}

std::vector<clang_word> parts_of(arguments const& words) {
    std::vector<clang_word> parts;
    for (std::size_t n = 0; n < words.size(); ++n) {
        std::string_view const word = words[n];
        if (word == "-" || !word.starts_with('-')) {
            parts.push_back({{}, word});
        } else if (is_any_of(k_with_value, word) && n + 1 < words.size()) {
            bool const is_output = word == "--output";
            bool const is_language = word == "--language";
            parts.push_back({is_output ? "-o" : is_language ? "-x" : word, words[++n]});
        } else {
            parts.push_back(part_with_value(word));
        }
    }
    return parts;
}

bool is_header(std::string_view file, std::string_view language) {
    if (!language.empty()) return language.find("-header") != std::string_view::npos;
    std::size_t const dot = file.rfind('.');
    return dot != std::string_view::npos && is_any_of(k_ends_of_headers, file.substr(dot));
}

// Words that clang hands to the linker.
arguments words_of_linker(std::vector<clang_word> const& parts) {
    constexpr std::string_view k_to_linker = "-Wl,";
    arguments found;
    for (clang_word const& part : parts) {
        if (part.option == "-Xlinker") found.emplace_back(part.value);
        if (!part.option.starts_with(k_to_linker)) continue;
        std::string_view rest = part.option.substr(k_to_linker.size());
        for (std::size_t comma = 0; comma != std::string_view::npos;) {
            comma = rest.find(',');
            found.emplace_back(rest.substr(0, comma));
            if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
        }
    }
    return found;
}

// The last one counts.
void choose_output(std::vector<clang_word> const& parts, std::filesystem::path& output) {
    for (clang_word const& part : parts)
        if (part.option == "-o") output = part.value;
}

} // namespace

bool links(arguments const& words) {
    arguments const all = with_response_files(words);
    bool has_input = false;
    std::string_view language;
    for (clang_word const& word : parts_of(all)) {
        std::string_view const option = word.option == "-Xclang" ? word.value : word.option;
        if (is_any_of(k_no_link, option)) return false;
        if (word.option.starts_with("-print-") || word.option.starts_with("--print-")) return false;
        if (word.option == "-x") language = word.value == "none" ? "" : word.value;
        has_input |= word.option.empty() ? !is_header(word.value, language)
                                         : word.option.starts_with("-l"); // main may be in there
    }
    return has_input;
}

bool makes_no_program(arguments const& words) {
    arguments const all = with_response_files(words);
    auto const parts = parts_of(all);
    auto const is_asked = [](std::string_view word) { return is_any_of(k_no_program, word); };
    arguments const of_linker = words_of_linker(parts);
    return std::any_of(parts.begin(), parts.end(),
                       [&](clang_word const& part) { return is_asked(part.option); }) ||
           std::any_of(of_linker.begin(), of_linker.end(), is_asked);
}

bool have_old_passes(arguments const& words) {
    bool are_old = false;
    arguments const all = with_response_files(words);
    for (clang_word const& word : parts_of(all)) {
        std::string_view const option = word.option == "-Xclang" ? word.value : word.option;
        are_old |=
            option == "-flegacy-pass-manager" || option == "-fno-experimental-new-pass-manager";
        are_old &=
            option != "-fno-legacy-pass-manager" && option != "-fexperimental-new-pass-manager";
    }
    return are_old;
}

std::filesystem::path output_of(arguments const& words) {
    std::filesystem::path output = "a.out";
    arguments const all = with_response_files(words);
    auto const parts = parts_of(all);
    arguments const of_linker = words_of_linker(parts);
    choose_output(parts, output);
    choose_output(parts_of(of_linker), output); // the linker hears these after the others
    return output;
}

} // namespace tulle::tool
