noinst_LIBRARIES += libpmiserver.a
libpmiserver_a_SOURCES = \
    pmi-server/wire/pmi1_line.c pmi-server/wire/pmi1_line.h \
    pmi-server/wire/pmi2_frame.c pmi-server/wire/pmi2_frame.h \
    pmi-server/exchange/exchange.c pmi-server/exchange/exchange.h \
    pmi-server/protocol/message.c pmi-server/protocol/message.h \
    pmi-server/protocol/modex_message.c pmi-server/protocol/modex_message.h \
    pmi-server/protocol/namespace.h \
    pmi-server/protocol/namespace_info.c pmi-server/protocol/namespace_info.h \
    pmi-server/protocol/pending_requests.c pmi-server/protocol/pending_requests.h \
    pmi-server/protocol/program_info.c pmi-server/protocol/program_info.h \
    pmi-server/protocol/published_name.h \
    pmi-server/protocol/spawn_request.c pmi-server/protocol/spawn_request.h \
    pmi-server/protocol/task_states.c pmi-server/protocol/task_states.h \
    pmi-server/pmi/barrier.c pmi-server/pmi/barrier.h \
    pmi-server/pmi/connection.c pmi-server/pmi/connection.h \
    pmi-server/pmi/context.h \
    pmi-server/pmi/dialect.h \
    pmi-server/pmi/dialects.c pmi-server/pmi/dialects.h \
    pmi-server/pmi/group_barrier.c pmi-server/pmi/group_barrier.h \
    pmi-server/pmi/kvs.c pmi-server/pmi/kvs.h \
    pmi-server/pmi/pmi1.c pmi-server/pmi/pmi1.h \
    pmi-server/pmi/pmi1_command.c pmi-server/pmi/pmi1_command.h \
    pmi-server/pmi/pmi1_spawn.c pmi-server/pmi/pmi1_spawn.h \
    pmi-server/pmi/pmi2.c pmi-server/pmi/pmi2.h \
    pmi-server/pmi/pmi2_command.c pmi-server/pmi/pmi2_command.h \
    pmi-server/pmi/pmi2_reply.c pmi-server/pmi/pmi2_reply.h \
    pmi-server/pmi/pmi2_spawn.c pmi-server/pmi/pmi2_spawn.h \
    pmi-server/pmi/pmi_request.c pmi-server/pmi/pmi_request.h \
    pmi-server/pmi/quote.c pmi-server/pmi/quote.h \
    pmi-server/pmi/ring.c pmi-server/pmi/ring.h \
    pmi-server/pmi/server.c pmi-server/pmi/server.h \
    pmi-server/pmi/server_private.h \
    pmi-server/service/collective.c pmi-server/service/collective.h \
    pmi-server/service/context.h \
    pmi-server/service/direct_modex.c pmi-server/service/direct_modex.h \
    pmi-server/service/events_control.c pmi-server/service/events_control.h \
    pmi-server/service/iof.c pmi-server/service/iof.h \
    pmi-server/service/name_store.c pmi-server/service/name_store.h \
    pmi-server/service/name_store_private.h \
    pmi-server/service/namespaces.c pmi-server/service/namespaces.h \
    pmi-server/service/outbox.c pmi-server/service/outbox.h \
    pmi-server/service/publish_lookup.c pmi-server/service/publish_lookup.h \
    pmi-server/service/query.c pmi-server/service/query.h \
    pmi-server/service/service.c pmi-server/service/service.h \
    pmi-server/pmix/direct_modex_request.h \
    pmi-server/pmix/fence.h \
    pmi-server/pmix/iof.h \
    pmi-server/pmix/namespace.h \
    pmi-server/pmix/server.h \
    pmi-server/pmix/spawn.h \
    pmi-server/pmix/task_death.h \
    pmi-server/pmix/task_exit.h \
    pmi-server/pmix/tools.h \
    pmi-server/pmix/tcp_peers.c pmi-server/pmix/tcp_peers.h
if HAVE_PMIX
libpmiserver_a_SOURCES += \
    pmi-server/pmix/accept_check.c pmi-server/pmix/accept_check.h \
    pmi-server/pmix/client_connections.c pmi-server/pmix/client_connections.h \
    pmi-server/pmix/context.h \
    pmi-server/pmix/direct_modex_request.c pmi-server/pmix/direct_modex_request_private.h \
    pmi-server/pmix/direct_modex_serve.c pmi-server/pmix/direct_modex_serve.h \
    pmi-server/pmix/direct_modex_waiting.c pmi-server/pmix/direct_modex_waiting.h \
    pmi-server/pmix/events.c pmi-server/pmix/events.h \
    pmi-server/pmix/fence.c pmi-server/pmix/fence_private.h \
    pmi-server/pmix/group_connect.c pmi-server/pmix/group_connect.h \
    pmi-server/pmix/imported_symbols.c pmi-server/pmix/imported_symbols.h \
    pmi-server/pmix/info.c pmi-server/pmix/info.h \
    pmi-server/pmix/iof.c pmi-server/pmix/iof_private.h \
    pmi-server/pmix/job_control.c pmi-server/pmix/job_control.h \
    pmi-server/pmix/job_info.c pmi-server/pmix/job_info.h \
    pmi-server/pmix/library.c pmi-server/pmix/library.h \
    pmi-server/pmix/listeners.c pmi-server/pmix/listeners.h \
    pmi-server/pmix/log.c pmi-server/pmix/log.h \
    pmi-server/pmix/closed_connections.c pmi-server/pmix/closed_connections.h \
    pmi-server/pmix/lost_connections.c pmi-server/pmix/lost_connections.h \
    pmi-server/pmix/module.c pmi-server/pmix/module.h \
    pmi-server/pmix/namespace.c pmi-server/pmix/namespace_private.h \
    pmi-server/pmix/process_setup.c pmi-server/pmix/process_setup.h \
    pmi-server/pmix/publish_lookup.c pmi-server/pmix/publish_lookup.h \
    pmi-server/pmix/publish_options.c pmi-server/pmix/publish_options.h \
    pmi-server/pmix/query.c pmi-server/pmix/query.h \
    pmi-server/pmix/query_keys.c pmi-server/pmix/query_keys.h \
    pmi-server/pmix/remote_namespace.c pmi-server/pmix/remote_namespace.h \
    pmi-server/pmix/server.c \
    pmi-server/pmix/service_requests.c pmi-server/pmix/service_requests.h \
    pmi-server/pmix/spawn.c pmi-server/pmix/spawn_private.h \
    pmi-server/pmix/spawn_directives.c pmi-server/pmix/spawn_directives.h \
    pmi-server/pmix/task_death.c pmi-server/pmix/task_death_private.h \
    pmi-server/pmix/task_exit.c pmi-server/pmix/task_exit_private.h \
    pmi-server/pmix/tools.c pmi-server/pmix/tools_private.h \
    pmi-server/pmix/upcall_queue.c pmi-server/pmix/upcall_queue.h \
    pmi-server/pmix/version.c pmi-server/pmix/version.h
else
libpmiserver_a_SOURCES += pmi-server/pmix/stubs.c
endif

# What programs link: nothing but libc, and nothing exported but the API.
lib_LTLIBRARIES += libpmi.la
libpmi_la_SOURCES = \
    pmi-server/client/connection.c pmi-server/client/connection.h \
    pmi-server/client/libpmi.c \
    pmi-server/client/libpmi_spawn.c \
    pmi-server/client/pmi1_session.c pmi-server/client/pmi1_session.h \
    pmi-server/client/process_mapping.c pmi-server/client/process_mapping.h \
    pmi-server/client/session.c pmi-server/client/session.h \
    pmi-server/wire/pmi1_line.c pmi-server/wire/pmi1_line.h \
    base/number.c base/number.h
libpmi_la_CFLAGS = $(AM_CFLAGS) -pthread
libpmi_la_LDFLAGS = $(AM_LDFLAGS) -pthread -version-info 0:0:0 -export-symbols-regex '^PMI_'

lib_LTLIBRARIES += libpmi2.la
libpmi2_la_SOURCES = \
    pmi-server/client/connection.c pmi-server/client/connection.h \
    pmi-server/client/connection_frame.c pmi-server/client/connection_frame.h \
    pmi-server/client/libpmi2.c \
    pmi-server/client/libpmi2_spawn.c \
    pmi-server/client/pmi2_session.c pmi-server/client/pmi2_session.h \
    pmi-server/client/session.c pmi-server/client/session.h \
    pmi-server/wire/pmi1_line.c pmi-server/wire/pmi1_line.h \
    pmi-server/wire/pmi2_frame.c pmi-server/wire/pmi2_frame.h \
    base/number.c base/number.h
libpmi2_la_CFLAGS = $(AM_CFLAGS) -pthread
libpmi2_la_LDFLAGS = $(AM_LDFLAGS) -pthread -version-info 0:0:0 \
    -export-symbols-regex '^PMI2_|^PMIX_Ring$$'

# A directory of its own: other packages install headers of these names too. The .pc files point at
# it.
tpruninclude_HEADERS = pmi-server/client/pmi.h pmi-server/client/pmi2.h
tprunincludedir = $(includedir)/tprun
pkgconfig_DATA += pmi-server/client/tprun-pmi.pc pmi-server/client/tprun-pmi2.pc
