noinst_LIBRARIES += libspec.a libstdio.a
libspec_a_SOURCES = \
    launcher/cli/options.c launcher/cli/options.h \
    launcher/program/spec.c launcher/program/spec.h
libstdio_a_SOURCES = \
    launcher/stdio/input.c launcher/stdio/input.h \
    launcher/stdio/lines.c launcher/stdio/lines.h \
    launcher/stdio/output.c launcher/stdio/output.h
