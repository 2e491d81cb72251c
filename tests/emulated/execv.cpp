// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of the C library's execv in a test program that runs under an emulator, which the
// kernel would not know to start for it: TULLE_TEST_EMULATOR holds the command, its words separated
// by blanks.
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

extern "C" int execv(char const* path, char* const arguments[]) noexcept {
    char const* const command = std::getenv("TULLE_TEST_EMULATOR");
    std::vector<std::string> words;
    std::istringstream text(command == nullptr ? "" : command);
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) return ::execve(path, arguments, environ);
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(const_cast<char*>(path));
    for (char* const* argument = arguments + 1; *argument != nullptr; ++argument)
        all.push_back(*argument);
    all.push_back(nullptr);
    return ::execvpe(all.front(), all.data(), environ);
}
