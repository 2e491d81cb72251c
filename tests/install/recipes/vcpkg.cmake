# SPDX-License-Identifier: Apache-2.0
#
# cmake -DWORK=DIR -DBUILD=DIR -P vcpkg.cmake: what packaging/vcpkg makes where vcpkg is not to be had. The functions below do what vcpkg's manual says
# of those of the same name, as far as the portfile uses them, for one build type; WORK/packages is what a port leaves, WORK/installed what programs
# see. Unlike the recipe it compiles by way of ccache; BUILD lies as deep as the preset's folder, so that what that has compiled is found.
# -DPORT_FOLDER=DIR: another port, for tests of this.
cmake_minimum_required(VERSION 3.25)
get_filename_component(port_folder "${CMAKE_CURRENT_LIST_DIR}/../../../packaging/vcpkg" ABSOLUTE)
if(PORT_FOLDER)
    set(port_folder ${PORT_FOLDER})
endif()
file(READ ${port_folder}/vcpkg.json manifest)
string(JSON PORT GET "${manifest}" name)
set(CURRENT_PACKAGES_DIR ${WORK}/packages)

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "SOURCE_PATH" "OPTIONS")
    run(${CMAKE_COMMAND} -G Ninja -S ${given_SOURCE_PATH} -B ${BUILD} -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
        -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${given_OPTIONS} -DTULLE_USE_CCACHE=ON)
endfunction()

function(vcpkg_cmake_install)
    run(${CMAKE_COMMAND} --build ${BUILD} --target install)
endfunction()

# Moves the CMake package to share/PORT, two folders below the prefix instead of three.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "CONFIG_PATH" "")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/${given_CONFIG_PATH}/*")
    if(NOT files)
        message(FATAL_ERROR "${given_CONFIG_PATH} is not installed")
    endif()
    file(COPY ${files} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
    get_filename_component(parent "${CURRENT_PACKAGES_DIR}/${given_CONFIG_PATH}" DIRECTORY)
    file(REMOVE_RECURSE ${parent})
    file(GLOB files "${CURRENT_PACKAGES_DIR}/share/${PORT}/*.cmake")
    foreach(file IN LISTS files)
        file(READ ${file} text)
        string(REGEX REPLACE "get_filename_component\\(_IMPORT_PREFIX \"\\\${CMAKE_CURRENT_LIST_FILE}\" PATH\\)(\nget_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\))*"
            "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)" text "${text}")
        string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
        file(WRITE ${file} "${text}")
    endforeach()
endfunction()

# Of vcpkg it makes prefixes relative; ours are, so here it may only find that. pkg-config must know each by its name, and what it requires: it looks
# into two folders only.
function(vcpkg_fixup_pkgconfig)
    find_program(pkgconfig NAMES pkg-config pkgconf REQUIRED)
    file(GLOB_RECURSE files "${CURRENT_PACKAGES_DIR}/*.pc")
    foreach(file IN LISTS files)
        file(READ ${file} text)
        if(NOT text MATCHES "prefix=\\\${pcfiledir}")
            message(FATAL_ERROR "${file} names its prefix")
        endif()
        get_filename_component(name ${file} NAME_WLE)
        run(${CMAKE_COMMAND} -E env "PKG_CONFIG_PATH=${CURRENT_PACKAGES_DIR}/lib/pkgconfig:${CURRENT_PACKAGES_DIR}/share/pkgconfig"
            ${pkgconfig} --print-errors --exists ${name})
    endforeach()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "" "FILE_LIST")
    file(INSTALL ${given_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

# What vcpkg itself looks for when a port is done.
function(check_package)
    foreach(file include/tulle.h share/${PORT}/copyright share/${PORT}/usage share/${PORT}/${PORT}-config.cmake)
        if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${file})
            message(FATAL_ERROR "the package has no ${file}")
        endif()
    endforeach()
    foreach(folder lib/cmake debug/include debug/share bin)
        if(EXISTS ${CURRENT_PACKAGES_DIR}/${folder})
            message(FATAL_ERROR "the package has ${folder}")
        endif()
    endforeach()
    file(GLOB_RECURSE files LIST_DIRECTORIES true RELATIVE ${CURRENT_PACKAGES_DIR} "${CURRENT_PACKAGES_DIR}/*")
    foreach(file IN LISTS files)
        set(path ${CURRENT_PACKAGES_DIR}/${file})
        if(file MATCHES "\\.pc$" AND NOT file MATCHES "^lib/pkgconfig/")
            message(FATAL_ERROR "${file} is not in lib/pkgconfig")
        elseif(IS_DIRECTORY ${path} AND NOT IS_SYMLINK ${path})
            file(GLOB inside "${path}/*")
            if(NOT inside)
                message(FATAL_ERROR "the folder ${file} is empty")
            endif()
        elseif(file MATCHES "\\.(cmake|pc|json|h|hpp)$")
            file(READ ${path} text)
            string(FIND "${text}" "${WORK}" in_work)
            string(FIND "${text}" "${BUILD}" in_build)
            if(NOT in_work EQUAL -1 OR NOT in_build EQUAL -1)
                message(FATAL_ERROR "${file} names the folder that it was built in")
            endif()
        endif()
    endforeach()
endfunction()

file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR} ${WORK}/installed)
include(${port_folder}/portfile.cmake)
check_package()
file(COPY ${CURRENT_PACKAGES_DIR}/ DESTINATION ${WORK}/installed)
