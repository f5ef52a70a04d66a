# Every build option, its valid values, and what follows from them.

# tessera_choice(NAME DEFAULT "help" value...): a cache option that stops on anything but the listed values.
function(tessera_choice name default help)
  set(${name} ${default} CACHE STRING "${help}: ${ARGN}")
  set_property(CACHE ${name} PROPERTY STRINGS ${ARGN})
  if(NOT "${${name}}" IN_LIST ARGN)
    list(JOIN ARGN ", " valid)
    message(FATAL_ERROR "${name}: expected one of: ${valid}; got '${${name}}'. "
                        "Configure again with -D${name}=${default} or another of these.")
  endif()
endfunction()

tessera_choice(QDP_PRECISION double "Word behind Real and the unsuffixed types" double single)
tessera_choice(QDP_ND 4 "Space-time dimensions" 2 3 4)
tessera_choice(QDP_NC 3 "Colours" 1 2 3 4)
tessera_choice(QDP_NS 4 "Spin components" 4)
tessera_choice(TESSERA_SANITIZE none "Sanitizers to build with" none address thread)
option(TESSERA_BUNDLE "LLVM linked statically, programs that can be moved: what scripts/bundle needs" OFF)
option(TESSERA_WERROR "Warnings are errors (preset ci)" OFF)
# Kernels are compiled at run time, whatever the host code around them was compiled with. Not for jit/, which does not
# depend on QDP_ND and QDP_NC: a compiler cache has its objects from any other build.
option(TESSERA_QUICK_BUILD "Compile everything above jit/ for a short build: several sources at once, less optimised" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)   # a changed library does not link 200 test programs again
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With precompiled headers, too.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# Host arithmetic must agree with the kernels to the last bit: products and sums stay apart unless the code says fma.
add_compile_options(-Wall -Wextra -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)   # false alarms on std::string, gcc bug 105651
endif()
if(TESSERA_WERROR)
  add_compile_options(-Werror)
endif()

if(TESSERA_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(TESSERA_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
endif()
if(sanitizers)
  add_compile_options(${sanitizers} -fno-omit-frame-pointer)
  add_link_options(${sanitizers})
endif()

# qdp_config.h: the macros that QDP++ programs test.
if(QDP_PRECISION STREQUAL "double")
  set(BASE_PRECISION 64)
else()
  set(BASE_PRECISION 32)
endif()
# HDF5Reader and HDF5Writer are there if libhdf5 is.
find_package(SerialHDF5 QUIET)
set(QDP_USE_HDF5 ${SerialHDF5_FOUND})
set(TESSERA_CONFIG_DIR ${PROJECT_BINARY_DIR}/include)
configure_file(cmake/qdp_config.h.in ${TESSERA_CONFIG_DIR}/qdp_config.h @ONLY)
