// SPDX-License-Identifier: Apache-2.0
//
// Sorts the lines of text files in parallel; the output is byte for byte that of `LC_ALL=C sort`.
#include "common/command.hpp"
#include "common/contest.hpp"
#include "common/line_output.hpp"
#include "common/line_sort.hpp"
#include "common/line_table.hpp"
#include "common/policies.hpp"
#include "common/progress.hpp"
#include "common/text_generator.hpp"

#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace examples;

constexpr char const* k_description = "Sorts the lines of FILES (of the standard input when there "
                                      "is none or FILE is -) by their bytes, as LC_ALL=C sort "
                                      "does.\n"
                                      "Needs memory for the input and 16 bytes for each line, "
                                      "twice the former for what comes from a pipe.";

struct sort_options {
    common_options common;
    std::vector<std::string> files;
    std::string output;
    std::size_t generate = 0;
    std::uint64_t seed = 1;
    bool compare = false;
    bool stats = false;
};

// Where the sorted lines go: a file, which is left as it was until the input has been read, or the
// standard output.
class destination {
public:
    explicit destination(std::string const& name)
        : m_file(name.empty() ? file("standard output", STDOUT_FILENO, false)
                              : file(name, O_WRONLY | O_CREAT)),
          m_truncate(!name.empty()) {}

    file& output() { return m_file; }

    // Gets ready to be written; returns the position to start at if it can be written anywhere.
    std::optional<std::size_t> start() {
        struct stat status {};
        if (fstat(m_file.descriptor(), &status) != 0) m_file.fail("cannot write");
        bool const appends = (fcntl(m_file.descriptor(), F_GETFL) & O_APPEND) != 0;
        if (!S_ISREG(status.st_mode) || appends) return std::nullopt;
        if (m_truncate && ftruncate(m_file.descriptor(), 0) != 0) m_file.fail("cannot write");
        off_t const position = lseek(m_file.descriptor(), 0, SEEK_CUR);
        return static_cast<std::size_t>(position);
    }

    // Leaves a standard output that others write to after us behind what was written.
    void finish(std::size_t end) { lseek(m_file.descriptor(), static_cast<off_t>(end), SEEK_SET); }

private:
    file m_file;
    bool m_truncate;
};

void require_memory(std::size_t bytes) {
    auto const physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (bytes < physical && bytes < line_entry::k_most_text) return;
    throw std::runtime_error("the input needs " + std::to_string(bytes >> 20U) +
                             " MiB of memory, this machine has " + std::to_string(physical >> 20U) +
                             " MiB");
}

struct phase_times {
    double load;
    double sort;
    double write;
    bool ok;
};

// The whole job with one library.
template <class Policy>
phase_times sort_lines(std::vector<std::string> const& files, std::string const& output,
                       progress& shown) {
    destination to(output);
    text_input const input(files);
    require_memory(input.memory());
    auto const advance = [&shown](std::size_t n) { shown.advance(n); };
    phase_times times{};
    line_table table;
    shown.begin("reading", input.bytes());
    times.load = seconds_of(
        [&] { table = line_table_builder<Policy, decltype(advance)>(input, advance).build(); });
    require_memory(input.memory() + table.entries.size());
    shown.begin("sorting " + std::to_string(table.lines) + " lines");
    auto const lines = table.all();
    line_range const all = fresh_range(lines.data(), lines.data() + lines.size(), 0);
    times.sort = seconds_of([&] { line_sorter<Policy>(table.text.data()).sort(all); });
    shown.begin("writing", table.bytes);
    times.write = seconds_of([&] {
        auto const start = to.start();
        times.ok =
            line_writer<Policy, decltype(advance)>(table, to.output(), start, advance).write();
        if (start.has_value()) to.finish(*start + table.bytes);
    });
    return times;
}

int sort_files(sort_options const& options) {
    progress shown(options.common.progress);
    phase_times times{};
    double const seconds = seconds_of([&] {
        tulle_policy::run(
            0, [&] { times = sort_lines<tulle_policy>(options.files, options.output, shown); });
    });
    if (options.stats)
        std::fprintf(stderr, "tsort: %.3f s: load %.3f, sort %.3f, write %.3f; %d workers\n",
                     seconds, times.load, times.sort, times.write, tulle::worker_count());
    if (!times.ok) std::fputs("tsort: check failed: the lines are not in order\n", stderr);
    return times.ok ? k_exit_ok : k_exit_check_failed;
}

int generate_file(sort_options const& options) {
    constexpr std::size_t k_block = std::size_t{1} << 20U;
    file const out = options.output.empty() ? file("standard output", STDOUT_FILENO, false)
                                            : file(options.output, O_WRONLY | O_CREAT | O_TRUNC);
    if (lseek(out.descriptor(), 0, SEEK_CUR) < 0)
        throw std::runtime_error("--generate needs a file to write to: -o FILE");
    progress shown(options.common.progress);
    shown.begin("generating", options.generate);
    buffer_pool buffers(k_block);
    tulle_policy::run(0, [&] {
        parallel_for<tulle_policy>(
            0, (options.generate + k_block - 1) / k_block, [&](std::size_t i) {
                buffer_pool::loan const buffer(buffers);
                std::size_t const n = std::min(k_block, options.generate - i * k_block);
                generate_text({buffer.data(), n}, options.seed, i);
                out.write_at(buffer.data(), n, i * k_block);
                shown.advance(n);
            });
    });
    return k_exit_ok;
}

// --compare: the same job by several libraries and by sort(1), all to temporary files; sort(1) says
// what is right.
class comparison {
public:
    explicit comparison(sort_options const& options) : m_options(options) {
        for (std::string const& name : options.files)
            if (name == "-")
                throw std::runtime_error("--compare needs files, not the standard input");
        if (!command_exists("sort")) throw std::runtime_error("--compare needs the program sort");
    }

    bool run() {
        int const workers = tulle::worker_count();
        double const seconds = seconds_of([this, workers] { run_sort(workers, m_reference); });
        contest event{
            "tsort",
            std::to_string(text_input(m_options.files).bytes() / 1000000) + " MB",
            [this] { unlink(m_output.c_str()); },
            [this] { return same_content(m_output, m_reference); },
            {},
            {{"sort --parallel=" + std::to_string(workers), role::peer, seconds, "s", true}}};
        add<tulle_policy>(event, role::tulle);
        add<serial_policy>(event, role::serial);
#if defined(TULLE_HAVE_TBB)
        add<tbb_policy>(event, role::peer);
#endif
        return hold_contest(event, m_options.common);
    }

private:
    template <class Policy> void add(contest& event, role kind) {
        event.contestants.push_back({Policy::k_name, kind, [this] {
                                         Policy::run(tulle::worker_count(), [this] {
                                             progress silent(false);
                                             sort_lines<Policy>(m_options.files, m_output, silent);
                                         });
                                     }});
    }

    void run_sort(int workers, std::string const& output) const {
        std::vector<std::string> words{"sort", "--parallel=" + std::to_string(workers), "-o",
                                       output, "--"};
        words.insert(words.end(), m_options.files.begin(), m_options.files.end());
        if (run_command(words).exit_code != 0) throw std::runtime_error("sort failed");
    }

    sort_options const& m_options;
    temporary_directory m_directory;
    std::string m_reference = m_directory.path("reference");
    std::string m_output = m_directory.path("output");
};

int run(sort_options& options) {
    runtime_session const session(options.common);
    if (options.files.empty()) options.files.emplace_back("-");
    if (options.generate > 0) return generate_file(options);
    if (options.compare) return comparison(options).run() ? k_exit_ok : k_exit_check_failed;
    return sort_files(options);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{k_description, "tsort"};
    sort_options options;
    line.texts("FILE", options.files, "text files, or -");
    line.text("-o,--output", options.output,
              "write to this file, which may be one of the input; else to the standard output");
    line.bytes("--generate", options.generate,
               "make a text of so many bytes to sort, instead of sorting");
    line.number("--seed", options.seed, "seed of the text that is made");
    line.permit_only_with("--seed", "--generate");
    line.flag("--compare", options.compare,
              "print times beside other libraries and sort(1), and check against sort(1)");
    line.flag("--stats", options.stats, "print times to the standard error");
    add_contest_options(line, options.common);
    return line.run(argc, argv, [&] { return run(options); });
}
