# Defines what `cmake --install` installs and where, and what CPack puts into the Debian package (packaging/deb).
#
#   bin/                   the programs; ringmaster-engine and ringmaster-tokenize are scripts that find LibTorch's environment
#   libexec/ringmaster/    the engine itself and its CUDA part
#   share/ringmaster/      tokenizing, the lock files of Python packages, the example
#
# LibTorch is not in the package. `ringmaster setup` installs it in each user's cache.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # the tests are not built for a package
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(app_id io.github.ringmaster.Ringmaster)
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
set(packaging_out ${CMAKE_BINARY_DIR}/packaging)

# --- Programs
foreach(program ringmaster ringmaster-gui ringmaster-agent)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION bin)
    endif()
endforeach()
install(PROGRAMS ${packaging}/programs/ringmaster-engine ${packaging}/programs/ringmaster-tokenize DESTINATION bin)
install(TARGETS ringmaster-engine RUNTIME DESTINATION libexec/ringmaster)
if(TARGET ringmaster_cuda)
    install(TARGETS ringmaster_cuda LIBRARY DESTINATION libexec/ringmaster)
endif()

# --- Shared files
install(FILES ${CMAKE_BINARY_DIR}/share/ringmaster/environment.sh ${CMAKE_SOURCE_DIR}/launcher/tokenize/ringmaster_tokenize.py
    ${CMAKE_SOURCE_DIR}/launcher/tokenize/requirements.txt ${CMAKE_SOURCE_DIR}/launcher/nodes/libtorch.txt DESTINATION share/ringmaster)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/launcher/tokenize/ringmaster_rows ${CMAKE_SOURCE_DIR}/launcher/tracking/ringmaster_track ${CMAKE_SOURCE_DIR}/resources/example
    DESTINATION share/ringmaster PATTERN __pycache__ EXCLUDE)

# --- The desktop
install(FILES ${packaging}/desktop/${app_id}.desktop DESTINATION share/applications)
install(FILES ${packaging}/desktop/${app_id}.metainfo.xml DESTINATION share/metainfo)
install(FILES ${packaging}/desktop/${app_id}.xml DESTINATION share/mime/packages)
install(FILES ${CMAKE_SOURCE_DIR}/resources/icons/ringmaster.svg DESTINATION share/icons/hicolor/scalable/apps RENAME ${app_id}.svg)

# --- Documents, compressed as Debian requires
function(install_compressed file name destination)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${packaging_out}/${name}.gz COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${packaging_out}/${name}.gz DESTINATION ${destination})
endfunction()
file(MAKE_DIRECTORY ${packaging_out})
file(GLOB man_pages CONFIGURE_DEPENDS ${packaging}/man/*.1)
foreach(page IN LISTS man_pages)
    get_filename_component(name ${page} NAME)
    install_compressed(${page} ${name} share/man/man1)
endforeach()
install_compressed(${packaging}/debian/changelog changelog share/doc/ringmaster)
install(FILES ${packaging}/debian/copyright DESTINATION share/doc/ringmaster)

# --- The Debian package
# dpkg-shlibdeps has to find LibTorch's libraries, which no package owns, but nothing else of the wheel: the package depends on
# Debian's libgomp, not on the wheel's copy.
set(shlibdeps ${packaging_out}/libtorch)
file(REMOVE_RECURSE ${shlibdeps})
file(MAKE_DIRECTORY ${shlibdeps})
foreach(library libc10 libtorch_cpu libc10_cuda libtorch_cuda)
    file(CREATE_LINK ${TORCH_LIB_DIR}/${library}.so ${shlibdeps}/${library}.so SYMBOLIC)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringmaster)
set(CPACK_PACKAGE_VENDOR "The Ringmaster authors")
set(CPACK_PACKAGE_CONTACT "The Ringmaster authors <maintainers@ringmaster.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "train language models on sequences too long for one GPU")
set(CPACK_PACKAGE_DESCRIPTION "Ringmaster plans, launches and watches the training of language models
whose sequences are cut over several ranks (context parallelism). It reads
axolotl's configuration, says what fits before anything runs, and trains
with an engine of its own to the same result on any number of ranks.

This package holds the desktop app, the command line and the engine. The
engine computes with LibTorch, which is not in Debian: 'ringmaster setup',
or one click in the app, brings PyTorch's wheel to the user's cache folder.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${shlibdeps})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3-venv, libjs-dygraphs")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, qt6-translations-l10n, qt6-wayland")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS fonts-noto-cjk)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${packaging}/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
