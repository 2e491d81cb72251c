// SPDX-License-Identifier: Apache-2.0
#include "bench/splash_build.hpp"

#include "clang.hpp"
#include "command.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <thread>

namespace tulle::tool {

namespace fs = std::filesystem;
using namespace std::string_literals;

namespace {

constexpr auto k_longest_build = std::chrono::minutes(10);
constexpr char const* k_output = "tulle-output";
constexpr char const* k_addition = "tulle-result"; // a source, and what it is compiled to

// Of programs that are older than the standards of today.
arguments const k_dialect{"-w",
                          "-std=gnu11",
                          "-fcommon",
                          "-fno-strict-aliasing",
                          "-Wno-implicit-int",
                          "-Wno-implicit-function-declaration",
                          "-Wno-return-type"};

std::string joined(arguments const& words) {
    std::string text;
    for (std::string const& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

arguments operator+(arguments words, arguments const& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

arguments includes() {
    std::string const headers = folder_of_headers().string();
    return {"-I" + headers, "-I" + headers + "/compat/parmacs"};
}

arguments link_of_tulle() {
    std::string const libraries = folder_of_libraries().string();
    return {"-lm",        "-L" + libraries, "-ltulle-parmacs", "-ltulle", "-Wl,-rpath," + libraries,
            "-Wl,-z,now", "-pthread"};
}

arguments this_cc() { return {fs::read_symlink("/proc/self/exe").string(), "cc"}; }

void add_checked(splash_variants& variants) {
    for (std::string const& level : splash_levels())
        for (std::string const& kind : splash_checks()) {
            std::string const option = kind == "directory" ? "--scheme=" : "--checks=";
            variants.all.push_back(
                {kind + level, this_cc() + arguments{option + kind, level} + k_dialect + includes(),
                 link_of_tulle()});
        }
}

void add_with_copies(splash_variants& variants) {
    for (auto const& [name, scheme] :
         {std::pair{"coherent", "--scheme=states"}, std::pair{"refreshed", "--scheme=refresh"},
          std::pair{"directory", "--scheme=directory"}})
        variants.all.push_back(
            {name, this_cc() + arguments{scheme, "--share-globals", "-O2"} + k_dialect + includes(),
             link_of_tulle()});
}

// The macro processor must not take words of C for its own.
// Rules that make has by itself would take sources of C in .C for C++. A makefile of a part, which
// does not include these settings, has the compiler from the environment. What is linked besides is
// compiled last, when the headers of the program have been made.
std::string settings_of(splash_program const& program, splash_variant const& variant) {
    std::string const macros = (folder_of_headers() / "compat/parmacs/parmacs.m4").string();
    bool const has_addition = !program.printed_by.empty();
    std::string const addition = k_addition + ".o"s;
    return ".SUFFIXES:\n"
           "export CC := " +
           joined(variant.compiler + program.options) +
           "\n"
           "CFLAGS :=\n"
           "LDFLAGS := " +
           joined(variant.link) +
           "\n"
           "M4 := m4 -Ulen -Uindex\n"
           "MACROS := " +
           macros +
           "\n"
           "AR := ar\n" +
           (has_addition ? "OBJECTS := $(OBJS)\nOBJS += " + addition + '\n' : "") +
           "$(TARGET): $(OBJS) $(EXTRADEPS)\n"
           "\t$(CC) $(CFLAGS) $(OBJS) -o $(TARGET) $(LDFLAGS)\n"
           "%.h: %.h.in\n\t$(M4) $(MACROS) $< > $@\n"
           "%.h: %.H\n\t$(M4) $(MACROS) $< > $@\n"
           "%.c: %.c.in\n\t$(M4) $(MACROS) $< > $@\n"
           "%.c: %.C\n\t$(M4) $(MACROS) $< > $@\n"
           "%.o: %.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n" +
           (has_addition ? addition + ": $(OBJECTS)\nLDFLAGS += -Wl,--wrap=tulle_parmacs_end\n"
                         : "");
}

// What the first line of a makefile that matches has in parentheses.
std::string said_by_makefile(fs::path const& folder, char const* pattern) {
    std::regex const wanted(pattern);
    for (char const* const name : {"Makefile", "makefile"}) {
        std::ifstream makefile(folder / name);
        std::smatch match;
        for (std::string line; std::getline(makefile, line);)
            if (std::regex_match(line, match, wanted)) return match[1].str();
    }
    return "";
}

fs::path settings_file(fs::path const& folder) {
    std::string const included = said_by_makefile(folder, R"(\s*-?include\s+(\S+)\s*)");
    return folder / (included.empty() ? "Makefile.config" : included);
}

// Somebody may have compiled in the suite.
bool is_made(fs::path const& file) {
    std::string const ending = file.extension().string();
    if (ending == ".o" || ending == ".a") return true;
    if (ending != ".c" && ending != ".h") return false;
    std::error_code none;
    fs::path upper = file;
    upper.replace_extension(ending == ".c" ? ".C" : ".H");
    return fs::exists(file.string() + ".in", none) || fs::exists(upper, none);
}

void copy_sources(fs::path const& source, fs::path const& target) {
    fs::create_directories(target);
    for (fs::directory_entry const& entry : fs::directory_iterator(source)) {
        fs::path const to = target / entry.path().filename();
        if (entry.is_directory())
            copy_sources(entry.path(), to);
        else if (entry.is_regular_file() && !is_made(entry.path()))
            fs::copy_file(entry.path(), to, fs::copy_options::overwrite_existing);
    }
}

// Large files of a repository may be there by name only: what stands for them is a few lines.
bool has_contents(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    std::string first;
    return in && std::getline(in, first) && !first.starts_with("version https://git-lfs");
}

// The compiler's first one, or else what make says at the end.
std::string error_in(fs::path const& file) {
    std::ifstream in(file);
    std::string last;
    for (std::string line; std::getline(in, line);) {
        if (line.find("error:") != std::string::npos) return line;
        if (!line.empty()) last = line;
    }
    return last;
}

} // namespace

std::vector<std::string> const& splash_checks() {
    static std::vector<std::string> const all{"none",   "int-loads", "fp-loads", "loads",
                                              "stores", "all",       "directory"};
    return all;
}

std::vector<std::string> const& splash_levels() {
    static std::vector<std::string> const all{"-O0", "-O2"};
    return all;
}

bool splash_variants::has(std::string const& name) const {
    return std::any_of(all.begin(), all.end(),
                       [&name](splash_variant const& one) { return one.name == name; });
}

splash_variants variants_of_splash(fs::path const& threads, bool with_checks) {
    splash_variants variants;
    arguments plain{"cc"};
    try {
        plain = {find_clang("clang", "").program.string()};
        if (with_checks)
            add_checked(variants);
        else
            add_with_copies(variants);
    } catch (failure const& missing) {
        variants.absent.emplace_back(std::string("measured without copies and checks: ") +
                                     missing.what());
    }
    if (with_checks) return variants;
    arguments const compiler = plain + arguments{"-O2"} + k_dialect + includes();
    variants.all.push_back({"tulle", compiler, link_of_tulle()});
    variants.all.push_back({"pthread", compiler, {threads.string(), "-lm", "-pthread"}});
    return variants;
}

splash_workshop::splash_workshop(fs::path suite, fs::path additions)
    : m_suite(std::move(suite)), m_additions(std::move(additions)) {
    for (char const* const needed : {"m4", "make"})
        if (!find_program(needed))
            throw failure(k_exit_failed, std::string("bench: splash needs the program ") + needed);
    std::string name = (fs::temp_directory_path() / "tulle-splash-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw failure(k_exit_failed, "bench: " + name + ": " + std::strerror(errno));
    m_folder = name;
}

splash_workshop::~splash_workshop() {
    std::error_code none;
    fs::remove_all(m_folder, none);
}

bool splash_workshop::has(splash_program const& program) const {
    std::error_code none;
    return fs::is_directory(m_suite / program.folder, none);
}

bool splash_workshop::has_data(splash_program const& program, splash_size const& size) const {
    return size.data.empty() || has_contents(m_suite / program.folder / size.data);
}

fs::path splash_workshop::place_of(splash_program const& program,
                                   std::string const& variant) const {
    return m_folder / variant / program.folder;
}

void splash_workshop::prepare(splash_program const& program, splash_variant const& variant) const {
    fs::path const place = place_of(program, variant.name);
    copy_sources(m_suite / program.folder, place);
    std::ofstream(settings_file(place)) << settings_of(program, variant);
    if (program.printed_by.empty()) return;
    std::error_code none; // what is missing is not compiled, which is told
    fs::copy_file(m_additions / program.printed_by, place / (k_addition + ".c.in"s), none);
}

// A makefile of makefiles, so that as many run as there are processors.
void splash_workshop::build(splash_program const& program,
                            std::vector<splash_variant> const& variants) {
    fs::path const makefile = m_folder / "makefile";
    {
        std::ofstream out(makefile);
        for (splash_variant const& variant : variants) out << "all: " << variant.name << '\n';
        for (splash_variant const& variant : variants) {
            prepare(program, variant);
            std::string const place = place_of(program, variant.name).string();
            out << variant.name << ":\n\t+$(MAKE) -C " << place << " > " << place << '/' << k_output
                << " 2>&1\n";
        }
    }
    std::string const jobs = std::to_string(std::max(1U, std::thread::hardware_concurrency()));
    capture({"make", "-s", "-k", "-j", jobs, "-f", makefile.string(), "all"},
            {k_longest_build, true});
}

std::optional<fs::path> splash_workshop::executable_of(splash_program const& program,
                                                       std::string const& variant) const {
    fs::path const place = place_of(program, variant);
    std::string const target = said_by_makefile(place, R"(\s*TARGET\s*:?=\s*(\S+)\s*)");
    std::error_code none;
    if (!target.empty() && fs::is_regular_file(place / target, none)) return place / target;
    return std::nullopt;
}

std::string splash_workshop::why_not(splash_program const& program,
                                     std::string const& variant) const {
    return error_in(place_of(program, variant) / k_output);
}

void splash_workshop::clear() {
    std::error_code none;
    for (fs::directory_entry const& entry : fs::directory_iterator(m_folder, none))
        fs::remove_all(entry.path(), none);
}

} // namespace tulle::tool
