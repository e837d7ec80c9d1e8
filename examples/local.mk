# files of examples

noinst_PROGRAMS += examples/pmi-hello
examples_pmi_hello_SOURCES = examples/pmi-hello.c
examples_pmi_hello_CPPFLAGS = -I$(top_srcdir)/pmi-server/client
examples_pmi_hello_LDADD = libpmi.la
