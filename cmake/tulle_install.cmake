# SPDX-License-Identifier: Apache-2.0
#
# What is installed: headers, libraries, CMake package, tulle.pc, man pages, shell completions (the program and the benchmarks are
# installed where they are built).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tulle)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h PATTERN *.hpp PATTERN *.m4)
install(TARGETS tulle_shared EXPORT tulle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_static EXPORT tulle ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_qthread_shared EXPORT tulle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_qthread_static EXPORT tulle ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_tnt_shared EXPORT tulle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_tnt_static EXPORT tulle ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_myth_shared EXPORT tulle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_myth_static EXPORT tulle ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tulle_parmacs_shared EXPORT tulle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tulle_ucontext) # nobody links it
    install(TARGETS tulle_ucontext LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
if(TARGET tulle_preload)
    install(TARGETS tulle_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
install(EXPORT tulle NAMESPACE tulle:: FILE tulle-targets.cmake DESTINATION ${package_dir})

configure_package_config_file(cmake/tulle-config.cmake.in tulle-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tulle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tulle-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tulle-config-version.cmake
    DESTINATION ${package_dir})

# The prefix is not written into the *.pc: an installed tree may be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
set(pc_atomic "")
if(tulle_atomic)
    set(pc_atomic " -latomic")
endif()
foreach(package tulle tulle-qthread tulle-tnt tulle-myth tulle-parmacs)
    configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

include(tulle_qthread_prefix)

file(GLOB manuals CONFIGURE_DEPENDS docs/man/*.[1-8])
foreach(manual IN LISTS manuals)
    string(REGEX MATCH "[1-8]$" section ${manual})
    install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    # Every other function that a page names gets a page of its own that refers to it.
    get_filename_component(page ${manual} NAME)
    file(STRINGS ${manual} named REGEX "^\\.Nm [a-z_0-9]+ ?,?$")
    foreach(line IN LISTS named)
        string(REGEX REPLACE "^\\.Nm ([a-z_0-9]+).*$" "\\1.${section}" alias "${line}")
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/docs/man/${alias})
            file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/man/${alias} CONTENT ".so man${section}/${page}\n" @ONLY)
            install(FILES ${CMAKE_CURRENT_BINARY_DIR}/man/${alias} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
        endif()
    endforeach()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manuals})

set(completions ${PROJECT_SOURCE_DIR}/tools/completions)
install(FILES ${completions}/tulle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tulle OPTIONAL)
install(FILES ${completions}/_tulle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(FILES ${completions}/tulle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)

# gdb loads a script by itself from below its own data directory, under the path of the library; for other prefixes it is sourced.
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/tulle-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/tulle)
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/tulle-gdb.py RENAME libtulle.so.${PROJECT_VERSION}-gdb.py
    DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
