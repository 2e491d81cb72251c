# SPDX-License-Identifier: Apache-2.0
#
# LIBDIR/tulle/qthread: a prefix in which a build that looks for Qthreads finds what it would find there: include, lib/libqthread.so, a CMake
# package, qthread.pc. It holds links to what is installed anyway, all relative, so that the installed tree may be moved, and copied with cp -rL.
set(qthread_prefix ${CMAKE_INSTALL_LIBDIR}/tulle/qthread)
set(qthread_tree ${CMAKE_CURRENT_BINARY_DIR}/qthread-prefix)

file(STRINGS include/compat/qthread/qthread/interface.h qthread_version REGEX "#define QTHREAD_VERSION ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" qthread_version "${qthread_version}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/compat/qthread/qthread/interface.h)

file(RELATIVE_PATH to_include /${qthread_prefix} /${CMAKE_INSTALL_INCLUDEDIR}/compat/qthread)
file(RELATIVE_PATH to_lib /${qthread_prefix}/lib /${CMAKE_INSTALL_LIBDIR})
string(REGEX REPLACE "/$" "" to_lib ${to_lib})
set(links
    include=${to_include}
    lib/libqthread.so=${to_lib}/libtulle-qthread.so
    lib/libqthread.a=${to_lib}/libtulle-qthread.a
    lib/libtulle.a=${to_lib}/libtulle.a
    # What a program that was linked with the first of these asks for when it starts.
    lib/libtulle-qthread.so.${PROJECT_VERSION_MAJOR}=${to_lib}/libtulle-qthread.so.${PROJECT_VERSION_MAJOR}
    lib/libtulle.so.${PROJECT_VERSION_MAJOR}=${to_lib}/libtulle.so.${PROJECT_VERSION_MAJOR})
file(REMOVE_RECURSE ${qthread_tree})
file(MAKE_DIRECTORY ${qthread_tree}/lib)
foreach(link IN LISTS links)
    string(REGEX MATCH "^([^=]*)=(.*)$" link ${link})
    file(CREATE_LINK ${CMAKE_MATCH_2} ${qthread_tree}/${CMAKE_MATCH_1} SYMBOLIC)
endforeach()

configure_file(cmake/qthread-config.cmake.in ${qthread_tree}/lib/cmake/qthread/qthread-config.cmake @ONLY)
write_basic_package_version_file(${qthread_tree}/lib/cmake/qthread/qthread-config-version.cmake VERSION ${qthread_version}
    COMPATIBILITY SameMajorVersion)
configure_file(cmake/qthread.pc.in ${qthread_tree}/lib/pkgconfig/qthread.pc @ONLY)
install(DIRECTORY ${qthread_tree}/ DESTINATION ${qthread_prefix} COMPONENT qthread)
