// SPDX-License-Identifier: Apache-2.0
//
// Quicksort of random doubles, beside std::sort and tbb::parallel_sort.
#include "kernels/quicksort.hpp"
#include "common/contest.hpp"
#include "common/policies.hpp"

#include <memory>

#if defined(TULLE_HAVE_TBB)
#include <tbb/parallel_sort.h>
#endif

namespace {

using namespace examples;

// The numbers as they were, and the array that each library sorts.
class workload {
public:
    workload(std::size_t n, std::uint64_t seed)
        : m_size(n),
          m_original(std::make_unique_for_overwrite<double[]>(n)),
          m_data(std::make_unique_for_overwrite<double[]>(n)) {
        kernels::quicksort_fill(m_original.get(), n, seed);
        m_fingerprint = kernels::quicksort_fingerprint(m_original.get(), n);
    }

    void reset() { std::copy(m_original.get(), m_original.get() + m_size, m_data.get()); }
    [[nodiscard]] bool sorted() const {
        return kernels::quicksort_check(m_data.get(), m_size, m_fingerprint);
    }
    [[nodiscard]] double* begin() { return m_data.get(); }
    [[nodiscard]] double* end() { return m_data.get() + m_size; }

private:
    std::size_t m_size;
    std::unique_ptr<double[]> m_original;
    std::unique_ptr<double[]> m_data;
    std::uint64_t m_fingerprint = 0;
};

void add_packaged_sorts(contest& event, workload& work) {
    event.contestants.push_back(
        {"std::sort", role::serial, [&work] { std::sort(work.begin(), work.end()); }});
#if defined(TULLE_HAVE_TBB)
    event.contestants.push_back(
        {"tbb::parallel_sort", role::peer, [&work, workers = tulle::worker_count()] {
             tbb_policy::run(workers, [&work] { tbb::parallel_sort(work.begin(), work.end()); });
         }});
#endif
}

bool sort(std::size_t n, std::ptrdiff_t grain, std::uint64_t seed, common_options const& options) {
    workload work(n, seed);
    contest event{"quicksort", std::to_string(n) + " doubles", [&work] { work.reset(); },
                  [&work] { return work.sorted(); },
                  contestants_for([&work, grain]<class Policy>() {
                      kernels::quicksort<Policy>(work.begin(), work.end(), grain);
                  })};
    event.contestants[1].run = [&work] { kernels::quicksort_serial(work.begin(), work.end()); };
    add_packaged_sorts(event, work);
    return hold_contest(event, options);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Sorts random doubles; needs 16 bytes of memory for each.", "quicksort"};
    common_options options;
    std::size_t n = 2000000;
    std::ptrdiff_t grain = kernels::k_quicksort_grain;
    std::uint64_t seed = 1;
    line.number("n", n, "how many", 1, 10000000000);
    line.number("--grain", grain, "sort ranges up to this length without threads", 1,
                std::ptrdiff_t{1} << 40U);
    line.number("--seed", seed, "seed of the random numbers");
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return sort(n, grain, seed, options) ? k_exit_ok : k_exit_check_failed;
    });
}
