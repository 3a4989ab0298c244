# Makes a manual page: the prose of IN, with the options that the tool itself tells.
#   cmake -DIN=page.1.in -DSHARED=stage.in -DTOOL=path -DVERSION=x -DOUT=page.1 -P page.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${TOOL} --generate man OUTPUT_VARIABLE OPTIONS COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n$" "" OPTIONS "${OPTIONS}")
file(READ ${IN} page)
file(READ ${SHARED} shared)
get_filename_component(name ${TOOL} NAME)
string(REPLACE "@SHARED@\n" "${shared}" page "${page}")
foreach(word OPTIONS VERSION)
  string(REPLACE "@${word}@" "${${word}}" page "${page}")
endforeach()
string(REPLACE "@NAME@" "${name}" page "${page}")
file(WRITE ${OUT} "${page}")
