noinst_LIBRARIES += libpmiserver.a
libpmiserver_a_SOURCES = \
    pmi-server/kvs/exchange.c pmi-server/kvs/exchange.h \
    pmi-server/kvs/kvs.c pmi-server/kvs/kvs.h \
    pmi-server/dialects.c pmi-server/dialects.h \
    pmi-server/pmi1/command.c pmi-server/pmi1/command.h \
    pmi-server/pmi1/pmi1.c pmi-server/pmi1/pmi1.h \
    pmi-server/pmi1/reply.c pmi-server/pmi1/reply.h \
    pmi-server/pmi1/spawn.c pmi-server/pmi1/spawn.h \
    pmi-server/pmi1/wire.c pmi-server/pmi1/wire.h \
    pmi-server/pmi2/command.c pmi-server/pmi2/command.h \
    pmi-server/pmi2/pmi2.c pmi-server/pmi2/pmi2.h \
    pmi-server/pmi2/reply.c pmi-server/pmi2/reply.h \
    pmi-server/pmi2/spawn.c pmi-server/pmi2/spawn.h \
    pmi-server/pmi2/wire.c pmi-server/pmi2/wire.h \
    pmi-server/server/ask.c \
    pmi-server/server/attribute.c \
    pmi-server/server/barrier.c pmi-server/server/barrier.h \
    pmi-server/server/client.c pmi-server/server/client.h \
    pmi-server/server/dialect.h \
    pmi-server/server/group.c pmi-server/server/group.h \
    pmi-server/server/hosts.c \
    pmi-server/server/number.c pmi-server/server/number.h \
    pmi-server/server/quote.c pmi-server/server/quote.h \
    pmi-server/server/request.c pmi-server/server/request.h \
    pmi-server/server/ring.c pmi-server/server/ring.h \
    pmi-server/server/server.c pmi-server/server/server.h \
    pmi-server/server/spawn.c pmi-server/server/spawn.h

libpmiserver_a_SOURCES += \
    pmi-server/hub/describe.c pmi-server/hub/describe.h \
    pmi-server/hub/fetch.c \
    pmi-server/hub/gather.c \
    pmi-server/hub/bonds.c \
    pmi-server/hub/control.c \
    pmi-server/hub/deaths.c \
    pmi-server/hub/events.c \
    pmi-server/hub/hub.c pmi-server/hub/hub.h \
    pmi-server/hub/inside.h \
    pmi-server/hub/lookup.c \
    pmi-server/hub/names.c pmi-server/hub/names.h \
    pmi-server/hub/naming.c \
    pmi-server/hub/packet.c pmi-server/hub/packet.h \
    pmi-server/hub/push.c \
    pmi-server/hub/streams.c \
    pmi-server/hub/query.c \
    pmi-server/hub/tasks.c pmi-server/hub/tasks.h \
    pmi-server/hub/talk.c pmi-server/hub/talk.h \
    pmi-server/hub/view.c pmi-server/hub/view.h

libpmiserver_a_SOURCES += pmi-server/pmix/host.h pmi-server/pmix/message.c pmi-server/pmix/message.h
libpmiserver_a_SOURCES += \
    pmi-server/pmix/sockets.c pmi-server/pmix/sockets.h
if HAVE_PMIX
libpmiserver_a_SOURCES += \
    pmi-server/pmix/accept_check.c pmi-server/pmix/accept_check.h \
    pmi-server/pmix/calls.c pmi-server/pmix/calls.h \
    pmi-server/pmix/committed.c \
    pmi-server/pmix/data.c pmi-server/pmix/data.h \
    pmi-server/pmix/connect.c \
    pmi-server/pmix/control.c \
    pmi-server/pmix/deaths.c \
    pmi-server/pmix/ended.c \
    pmi-server/pmix/events.c \
    pmi-server/pmix/fence.c \
    pmi-server/pmix/foreign.c \
    pmi-server/pmix/gather.c \
    pmi-server/pmix/group.c \
    pmi-server/pmix/host.c \
    pmi-server/pmix/imports.c pmi-server/pmix/imports.h \
    pmi-server/pmix/infos.c pmi-server/pmix/infos.h \
    pmi-server/pmix/inside.h \
    pmi-server/pmix/job.c pmi-server/pmix/job.h \
    pmi-server/pmix/library.c pmi-server/pmix/library.h \
    pmi-server/pmix/missing.c \
    pmi-server/pmix/listeners.c pmi-server/pmix/listeners.h \
    pmi-server/pmix/modex.c \
    pmi-server/pmix/module.c pmi-server/pmix/module.h \
    pmi-server/pmix/names.c \
    pmi-server/pmix/names_options.c pmi-server/pmix/names_options.h \
    pmi-server/pmix/psets.c \
    pmi-server/pmix/keys.c pmi-server/pmix/keys.h \
    pmi-server/pmix/query.c \
    pmi-server/pmix/pack.c \
    pmi-server/pmix/questions.c \
    pmi-server/pmix/queue.c pmi-server/pmix/queue.h \
    pmi-server/pmix/directives.c pmi-server/pmix/directives.h \
    pmi-server/pmix/say.c pmi-server/pmix/say.h \
    pmi-server/pmix/spawn.c \
    pmi-server/pmix/input.c \
    pmi-server/pmix/output.c \
    pmi-server/pmix/told.c \
    pmi-server/pmix/tools.c \
    pmi-server/pmix/upcalls.c \
    pmi-server/pmix/value.c pmi-server/pmix/value.h \
    pmi-server/pmix/waiting.c
else
libpmiserver_a_SOURCES += pmi-server/pmix/absent.c
endif

# What programs link: nothing but libc, and nothing exported but the API.
lib_LTLIBRARIES += libpmi.la
libpmi_la_SOURCES = \
    pmi-server/client/clique.c pmi-server/client/clique.h \
    pmi-server/client/conn.c pmi-server/client/conn.h \
    pmi-server/client/dynamic.c \
    pmi-server/client/line.c pmi-server/client/line.h \
    pmi-server/client/pairs.c pmi-server/client/pairs.h \
    pmi-server/client/pmi.c \
    pmi-server/client/session.c pmi-server/client/session.h \
    pmi-server/pmi1/wire.c pmi-server/pmi1/wire.h \
    pmi-server/server/number.c pmi-server/server/number.h
libpmi_la_CFLAGS = $(AM_CFLAGS) -pthread
libpmi_la_LDFLAGS = $(AM_LDFLAGS) -pthread -version-info 0:0:0 -export-symbols-regex '^PMI_'

lib_LTLIBRARIES += libpmi2.la
libpmi2_la_SOURCES = \
    pmi-server/client/conn.c pmi-server/client/conn.h \
    pmi-server/client/dynamic2.c \
    pmi-server/client/frame.c pmi-server/client/frame.h \
    pmi-server/client/line.c pmi-server/client/line.h \
    pmi-server/client/pairs.c pmi-server/client/pairs.h \
    pmi-server/client/pmi2.c \
    pmi-server/client/session2.c pmi-server/client/session2.h \
    pmi-server/pmi1/wire.c pmi-server/pmi1/wire.h \
    pmi-server/pmi2/wire.c pmi-server/pmi2/wire.h \
    pmi-server/server/number.c pmi-server/server/number.h
libpmi2_la_CFLAGS = $(AM_CFLAGS) -pthread
libpmi2_la_LDFLAGS = $(AM_LDFLAGS) -pthread -version-info 0:0:0 \
    -export-symbols-regex '^PMI2_|^PMIX_Ring$$'

# A directory of its own: other packages install headers of these names too. The .pc files point at
# it.
tpruninclude_HEADERS = pmi-server/client/pmi.h pmi-server/client/pmi2.h
tprunincludedir = $(includedir)/tprun
pkgconfig_DATA += pmi-server/client/tprun-pmi.pc pmi-server/client/tprun-pmi2.pc
