// SPDX-License-Identifier: Apache-2.0
// The path of a file that does not exist yet, in a folder of its own that goes with it.
#pragma once

#include <filesystem>
#include <string>

#include <stdlib.h>

class temporary_path {
public:
    temporary_path() {
        std::string folder =
            (std::filesystem::temp_directory_path() / "tulle-test-XXXXXX").string();
        if (mkdtemp(folder.data()) == nullptr) abort();
        m_folder = folder;
    }
    ~temporary_path() {
        std::error_code ignored;
        std::filesystem::remove_all(m_folder, ignored);
    }
    temporary_path(temporary_path const&) = delete;
    temporary_path& operator=(temporary_path const&) = delete;

    [[nodiscard]] std::string get() const { return (m_folder / "file").string(); }

private:
    std::filesystem::path m_folder;
};
