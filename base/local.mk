noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
    base/buf.c base/buf.h \
    base/directory.c base/directory.h \
    base/descriptors.c base/descriptors.h \
    base/error.c base/error.h \
    base/file.c base/file.h \
    base/fsd.c base/fsd.h \
    base/mem.c base/mem.h \
    base/near.c base/near.h \
    base/printable.c base/printable.h \
    base/shell_words.c base/shell_words.h \
    base/table.c base/table.h \
    base/thread.c base/thread.h
