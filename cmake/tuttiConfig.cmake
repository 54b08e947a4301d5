# find_package(tutti) gives tutti::shared and tutti::static.
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
find_dependency(Threads)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
include(${CMAKE_CURRENT_LIST_DIR}/tuttiTargets.cmake)
