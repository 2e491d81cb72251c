// SPDX-License-Identifier: Apache-2.0
// What a library for Fourier transforms makes of it, with its own threads: radix 4 and more, and
// vectors. All numbers of its results are compared with ours.
#include "tnt_fft.hpp"

#include <cstdio>
#include <cstdlib>

#include <fftw3.h>

namespace tulle::bench {
namespace {

std::vector<fft_number> transform_by_ours(fft_plan& plan) {
    for (std::size_t t = 0; t < plan.threads(); ++t) plan.transform_class(t);
    for (std::size_t level = 0; level < plan.levels(); ++level)
        for (std::size_t t = 0; t < plan.threads(); ++t) plan.join(level, t);
    return plan.result();
}

class fftw_library {
public:
    explicit fftw_library(int threads) {
        fftw_init_threads();
        fftw_plan_with_nthreads(threads);
    }
    fftw_library(fftw_library const&) = delete;
    fftw_library& operator=(fftw_library const&) = delete;
    ~fftw_library() {
        fftw_destroy_plan(m_prepared);
        fftw_cleanup_threads();
    }
    void operator()(fft_plan& plan) {
        if (m_size != plan.result().size()) prepare(plan);
        fftw_execute(m_prepared);
    }

private:
    static fftw_complex* numbers(std::vector<fft_number>& x) {
        return reinterpret_cast<fftw_complex*>(x.data());
    }

    void prepare(fft_plan& plan) {
        fftw_destroy_plan(m_prepared);
        m_size = plan.result().size();
        m_prepared = fftw_plan_dft_1d(static_cast<int>(m_size), numbers(plan.samples()),
                                      numbers(plan.result()), FFTW_FORWARD, FFTW_ESTIMATE);
        std::vector<fft_number> const ours = transform_by_ours(plan);
        fftw_execute(m_prepared);
        for (std::size_t k = 0; k < m_size; ++k)
            if (!(fft_distance(ours[k], plan.result()[k]) < 1e-13 * static_cast<double>(m_size)))
                disagree(k);
    }
    [[noreturn]] void disagree(std::size_t k) const {
        std::fprintf(stderr, "number %zu of %zu is another one with FFTW\n", k, m_size);
        std::exit(1);
    }

    fftw_plan m_prepared = nullptr;
    std::size_t m_size = 0;
};

} // namespace

benchmark const registered("tnt-fft", "fftw", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_fft_sizes);
    pin_if_single(s);
    fftw_library library(s.workers);
    return fft_main(s, "fftw", [&library](fft_plan& plan) { library(plan); });
});

} // namespace tulle::bench
