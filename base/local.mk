noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
    base/array.h \
    base/buf.c base/buf.h \
    base/clock.c base/clock.h \
    base/descriptors.c base/descriptors.h \
    base/directory.c base/directory.h \
    base/duration.c base/duration.h \
    base/edit_distance.c base/edit_distance.h \
    base/error.c base/error.h \
    base/file.c base/file.h \
    base/file_text.c base/file_text.h \
    base/hash_table.c base/hash_table.h \
    base/hwloc_library.c base/hwloc_library.h \
    base/mem.c base/mem.h \
    base/number.c base/number.h \
    base/pack.c base/pack.h \
    base/printable.c base/printable.h \
    base/search.h \
    base/shell_words.c base/shell_words.h \
    base/string_list.c base/string_list.h \
    base/text.c base/text.h \
    base/thread.c base/thread.h \
    base/xxhash64.c base/xxhash64.h
