noinst_LIBRARIES += libpmiserver.a
libpmiserver_a_SOURCES = \
    pmi-server/kvs/exchange.c pmi-server/kvs/exchange.h \
    pmi-server/kvs/kvs.c pmi-server/kvs/kvs.h \
    pmi-server/pmi1/barrier.h \
    pmi-server/pmi1/client.c pmi-server/pmi1/client.h \
    pmi-server/pmi1/command.c pmi-server/pmi1/command.h \
    pmi-server/pmi1/server.c pmi-server/pmi1/server.h \
    pmi-server/pmi1/spawn.c pmi-server/pmi1/spawn.h \
    pmi-server/pmi1/wire.c pmi-server/pmi1/wire.h

# What programs link: nothing but libc, and nothing exported but the API.
lib_LTLIBRARIES += libpmi.la
libpmi_la_SOURCES = \
    pmi-server/client/clique.c pmi-server/client/clique.h \
    pmi-server/client/conn.c pmi-server/client/conn.h \
    pmi-server/client/dynamic.c \
    pmi-server/client/pmi.c \
    pmi-server/client/session.c pmi-server/client/session.h \
    pmi-server/pmi1/wire.c pmi-server/pmi1/wire.h
libpmi_la_CFLAGS = $(AM_CFLAGS) -pthread
libpmi_la_LDFLAGS = $(AM_LDFLAGS) -pthread -version-info 0:0:0 -export-symbols-regex '^PMI_'

# A directory of its own: other packages install a pmi.h too. tprun-pmi.pc points at it.
tpruninclude_HEADERS = pmi-server/client/pmi.h
tprunincludedir = $(includedir)/tprun
pkgconfig_DATA += pmi-server/client/tprun-pmi.pc
