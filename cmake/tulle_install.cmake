# SPDX-License-Identifier: Apache-2.0
#
# What is installed: headers, libraries, CMake package, tulle.pc, man pages, shell completions (the program and the benchmarks are
# installed where they are built).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tulle)
set(faces qthread tnt myth parmacs)

# Each install() names its component, which is a package of its own (tulle_packages): the library, what programs are built with, each face, what is
# loaded before programs, the program `tulle` with its pages.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN *.h PATTERN *.hpp PATTERN *.m4
    PATTERN compat EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library RENAME copyright)
install(TARGETS tulle_shared EXPORT tulle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS tulle_static EXPORT tulle ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT tulle NAMESPACE tulle:: FILE tulle-targets.cmake DESTINATION ${package_dir} COMPONENT dev)
foreach(face IN LISTS faces)
    install(DIRECTORY include/compat/${face} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/compat COMPONENT ${face}
        FILES_MATCHING PATTERN *.h PATTERN *.hpp PATTERN *.m4)
    install(TARGETS tulle_${face}_shared EXPORT tulle-${face} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${face})
    if(TARGET tulle_${face}_static)
        install(TARGETS tulle_${face}_static EXPORT tulle-${face} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${face})
    endif()
    install(EXPORT tulle-${face} NAMESPACE tulle:: FILE tulle-${face}-targets.cmake DESTINATION ${package_dir} COMPONENT ${face})
endforeach()
foreach(target tulle_ucontext tulle_preload) # nobody links them
    if(TARGET ${target})
        install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT preload NAMELINK_SKIP)
    endif()
endforeach()
if(TARGET tulle_pthread)
    install(FILES ${archive} ${static_options} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT preload)
endif()

configure_package_config_file(cmake/tulle-config.cmake.in tulle-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tulle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tulle-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tulle-config-version.cmake
    DESTINATION ${package_dir} COMPONENT dev)

# The prefix is not written into the *.pc: an installed tree may be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
set(pc_atomic "")
if(tulle_atomic)
    set(pc_atomic " -latomic")
endif()
foreach(face dev ${faces})
    string(REPLACE "tulle-dev" "tulle" package tulle-${face})
    configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${face})
endforeach()

include(tulle_qthread_prefix)

file(GLOB manuals CONFIGURE_DEPENDS docs/man/*.[1-8])
foreach(manual IN LISTS manuals)
    string(REGEX MATCH "[1-8]$" section ${manual})
    set(component dev)
    if(section EQUAL 1)
        set(component program)
    elseif(manual MATCHES "tulle_parmacs")
        set(component parmacs)
    endif()
    install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
    # Every other function or command that a page names gets a page of its own that refers to it.
    get_filename_component(page ${manual} NAME)
    file(STRINGS ${manual} named REGEX "^\\.Nm [a-z_0-9+-]+ ?,?$")
    foreach(line IN LISTS named)
        string(REGEX REPLACE "^\\.Nm ([a-z_0-9+-]+).*$" "\\1.${section}" alias "${line}")
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/docs/man/${alias})
            file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/man/${alias} CONTENT ".so man${section}/${page}\n" @ONLY)
            install(FILES ${CMAKE_CURRENT_BINARY_DIR}/man/${alias} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
        endif()
    endforeach()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manuals})

set(completions ${PROJECT_SOURCE_DIR}/tools/completions)
install(FILES ${completions}/tulle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tulle COMPONENT program OPTIONAL)
install(FILES ${completions}/_tulle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program OPTIONAL)
install(FILES ${completions}/tulle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program OPTIONAL)

# gdb loads a script by itself from below its own data directory, under the path of the library; for other prefixes it is sourced.
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/tulle-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/tulle COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/tulle-gdb.py RENAME libtulle.so.${PROJECT_VERSION}-gdb.py
    DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}" COMPONENT program)
