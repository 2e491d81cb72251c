// SPDX-License-Identifier: Apache-2.0
#include "bench/splash_programs.hpp"

#include "command.hpp"

namespace tulle::tool {

namespace fs = std::filesystem;

namespace {

// Sums of floating-point numbers depend on the order, which is the processes'.
constexpr double k_of_sums = 1e-4;
// Tasks are taken by whoever comes first, and how far a surface is divided depends on it.
constexpr double k_of_tasks = 0.1;

std::string barnes_input(long bodies) {
    return "\n" + std::to_string(bodies) +
           "\n123\n\n0.025\n0.05\n1.0\n2.0\n5.0\n0.075\n0.25\n{P}\n";
}

std::string fmm_input(long particles) {
    return "two cluster\nplummer\n" + std::to_string(particles) +
           "\n1e-6\n{P}\n5\n.025\n0.0\ncost zones\n";
}

// It computes where bodies are, and prints parameters and times only. A process that computes
// counts anew what its bodies cost, while others may still divide all bodies by that, as no barrier
// is between: some of few bodies are moved twice in a step or not at all, with POSIX threads, too.
splash_program barnes() {
    splash_program program{"barnes",
                           "apps/barnes",
                           {"", barnes_input(29'000), 29'000},
                           {"", barnes_input(256), 256},
                           "^Body [0-9]+: place",
                           1e-3};
    program.tolerance_of_most = 1e-5;
    program.printed_by = "barnes.c.in";
    return program;
}

// Energies are printed at each step.
std::string water_input(long molecules) {
    return "1.5e-16 " + std::to_string(molecules) + " 2 6\n-1 3000 1 0\n{P} 6.212752\n";
}

splash_program water(std::string name, std::string const& folder) {
    // What it prints of a step: six numbers that are followed by three on the next line.
    return {std::move(name),
            folder,
            {"", water_input(2197), 2197},
            {"", water_input(512), 512},
            R"(^ +-?[0-9]+(\.[0-9]+)?( +-?[0-9.]+){2,}|XTT)",
            k_of_sums};
}

splash_program ocean(std::string name, std::string const& folder, long size) {
    std::string const words = "-p{P} -o -n";
    return {std::move(name),          folder,          {words + std::to_string(size), "", size},
            {words + "130", "", 130}, "residual norm", k_of_sums};
}

splash_program lu(std::string name, std::string const& folder) {
    return {std::move(name),
            folder,
            {"-n1024 -b16 -p{P} -t", "", 1024},
            {"-n512 -b16 -p{P} -t", "", 512},
            "^TEST "};
}

splash_program with_units(splash_program program, int bytes) {
    program.unit = bytes;
    return program;
}

// Three pictures for each step, and the times of each process for each picture.
splash_program volrend() {
    splash_program program{"volrend",
                           "apps/volrend",
                           {"{P} inputs/head 8", "", 256, "inputs/head.den", "inputs/head_1"},
                           {"{P} inputs/head-scaleddown2 3", "", 128, "inputs/head-scaleddown2.den",
                            "inputs/head-scaleddown2_1"},
                           "^rotating "};
    // The last bits of the compressed picture.
    program.unset_bytes = 1;
    // Init_Decomposition uses variables that it has not set, where there are few processes: clang
    // makes a loop without end of it.
    program.options = {"-ftrivial-auto-var-init=pattern"};
    return program;
}

} // namespace

std::vector<splash_program> const& splash_programs() {
    static std::vector<splash_program> const all{
        barnes(),
        {"cholesky",
         "kernels/cholesky",
         {"-p{P} -t inputs/tk29.O", "", 29, "inputs/tk29.O"},
         {"-p{P} -t inputs/tk16.O", "", 16, "inputs/tk16.O"},
         "^PASSED|^Max error"},
        {"fft",
         "kernels/fft",
         {"-m20 -p{P} -t", "", 1 << 20},
         {"-m16 -p{P} -t", "", 1 << 16},
         "^TEST |^Checksum",
         k_of_sums},
        {"fmm",
         "apps/fmm",
         {"-o", fmm_input(32'768), 32'768},
         {"-o", fmm_input(512), 512},
         "^P +[0-9]+ :",
         1e-2},
        lu("lu-c", "kernels/lu/contiguous_blocks"),
        with_units(lu("lu-nc", "kernels/lu/non_contiguous_blocks"), 64),
        ocean("ocean-c", "apps/ocean/contiguous_partitions", 514),
        ocean("ocean-nc", "apps/ocean/non_contiguous_partitions", 258),
        {"radiosity",
         "apps/radiosity",
         {"-p {P} -batch -room -ae 5000.0 -en 0.050 -bf 0.10", "", 5000},
         {"-p {P} -batch -room -ae 20000.0 -en 0.050 -bf 0.10", "", 20'000},
         "Number of patches|Total number of",
         k_of_tasks},
        with_units({"radix",
                    "kernels/radix",
                    {"-n4194304 -r1024 -p{P} -t", "", 1 << 22},
                    {"-n262144 -r1024 -p{P} -t", "", 1 << 18},
                    "^PASSED|^FAILED"},
                   2048),
        {"raytrace",
         "apps/raytrace",
         {"-p{P} inputs/car.env", "", 1, "inputs/car.geo", "inputs/car.rl"},
         {"-p{P} inputs/teapot.env", "", 1, "inputs/teapot.geo", "inputs/teapot.rl"},
         "Number of primitive"},
        volrend(),
        water("water-nsq", "apps/water-nsquared"),
        water("water-sp", "apps/water-spatial"),
    };
    return all;
}

namespace {

bool is_suite(fs::path const& folder) {
    std::error_code none;
    return fs::is_directory(folder / "kernels", none) || fs::is_directory(folder / "apps", none);
}

} // namespace

fs::path find_splash_suite(fs::path const& given) {
    if (is_suite(given)) return fs::canonical(given);
    std::error_code none;
    if (is_suite(given / "codes")) return fs::canonical(given / "codes");
    for (auto at = fs::recursive_directory_iterator(given, none);
         !none && at != fs::recursive_directory_iterator(); at.increment(none))
        if (at->is_directory(none) && is_suite(at->path())) return fs::canonical(at->path());
    throw failure(k_exit_usage, "bench: " + given.string() +
                                    " has no sources of SPLASH: there is no folder kernels or "
                                    "apps in it");
}

} // namespace tulle::tool
