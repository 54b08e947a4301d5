# Headers, libraries, pkg-config file, CMake package, the command and what it reads.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS tutti_shared tutti_static EXPORT tutti)
if(TARGET tutti)
  install(TARGETS tutti)
endif()
if(interposers)
  install(TARGETS ${interposers})
  install(TARGETS ${interposers_serve} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti)
endif()
foreach(mpi ${mpis})
  install(TARGETS tune_${mpi} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tutti)
endforeach()
install(PROGRAMS ${mpi_programs} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tutti)
install(FILES ${profiles} DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti)
file(GLOB manuals CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up /${pkgconfig} /) # tutti.pc finds its prefix from where it lies
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tutti.pc DESTINATION ${pkgconfig})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
write_basic_package_version_file(tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tuttiConfigVersion.cmake cmake/tuttiConfig.cmake DESTINATION ${package})
install(EXPORT tutti NAMESPACE tutti:: FILE tuttiTargets.cmake DESTINATION ${package})

# The loader has a list of what is in its folders. A distribution's packages take care of it themselves.
install(CODE "set(libraries \"${CMAKE_INSTALL_LIBDIR}\")")
install(SCRIPT cmake/Ldconfig.cmake)
