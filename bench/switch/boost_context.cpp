// SPDX-License-Identifier: Apache-2.0
// The assembly switch that Boost.Context and Boost.Fiber stand on.
#include "switch.hpp"

#include <cstddef>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

namespace {

namespace context = boost::context::detail;

class fcontext_pair {
public:
    fcontext_pair() : m_stack(k_stack_size / sizeof(std::max_align_t)) {
        m_other = context::make_fcontext(m_stack.data() + m_stack.size(), k_stack_size, &answer);
    }
    fcontext_pair(fcontext_pair const&) = delete;
    fcontext_pair& operator=(fcontext_pair const&) = delete;

    void there_and_back() { m_other = context::jump_fcontext(m_other, this).fctx; }
    [[nodiscard]] long turns() const { return m_turns; }

private:
    static constexpr std::size_t k_stack_size = 64 * 1024;

    static void answer(context::transfer_t from) {
        auto& self = *static_cast<fcontext_pair*>(from.data);
        while (true) {
            ++self.m_turns;
            from = context::jump_fcontext(from.fctx, nullptr);
        }
    }

    context::fcontext_t m_other{};
    long m_turns = 0;
    std::vector<std::max_align_t> m_stack;
};

} // namespace

tulle::bench::benchmark const registered("switch", "boost_context", [](int argc, char** argv) {
    return tulle::bench::switch_main<fcontext_pair>(argc, argv, "boost_context");
});
