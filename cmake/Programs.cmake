# build/bin/tutti (tools/), build/bin/bench_* (bench/) and build/bin/examples/* (examples/, public headers only). Tools
# are included by their path from the root: several of their folders have the name of one of src.
file(GLOB_RECURSE tool_sources CONFIGURE_DEPENDS tools/*.c)
list(FILTER tool_sources EXCLUDE REGEX "_test\\.c$")
list(FILTER tool_sources EXCLUDE REGEX "/tune/mpi/")
list(FILTER tool_sources EXCLUDE REGEX "${svm_left_out}")
if(tool_sources)
  add_executable(tutti ${tool_sources})
  target_include_directories(tutti PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(tutti PRIVATE tutti_internals ${svm_library})
  file(RELATIVE_PATH libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_source_files_properties(tools/shared/programs.c PROPERTIES COMPILE_DEFINITIONS "TUTTI_LIBRARIES=\"${libraries}\"")
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
foreach(source ${bench_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_link_libraries(bench_${name} PRIVATE tutti_internals)
endforeach()

file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE tutti_shared tutti_flags m)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/examples)
endforeach()

# Each gen_X writes docs/X.md from a table; not installed.
file(GLOB gen_sources CONFIGURE_DEPENDS scripts/gen_*.c)
foreach(source ${gen_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE tutti_internals)
endforeach()

# One of them shows what `tutti plan` does.
file(GLOB plan_sources CONFIGURE_DEPENDS tools/plan/*.c tools/shared/*.c)
target_sources(gen_algorithms PRIVATE ${plan_sources})
target_include_directories(gen_algorithms PRIVATE ${CMAKE_SOURCE_DIR})

# Profiles stand beside lib/ in the build folder as they do where tutti is installed.
file(GLOB profiles CONFIGURE_DEPENDS profiles/*.json)
foreach(profile ${profiles})
  get_filename_component(name ${profile} NAME)
  configure_file(${profile} ${CMAKE_BINARY_DIR}/share/tutti/${name} COPYONLY)
endforeach()

if(TUTTI_COVERAGE) # for scripts/followed.py
  add_executable(followed scripts/followed.c)
  target_link_libraries(followed PRIVATE tutti_internals)
endif()
