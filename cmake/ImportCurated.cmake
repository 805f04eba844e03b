# cmake -DTOOL=tile-tune -DRECORDS=a.jsonl;b.jsonl -DDATABASE=curated.db -P ImportCurated.cmake: the schedules that the
# tool is shipped with, as a database. Without them it does all that it does, so that what keeps it from taking them (a
# clock that stands before they were measured) is no error.
set(unfinished "${DATABASE}.new")
file(REMOVE "${unfinished}" "${unfinished}-wal" "${unfinished}-shm" "${unfinished}-sessions")
foreach(file ${RECORDS})
  execute_process(COMMAND "${TOOL}" db import "${file}" --db "${unfinished}" --quiet RESULT_VARIABLE failed)
  if(failed)
    message(WARNING "${file} is not among the schedules that this build is shipped with")
  endif()
endforeach()
file(REMOVE "${DATABASE}-wal" "${DATABASE}-shm" "${DATABASE}-sessions" "${unfinished}-sessions")
if(EXISTS "${unfinished}")
  file(RENAME "${unfinished}" "${DATABASE}")
else()
  file(REMOVE "${DATABASE}")
endif()
