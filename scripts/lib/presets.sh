# SPDX-License-Identifier: Apache-2.0
#
# For shell scripts that take presets of CMakePresets.json; in the top folder of the project.

list_presets() {
    echo $(cmake --build --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p')
}

is_preset() { # NAME
    list_presets | tr ' ' '\n' | grep -qxF -e "$1"
}
