# find_package(tutti) gives tutti::shared and tutti::static.
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
find_dependency(Threads)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
include(${CMAKE_CURRENT_LIST_DIR}/tuttiTargets.cmake)
