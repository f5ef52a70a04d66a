# TESSERA_BUNDLE=ON: programs and libraries that run from wherever they are unpacked, on a machine with glibc and nothing
# else; scripts/bundle makes the archive of the install component `bundle`:
#   bin/ programs and examples   tests/bin/   lib/ Tessera and every library it needs but glibc's   share/tessera/ libdevice
#   README.md, scripts/, examples/, tests/data/, tests/integration/ as in the sources: test programs look for them there
# Two calls, as link options must come before the targets and installation after them.

# An rpath of the old kind also holds for what the libraries need themselves, so nothing need be patched into them.
function(tessera_bundle_link_options)
  add_link_options(-Wl,--disable-new-dtags)
endfunction()

# Every executable of a folder and the folders below it.
function(tessera_executables folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(found "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      list(APPEND found ${target})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(tessera_bundle_install)
  set(rule COMPONENT bundle EXCLUDE_FROM_ALL)
  tessera_executables(apps programs)
  tessera_executables(examples examples)
  tessera_executables(tests tests)

  set_target_properties(tessera_jit tessera_qdp tessera_qcd PROPERTIES INSTALL_RPATH "$ORIGIN")
  set_target_properties(${programs} ${examples} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  set_target_properties(${tests} PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib")
  install(TARGETS tessera_jit tessera_qdp tessera_qcd RUNTIME_DEPENDENCY_SET needed
          LIBRARY DESTINATION lib ${rule} NAMELINK_SKIP)
  install(TARGETS ${programs} ${examples} RUNTIME_DEPENDENCY_SET needed RUNTIME DESTINATION bin ${rule})
  install(TARGETS ${tests} RUNTIME_DEPENDENCY_SET needed RUNTIME DESTINATION tests/bin ${rule})
  # glibc belongs to the machine: its loader and its libraries only work together.
  install(RUNTIME_DEPENDENCY_SET needed
          PRE_EXCLUDE_REGEXES "^libtessera_" "^ld-linux" "^lib(c|m|mvec|dl|rt|pthread|util|resolv)\\.so"
          LIBRARY DESTINATION lib ${rule})

  install(DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin/fake_cuda ${PROJECT_BINARY_DIR}/tests/bin/fake_mpi
          DESTINATION tests/bin ${rule} OPTIONAL)  # loaded by tests

  install(FILES README.md DESTINATION . ${rule})
  install(PROGRAMS scripts/gpu-check DESTINATION scripts ${rule})
  install(PROGRAMS tests/integration/run_examples.sh DESTINATION tests/integration ${rule})
  install(DIRECTORY tests/data DESTINATION tests ${rule})
  install(DIRECTORY examples DESTINATION . ${rule} FILES_MATCHING PATTERN "*.xml" PATTERN "*.cpp" PATTERN "*.md")

  # NVIDIA's mathematical functions, a file that programs may pass on. Without it kernels that call them need CUDA's toolkit.
  file(GLOB toolkits /usr/local/cuda*/nvvm/libdevice)
  find_file(TESSERA_LIBDEVICE libdevice.10.bc PATHS ENV CUDA_HOME ENV CUDA_PATH ${toolkits}
            /usr/lib/nvidia-cuda-toolkit /usr/lib/cuda PATH_SUFFIXES nvvm/libdevice libdevice NO_DEFAULT_PATH)
  if(TESSERA_LIBDEVICE)
    install(FILES ${TESSERA_LIBDEVICE} DESTINATION share/tessera ${rule})
  else()
    message(STATUS "The bundle has no libdevice.10.bc: no CUDA toolkit here (set TESSERA_LIBDEVICE to the file)")
  endif()
endfunction()
