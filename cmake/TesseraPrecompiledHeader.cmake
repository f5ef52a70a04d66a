# With -DTESSERA_PRECOMPILED_HEADER=ON a project that uses Tessera with g++ reads qdp.h once, not once for each of its sources: an object
# library compiles it to a precompiled header with the project's own flags, and each C++ source of a target that links to Tessera::qdp
# begins with it (-include). A target whose flags differ in what matters to g++ (-O0 beside -O2, -g, -fPIC) reads the header itself.
# Off by default, since sources that do not include qdp.h then see its names, and macros that a source defines before come too late.
if(NOT TESSERA_PRECOMPILED_HEADER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  return()
endif()
set(TESSERA_PRECOMPILED ${CMAKE_BINARY_DIR}/tessera_precompiled/$<CONFIG>/qdp.hpp)

if(NOT TARGET tessera_precompiled)   # once in a project, however often it asks for the package
  file(GENERATE OUTPUT ${TESSERA_PRECOMPILED} CONTENT "#include <qdp.h>\n")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tessera_precompiled/qdp.cpp CONTENT "#include <qdp.h>\n")
  add_library(tessera_precompiled_object OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/tessera_precompiled/qdp.cpp)
  target_include_directories(tessera_precompiled_object SYSTEM PRIVATE $<TARGET_PROPERTY:Tessera::qdp,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_features(tessera_precompiled_object PRIVATE cxx_std_20)
  target_compile_options(tessera_precompiled_object PRIVATE $<TARGET_PROPERTY:OpenMP::OpenMP_CXX,INTERFACE_COMPILE_OPTIONS> -x c++-header)
  # g++ knows the headers in it by their bytes, a compiler cache only by what the preprocessor leaves of them.
  set_target_properties(tessera_precompiled_object PROPERTIES CXX_COMPILER_LAUNCHER "" UNITY_BUILD OFF
                        POSITION_INDEPENDENT_CODE "${BUILD_SHARED_LIBS}")
  if(DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
    set_target_properties(tessera_precompiled_object PROPERTIES POSITION_INDEPENDENT_CODE ${CMAKE_POSITION_INDEPENDENT_CODE})
  endif()
  # A link: there is no half of it, and it is as old as what it leads to.
  add_custom_command(OUTPUT ${TESSERA_PRECOMPILED}.gch
                     COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_OBJECTS:tessera_precompiled_object> ${TESSERA_PRECOMPILED}.gch
                     DEPENDS tessera_precompiled_object $<TARGET_OBJECTS:tessera_precompiled_object> VERBATIM)
  add_custom_target(tessera_precompiled DEPENDS ${TESSERA_PRECOMPILED}.gch)
endif()

add_dependencies(Tessera::qdp tessera_precompiled)
# -fpch-deps: the headers in it are dependencies of each source.
set_property(TARGET Tessera::qdp APPEND PROPERTY INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${TESSERA_PRECOMPILED}\" -fpch-deps>")
