# find_package(tutti) gives tutti::tutti, which is tutti::shared, and tutti::static. Only who links with the latter needs
# pkg-config and these three.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(JANSSON QUIET IMPORTED_TARGET jansson)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
  pkg_check_modules(SODIUM QUIET IMPORTED_TARGET libsodium)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/tuttiTargets.cmake)
if(NOT TARGET tutti::tutti)
  add_library(tutti::tutti ALIAS tutti::shared)
endif()
