# build/lib/tutti/libtutti-heap.so: bindings/heap, preloaded where it is asked for. It is malloc, so nothing is in it but
# the C library's own, and no sanitizer.
file(GLOB heap_sources CONFIGURE_DEPENDS bindings/heap/*.c)
add_library(tutti_heap SHARED ${heap_sources})
set_target_properties(tutti_heap PROPERTIES OUTPUT_NAME tutti-heap C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti)
target_include_directories(tutti_heap PRIVATE src bindings/heap)
target_compile_options(tutti_heap PRIVATE -fno-builtin-malloc -fno-builtin-realloc -fno-builtin-calloc
  $<$<C_COMPILER_ID:GNU>:-Wno-missing-attributes>)
target_link_libraries(tutti_heap PRIVATE tutti_plain ${CMAKE_DL_LIBS})
target_link_options(tutti_heap PRIVATE -Wl,-z,initfirst -Wl,-z,defs)
