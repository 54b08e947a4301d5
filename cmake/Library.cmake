# build/lib/libtutti.so and libtutti.a from src/**/*.c. Only tutti_* leaves the shared one; the static one, with the
# headers of src/, is also what the command, the benchmarks and the tests are linked with: `tutti_internals`.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
set(system_libraries PkgConfig::HWLOC PkgConfig::SODIUM Threads::Threads ${CMAKE_DL_LIBS} rt m)

file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS src/*.c)
list(FILTER library_sources EXCLUDE REGEX "_test\\.c$")
list(FILTER library_sources EXCLUDE REGEX "${ucx_left_out}")

# Kernels for one kind of processor, by file name; which of them runs is chosen at run time.
function(kernel_flags suffix processors)
  set(files ${library_sources})
  list(FILTER files INCLUDE REGEX "/dtype/.*_${suffix}\\.c$")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "${processors}")
    set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  endif()
endfunction()
kernel_flags(avx2 "x86_64|AMD64" -mavx2 -mfma -mf16c)
kernel_flags(avx512 "x86_64|AMD64" -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c)
kernel_flags(neon "armv7" -mfpu=neon)

# The shipped profile is part of the library, so that no rank can miss it or find another one. As bytes: a string of that
# length is more than compilers have to take.
set(shipped ${CMAKE_SOURCE_DIR}/profiles/default.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shipped})
file(READ ${shipped} profile_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," profile_bytes "${profile_bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n  "
       profile_bytes "${profile_bytes}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/shipped.c @ONLY CONTENT
  "#include \"tune/tune.h\"\nconst char tt_profile_shipped[] = {\n  @profile_bytes@0};\n")

add_library(tutti_objects OBJECT ${library_sources} ${CMAKE_BINARY_DIR}/shipped.c)
set_target_properties(tutti_objects PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(tutti_objects PRIVATE include src)
target_link_libraries(tutti_objects PRIVATE tutti_flags PkgConfig::JANSSON ${system_libraries})

# With sanitizers the rest is not optimised: gcc takes twice as long to compile it, and tests spend their time here.
if(TUTTI_SANITIZE)
  target_compile_options(tutti_objects PRIVATE -O1)
endif()

# An atomic that is used like a plain variable is a fence that nobody sees.
target_compile_options(tutti_objects PRIVATE $<$<C_COMPILER_ID:Clang>:-Watomic-implicit-seq-cst>)

add_library(tutti_shared SHARED $<TARGET_OBJECTS:tutti_objects>)
set(symbols ${CMAKE_SOURCE_DIR}/cmake/tutti.map)
target_link_options(tutti_shared PRIVATE -Wl,--version-script=${symbols})
target_link_libraries(tutti_shared PRIVATE tutti_flags PkgConfig::JANSSON ${system_libraries})
set_target_properties(tutti_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${symbols})

add_library(tutti_static STATIC $<TARGET_OBJECTS:tutti_objects>)
target_link_libraries(tutti_static PRIVATE PkgConfig::JANSSON ${system_libraries})

foreach(library tutti_shared tutti_static)
  string(REPLACE tutti_ "" name ${library})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME tutti EXPORT_NAME ${name} LINKER_LANGUAGE C)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

add_library(tutti_internals INTERFACE)
target_include_directories(tutti_internals INTERFACE src)
target_link_libraries(tutti_internals INTERFACE tutti_static tutti_flags PkgConfig::JANSSON ${system_libraries})
