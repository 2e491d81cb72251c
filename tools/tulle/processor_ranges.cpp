// SPDX-License-Identifier: Apache-2.0
#include "processor_ranges.hpp"

#include <cstddef>

namespace tulle::tool {

std::string ranges(std::vector<int> const& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
        if (last > i) text += "-" + std::to_string(numbers[last]);
        i = last + 1;
    }
    return text;
}

} // namespace tulle::tool
