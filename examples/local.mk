# files of examples

noinst_PROGRAMS += examples/pmi-hello
examples_pmi_hello_SOURCES = examples/pmi-hello.c
examples_pmi_hello_CPPFLAGS = -I$(top_srcdir)/pmi-server/client
examples_pmi_hello_LDADD = libpmi.la

noinst_PROGRAMS += examples/pmi2-hello
examples_pmi2_hello_SOURCES = examples/pmi2-hello.c
examples_pmi2_hello_CPPFLAGS = -I$(top_srcdir)/pmi-server/client
examples_pmi2_hello_LDADD = libpmi2.la

EXTRA_DIST += examples/run examples/batch.sh examples/layout.svg examples/modulefile examples/mpi-abi.sh examples/mpi-ring.c examples/R-4-nodes.json \
    examples/R-one-machine.json examples/slurm.sh examples/pbs.sh examples/lsf.sh examples/sge.sh examples/flux.sh \
    examples/pals.sh examples/mpijob.yaml \
    examples/tpbatch/job.sh examples/tpbatch/task.sh examples/tpbatch/prolog.sh examples/tpbatch/epilog.sh
