noinst_LIBRARIES += libpmiserver.a
libpmiserver_a_SOURCES = \
    pmi-server/kvs/exchange.c pmi-server/kvs/exchange.h \
    pmi-server/kvs/kvs.c pmi-server/kvs/kvs.h \
    pmi-server/pmi1/server.c pmi-server/pmi1/server.h
