# Headers, CMake packages (Tessera, and QDPXX for programs written against QDP++), the qdp++-config script, files for pkg-config.
include(CMakePackageConfigHelpers)

set(TESSERA_HEADER_DIR ${CMAKE_INSTALL_INCLUDEDIR}/tessera)
set(TESSERA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
set(QDPXX_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/QDPXX)
set(QDPXX_VERSION 1.46.1)   # the QDP++ whose interface this one follows

install(DIRECTORY jit qdp lib DESTINATION ${TESSERA_HEADER_DIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "codegen" EXCLUDE PATTERN "include" EXCLUDE
        PATTERN "lib/rational/multiprecision.hpp" EXCLUDE PATTERN "lib/rational/factored.hpp" EXCLUDE)
install(DIRECTORY qdp/include/ DESTINATION ${TESSERA_HEADER_DIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${TESSERA_CONFIG_DIR}/qdp_config.h DESTINATION ${TESSERA_HEADER_DIR})
# The plug-in for MPI as source, for clusters with an MPI of their own.
install(FILES jit/comm/mpi/tessera_mpi.cpp DESTINATION ${TESSERA_HEADER_DIR}/jit/comm/mpi)
install(PROGRAMS scripts/tessera-build-mpi DESTINATION ${CMAKE_INSTALL_BINDIR})

install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${TESSERA_PACKAGE_DIR})
configure_package_config_file(cmake/TesseraConfig.cmake.in TesseraConfig.cmake
                              INSTALL_DESTINATION ${TESSERA_PACKAGE_DIR})
write_basic_package_version_file(TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
              cmake/TesseraPrecompiledHeader.cmake
        DESTINATION ${TESSERA_PACKAGE_DIR})

configure_package_config_file(cmake/QDPXXConfig.cmake.in QDPXXConfig.cmake
                              INSTALL_DESTINATION ${QDPXX_PACKAGE_DIR})
write_basic_package_version_file(QDPXXConfigVersion.cmake VERSION ${QDPXX_VERSION} COMPATIBILITY AnyNewerVersion)
install(FILES ${PROJECT_BINARY_DIR}/QDPXXConfig.cmake ${PROJECT_BINARY_DIR}/QDPXXConfigVersion.cmake
        DESTINATION ${QDPXX_PACKAGE_DIR})

configure_file(cmake/qdp++-config.in qdp++-config @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/qdp++-config DESTINATION ${CMAKE_INSTALL_BINDIR})

# pkg-config --cflags --libs tessera-qdp (the language), tessera-qcd (and the physics)
file(RELATIVE_PATH TESSERA_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(TESSERA_PC_NAME qdp qcd)
  set(TESSERA_PC_TEXT "a data-parallel language for lattice field theory, with the interface of QDP++")
  set(TESSERA_PC_LIBS "-ltessera_qdp -ltessera_jit")
  if(TESSERA_PC_NAME STREQUAL qcd)
    set(TESSERA_PC_TEXT "lattice QCD in Tessera: actions, operators, solvers, hybrid Monte Carlo")
    set(TESSERA_PC_LIBS "-ltessera_qcd ${TESSERA_PC_LIBS}")
  endif()
  configure_file(cmake/tessera.pc.in tessera-${TESSERA_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tessera-${TESSERA_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
