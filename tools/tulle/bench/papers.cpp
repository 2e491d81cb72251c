// SPDX-License-Identifier: Apache-2.0
#include "bench/papers.hpp"

#include "bench_papers_data.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tulle::tool {

namespace {

paper read_paper(std::string_view text) {
    auto const data = nlohmann::ordered_json::parse(text);
    return {data.at("name"), data.at("sentence"), data.at("benchmarks"),
            data.value("shown_with", std::vector<std::string>{}), data.dump()};
}

std::vector<paper> read_papers() {
    std::vector<paper> all;
    std::string text;
    for (std::string_view const part : k_papers_data) {
        text += part;
        if (!part.empty()) continue; // the last part of a file
        all.push_back(read_paper(text));
        text.clear();
    }
    return all;
}

} // namespace

std::vector<paper> const& papers() {
    static std::vector<paper> const all = read_papers();
    return all;
}

std::vector<paper> papers_among(std::vector<std::string> const& names) {
    std::vector<paper> chosen = papers();
    std::erase_if(chosen, [&names](paper const& p) {
        return !names.empty() && std::none_of(names.begin(), names.end(), [&p](auto const& name) {
            return name == p.name ||
                   std::find(p.shown_with.begin(), p.shown_with.end(), name) != p.shown_with.end();
        });
    });
    return chosen;
}

} // namespace tulle::tool
