# Tests; tests/check runs everything there is, these included.
AM_CPPFLAGS += -DTEST_DATA_DIR='"$(abs_top_srcdir)/tests/data"'
FUZZER_FLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

EXTRA_DIST += tests/README.md tests/check tests/debian tests/setup tests/lib tests/programs \
    tests/bench/run tests/bench/nothing.c tests/bench/pmibench.c tests/bench/pmixbench.c tests/bench/spawn-loop.c tests/cli tests/cluster \
    tests/numa tests/mpiexec tests/mpich tests/openpmix tests/mpi4py tests/apps tests/apps.d tests/matrix tests/data

if HAVE_CMOCKA
# Unit tests:
#   check_PROGRAMS += tests/unit/test-NAME
#   tests_unit_test_NAME_SOURCES = tests/unit/test-NAME.c tests/unit/unit.h
#   tests_unit_test_NAME_LDADD = libWHAT.a libbase.a ... $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-options
tests_unit_test_options_SOURCES = tests/unit/test-options.c tests/unit/unit.h
tests_unit_test_options_LDADD = libspec.a libagent.a libpmiserver.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-mpiexec
tests_unit_test_mpiexec_SOURCES = tests/unit/test-mpiexec.c tests/unit/unit.h
tests_unit_test_mpiexec_LDADD = libspec.a libagent.a libpmiserver.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-mpiexec-names
tests_unit_test_mpiexec_names_SOURCES = tests/unit/test-mpiexec-names.c tests/unit/unit.h
tests_unit_test_mpiexec_names_LDADD = libspec.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-mpiexec-options
tests_unit_test_mpiexec_options_SOURCES = tests/unit/test-mpiexec-options.c tests/unit/unit.h
tests_unit_test_mpiexec_options_LDADD = libspec.a libagent.a libpmiserver.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-relay
tests_unit_test_relay_SOURCES = tests/unit/test-relay.c tests/unit/unit.h
tests_unit_test_relay_LDADD = libspec.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-spec
tests_unit_test_spec_SOURCES = tests/unit/test-spec.c tests/unit/unit.h
tests_unit_test_spec_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-ask tests/unit/test-blocks
tests_unit_test_ask_SOURCES = tests/unit/test-ask.c tests/unit/unit.h
tests_unit_test_ask_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_test_blocks_SOURCES = tests/unit/test-blocks.c tests/unit/unit.h
tests_unit_test_blocks_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-nodes
tests_unit_test_nodes_SOURCES = tests/unit/test-nodes.c tests/unit/unit.h
tests_unit_test_nodes_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-hostfile
tests_unit_test_hostfile_SOURCES = tests/unit/test-hostfile.c tests/unit/unit.h
tests_unit_test_hostfile_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-batch tests/unit/test-source tests/unit/test-capture
tests_unit_test_batch_SOURCES = tests/unit/test-batch.c tests/unit/unit.h
tests_unit_test_batch_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_test_source_SOURCES = tests/unit/test-source.c tests/unit/unit.h
tests_unit_test_source_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_test_capture_SOURCES = tests/unit/test-capture.c tests/unit/unit.h
tests_unit_test_capture_LDADD = libspec.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_capture_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=waitpid
check_PROGRAMS += tests/unit/test-linkage tests/unit/test-mpi-use tests/unit/test-pmi-choice \
    tests/unit/test-closed tests/unit/test-mpi-abi
tests_unit_test_mpi_abi_SOURCES = tests/unit/test-mpi-abi.c tests/unit/elf-file.h tests/unit/unit.h
tests_unit_test_mpi_abi_LDADD = libspec.a libresource.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_closed_SOURCES = tests/unit/test-closed.c tests/unit/elf-file.h tests/unit/unit.h
tests_unit_test_closed_LDADD = libspec.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_linkage_SOURCES = tests/unit/test-linkage.c tests/unit/elf-file.h tests/unit/unit.h
tests_unit_test_linkage_LDADD = libspec.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_mpi_use_SOURCES = tests/unit/test-mpi-use.c tests/unit/unit.h
tests_unit_test_mpi_use_LDADD = libspec.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_pmi_choice_SOURCES = tests/unit/test-pmi-choice.c tests/unit/elf-file.h tests/unit/unit.h
tests_unit_test_pmi_choice_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-lines
tests_unit_test_lines_SOURCES = tests/unit/test-lines.c tests/unit/unit.h
tests_unit_test_lines_LDADD = libstdio.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-template
tests_unit_test_template_SOURCES = tests/unit/test-template.c tests/unit/unit.h
tests_unit_test_template_LDADD = libstdio.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-output
tests_unit_test_output_SOURCES = tests/unit/test-output.c tests/unit/unit.h tests/unit/output-world.h
tests_unit_test_output_LDADD = libstdio.a libbase.a $(EV_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-files
tests_unit_test_files_SOURCES = tests/unit/test-files.c tests/unit/unit.h tests/unit/output-world.h
tests_unit_test_files_LDADD = libstdio.a libbase.a $(EV_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-input
tests_unit_test_input_SOURCES = tests/unit/test-input.c tests/unit/unit.h
tests_unit_test_input_LDADD = libstdio.a libbase.a $(EV_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-kvs tests/unit/test-exchange tests/unit/test-pmi1 \
    tests/unit/test-pmi1-barrier tests/unit/test-libpmi tests/unit/test-libpmi-alone
tests_unit_test_kvs_SOURCES = tests/unit/test-kvs.c tests/unit/unit.h
tests_unit_test_kvs_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_exchange_SOURCES = tests/unit/test-exchange.c tests/unit/unit.h
tests_unit_test_exchange_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_pmi1_SOURCES = tests/unit/test-pmi1.c tests/unit/pmi-node.h tests/unit/unit.h
tests_unit_test_pmi1_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_pmi1_barrier_SOURCES = tests/unit/test-pmi1-barrier.c tests/unit/pmi-node.h \
    tests/unit/unit.h
tests_unit_test_pmi1_barrier_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
if HAVE_PMIX
noinst_PROGRAMS += tests/unit/pmix-client tests/unit/pmix-client-jobs
tests_unit_pmix_client_jobs_SOURCES = tests/unit/pmix-client-jobs.c tests/unit/pmix-leaks.h \
    tests/programs/pmix-versions.h
tests_unit_pmix_client_jobs_LDADD = $(PMIX_LIBS)
tests_unit_pmix_client_SOURCES = tests/unit/pmix-client.c tests/unit/pmix-leaks.h \
    tests/programs/pmix-versions.h
tests_unit_pmix_client_LDADD = $(PMIX_LIBS)
endif
check_PROGRAMS += tests/unit/test-hub
tests_unit_test_hub_SOURCES = tests/unit/test-hub.c tests/unit/unit.h
tests_unit_test_hub_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-hub-names
tests_unit_test_hub_names_SOURCES = tests/unit/test-hub-names.c tests/unit/unit.h
tests_unit_test_hub_names_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-hub-gather
tests_unit_test_hub_gather_SOURCES = tests/unit/test-hub-gather.c tests/unit/unit.h
tests_unit_test_hub_gather_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-sockets
tests_unit_test_sockets_SOURCES = tests/unit/test-sockets.c tests/unit/unit.h
tests_unit_test_sockets_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
if HAVE_PMIX
check_PROGRAMS += tests/unit/test-accept-check tests/unit/test-accept-check-sealed
tests_unit_test_accept_check_SOURCES = tests/unit/test-accept-check.c tests/unit/unit.h
tests_unit_test_accept_check_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,lazy
tests_unit_test_accept_check_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_accept_check_sealed_SOURCES = tests/unit/test-accept-check.c tests/unit/unit.h
tests_unit_test_accept_check_sealed_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,relro,-z,now
tests_unit_test_accept_check_sealed_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/unit/test-hub-query
tests_unit_test_hub_query_SOURCES = tests/unit/test-hub-query.c tests/unit/unit.h
tests_unit_test_hub_query_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-directives
tests_unit_test_directives_SOURCES = tests/unit/test-directives.c tests/unit/unit.h
tests_unit_test_directives_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-pmix
tests_unit_test_pmix_SOURCES = tests/unit/test-pmix.c tests/unit/pmix-node.c \
    tests/unit/pmix-leaks.h tests/unit/pmix-node.h tests/unit/unit.h
tests_unit_test_pmix_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-pmix-message
tests_unit_test_pmix_message_SOURCES = tests/unit/test-pmix-message.c tests/unit/unit.h
tests_unit_test_pmix_message_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-pmi2 tests/unit/test-pmi-ask tests/unit/test-pmi-group \
    tests/unit/test-pmi-wire
tests_unit_test_pmi_wire_SOURCES = tests/unit/test-pmi-wire.c tests/programs/pmi-script.h \
    tests/unit/pmi-node.h tests/unit/unit.h
tests_unit_test_pmi_wire_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_pmi_group_SOURCES = tests/unit/test-pmi-group.c tests/unit/pmi-node.h \
    tests/unit/unit.h
tests_unit_test_pmi_group_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_pmi_ask_SOURCES = tests/unit/test-pmi-ask.c tests/unit/pmi-node.h tests/unit/unit.h
tests_unit_test_pmi_ask_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-pmi-limits
tests_unit_test_pmi_limits_SOURCES = tests/unit/test-pmi-limits.c tests/unit/pmi-node.h \
    tests/unit/unit.h
tests_unit_test_pmi_limits_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-pmi-values
tests_unit_test_pmi_values_SOURCES = tests/unit/test-pmi-values.c tests/unit/pmi-node.h \
    tests/unit/unit.h
tests_unit_test_pmi_values_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_pmi2_SOURCES = tests/unit/test-pmi2.c tests/unit/pmi-node.h tests/unit/unit.h
tests_unit_test_pmi2_LDADD = libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_libpmi_SOURCES = tests/unit/test-libpmi.c tests/unit/libpmi-program.h \
    tests/unit/libpmi-task.h tests/unit/unit.h
tests_unit_test_libpmi_LDADD = libpmi.la libpmiserver.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-libpmi2
tests_unit_test_libpmi2_SOURCES = tests/unit/test-libpmi2.c tests/unit/libpmi-program.h \
    tests/unit/libpmi-task.h tests/unit/unit.h
tests_unit_test_libpmi2_LDADD = libpmi2.la libpmiserver.a libbase.a $(CMOCKA_LIBS)
tests_unit_test_libpmi_alone_SOURCES = tests/unit/test-libpmi-alone.c tests/unit/libpmi-task.h \
    tests/unit/unit.h
tests_unit_test_libpmi_alone_LDADD = libpmi.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-omp tests/unit/test-memory
tests_unit_test_omp_SOURCES = tests/unit/test-omp.c tests/unit/unit.h
tests_unit_test_omp_LDADD = libagent.a libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_test_memory_SOURCES = tests/unit/test-memory.c tests/unit/unit.h
tests_unit_test_memory_LDADD = libagent.a libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-idset
tests_unit_test_idset_SOURCES = tests/unit/test-idset.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_idset_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-count
tests_unit_test_count_SOURCES = tests/unit/test-count.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_count_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-shape
tests_unit_test_shape_SOURCES = tests/unit/test-shape.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_shape_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-constraint
tests_unit_test_constraint_SOURCES = tests/unit/test-constraint.c tests/unit/unit.h tests/unit/vectors.h tests/unit/limit.h
tests_unit_test_constraint_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-hostlist
tests_unit_test_hostlist_SOURCES = tests/unit/test-hostlist.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_hostlist_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-request
tests_unit_test_request_SOURCES = tests/unit/test-request.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_request_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-rset
tests_unit_test_rset_SOURCES = tests/unit/test-rset.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_rset_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-pool
tests_unit_test_pool_SOURCES = tests/unit/test-pool.c tests/unit/unit.h tests/unit/vectors.h tests/unit/limit.h
tests_unit_test_pool_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-locality
tests_unit_test_locality_SOURCES = tests/unit/test-locality.c tests/unit/unit.h tests/unit/vectors.h tests/unit/limit.h
tests_unit_test_locality_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-pool-random
tests_unit_test_pool_random_SOURCES = tests/unit/test-pool-random.c tests/unit/pool-brute.c \
    tests/unit/pool-brute.h tests/unit/unit.h
tests_unit_test_pool_random_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-topo
tests_unit_test_topo_SOURCES = tests/unit/test-topo.c tests/unit/unit.h tests/unit/limit.h
tests_unit_test_topo_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-topo-gpu
check_PROGRAMS += tests/unit/test-rset-join
tests_unit_test_rset_join_SOURCES = tests/unit/test-rset-join.c tests/unit/unit.h
tests_unit_test_rset_join_LDADD = libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-locality-join
tests_unit_test_locality_join_SOURCES = tests/unit/test-locality-join.c tests/unit/unit.h
tests_unit_test_locality_join_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-localities
tests_unit_test_localities_SOURCES = tests/unit/test-localities.c tests/unit/unit.h
tests_unit_test_localities_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
tests_unit_test_topo_gpu_SOURCES = tests/unit/test-topo-gpu.c tests/unit/unit.h
tests_unit_test_topo_gpu_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-policy
tests_unit_test_policy_SOURCES = tests/unit/test-policy.c tests/unit/unit.h
tests_unit_test_policy_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-layout
tests_unit_test_layout_SOURCES = tests/unit/test-layout.c tests/unit/unit.h tests/unit/world.h
tests_unit_test_layout_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-draw
tests_unit_test_draw_SOURCES = tests/unit/test-draw.c tests/unit/picture-world.h tests/unit/unit.h
tests_unit_test_draw_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-svg
tests_unit_test_svg_SOURCES = tests/unit/test-svg.c tests/unit/picture-world.h tests/unit/unit.h
tests_unit_test_svg_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-rankfile
tests_unit_test_rankfile_SOURCES = tests/unit/test-rankfile.c tests/unit/unit.h
tests_unit_test_rankfile_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-rankfile-place
tests_unit_test_rankfile_place_SOURCES = tests/unit/test-rankfile-place.c tests/unit/exact-cases.h \
    tests/unit/unit.h tests/unit/world.h
tests_unit_test_rankfile_place_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-slots
tests_unit_test_slots_SOURCES = tests/unit/test-slots.c tests/unit/unit.h tests/unit/world.h
tests_unit_test_slots_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-allotment
tests_unit_test_allotment_SOURCES = tests/unit/test-allotment.c tests/unit/unit.h
tests_unit_test_allotment_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-deal
tests_unit_test_deal_SOURCES = tests/unit/test-deal.c tests/unit/exact-cases.h tests/unit/unit.h \
    tests/unit/vectors.h tests/unit/world.h
tests_unit_test_deal_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
PLAIN_LAMA = tests/unit/lama-plain.c tests/unit/lama-plain.h tests/unit/plain-machine.c \
    tests/unit/plain-machine.h tests/unit/plain-rule.c tests/unit/plain-rule.h \
    tests/unit/layout-check.c tests/unit/layout-check.h tests/unit/unit.h
check_PROGRAMS += tests/unit/test-gpus
tests_unit_test_gpus_SOURCES = tests/unit/test-gpus.c tests/unit/unit.h
tests_unit_test_gpus_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-lama
tests_unit_test_lama_SOURCES = tests/unit/test-lama.c $(PLAIN_LAMA)
tests_unit_test_lama_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-mapstrings
tests_unit_test_mapstrings_SOURCES = tests/unit/test-mapstrings.c tests/unit/random-world.c \
    tests/unit/random-world.h $(PLAIN_LAMA)
tests_unit_test_mapstrings_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-anynode
tests_unit_test_anynode_SOURCES = tests/unit/test-anynode.c tests/unit/random-world.c \
    tests/unit/random-world.h $(PLAIN_LAMA)
tests_unit_test_anynode_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-taskmap
tests_unit_test_taskmap_SOURCES = tests/unit/test-taskmap.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_taskmap_LDADD = liblayout.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-gpu-env
tests_unit_test_gpu_env_SOURCES = tests/unit/test-gpu-env.c tests/unit/unit.h
tests_unit_test_gpu_env_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-fsd
tests_unit_test_fsd_SOURCES = tests/unit/test-fsd.c tests/unit/unit.h tests/unit/vectors.h
tests_unit_test_fsd_LDADD = libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-near
tests_unit_test_near_SOURCES = tests/unit/test-near.c tests/unit/unit.h
tests_unit_test_near_LDADD = libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-excerpt
tests_unit_test_excerpt_SOURCES = tests/unit/test-excerpt.c tests/unit/unit.h
tests_unit_test_excerpt_LDADD = libresource.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-printable
tests_unit_test_printable_SOURCES = tests/unit/test-printable.c tests/unit/unit.h
tests_unit_test_printable_LDADD = libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-buf
tests_unit_test_buf_SOURCES = tests/unit/test-buf.c tests/unit/unit.h
tests_unit_test_buf_LDADD = libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-table
tests_unit_test_table_SOURCES = tests/unit/test-table.c tests/unit/unit.h
tests_unit_test_table_LDADD = libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-directory
tests_unit_test_directory_SOURCES = tests/unit/test-directory.c tests/unit/unit.h
tests_unit_test_directory_LDADD = libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-file
tests_unit_test_file_SOURCES = tests/unit/test-file.c tests/unit/unit.h
tests_unit_test_file_LDADD = libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-claims
tests_unit_test_claims_SOURCES = tests/unit/test-claims.c tests/unit/unit.h
tests_unit_test_claims_LDADD = libspec.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-neighbours
tests_unit_test_neighbours_SOURCES = tests/unit/test-neighbours.c tests/unit/unit.h
tests_unit_test_neighbours_LDADD = libagent.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-ledger
tests_unit_test_ledger_SOURCES = tests/unit/test-ledger.c tests/unit/unit.h
tests_unit_test_ledger_LDADD = libspec.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-found
tests_unit_test_found_SOURCES = tests/unit/test-found.c tests/unit/unit.h
tests_unit_test_found_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-atlas
tests_unit_test_atlas_SOURCES = tests/unit/test-atlas.c tests/unit/unit.h
tests_unit_test_atlas_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-scratch
tests_unit_test_scratch_SOURCES = tests/unit/test-scratch.c tests/unit/unit.h
tests_unit_test_scratch_LDADD = libagent.a libbase.a $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-cgroup
tests_unit_test_cgroup_SOURCES = tests/unit/test-cgroup.c tests/unit/unit.h
tests_unit_test_cgroup_LDADD = libagent.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-executable
tests_unit_test_executable_SOURCES = tests/unit/test-executable.c tests/unit/unit.h
tests_unit_test_executable_LDADD = libspec.a libagent.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-spawn
tests_unit_test_spawn_SOURCES = tests/unit/test-spawn.c tests/unit/unit.h
tests_unit_test_spawn_LDADD = libagent.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-host-lines
tests_unit_test_host_lines_SOURCES = tests/unit/test-host-lines.c tests/unit/unit.h
tests_unit_test_host_lines_LDADD = liblauncher.a libresource.a libbase.a $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-verdict
tests_unit_test_verdict_SOURCES = tests/unit/test-verdict.c tests/unit/unit.h
tests_unit_test_verdict_LDADD = liblauncher.a libagent.a libstdio.a libspec.a libpool.a liblayout.a libpmiserver.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-incoming
tests_unit_test_incoming_SOURCES = tests/unit/test-incoming.c tests/unit/unit.h
tests_unit_test_incoming_LDADD = liblauncher.a libagent.a libspec.a libresource.a libbase.a \
    $(JANSSON_LIBS) $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-connect-back
tests_unit_test_connect_back_SOURCES = tests/unit/test-connect-back.c tests/unit/unit.h
tests_unit_test_connect_back_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-link
tests_unit_test_link_SOURCES = tests/unit/test-link.c tests/unit/unit.h
tests_unit_test_link_LDADD = liblauncher.a libagent.a libstdio.a libspec.a libpool.a liblayout.a libpmiserver.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS) -lm

check_PROGRAMS += tests/unit/test-frame
tests_unit_test_frame_SOURCES = tests/unit/test-frame.c tests/unit/unit.h
tests_unit_test_frame_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-bootstrap
tests_unit_test_bootstrap_SOURCES = tests/unit/test-bootstrap.c tests/unit/unit.h
tests_unit_test_bootstrap_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/test-tree
tests_unit_test_tree_SOURCES = tests/unit/test-tree.c tests/unit/unit.h
tests_unit_test_tree_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-launch
tests_unit_test_launch_SOURCES = tests/unit/test-launch.c tests/unit/unit.h
tests_unit_test_launch_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-process-set
tests_unit_test_process_set_SOURCES = tests/unit/test-process-set.c tests/unit/unit.h
tests_unit_test_process_set_LDADD = libagent.a libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/unit/test-signal-name
tests_unit_test_signal_name_SOURCES = tests/unit/test-signal-name.c tests/unit/unit.h
tests_unit_test_signal_name_LDADD = libspec.a libbase.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test-descend
tests_unit_test_descend_SOURCES = tests/unit/test-descend.c tests/unit/unit.h
tests_unit_test_descend_LDADD = libagent.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_descend_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_read

endif HAVE_CMOCKA

noinst_PROGRAMS += tests/scale/ledger-storm
tests_scale_ledger_storm_SOURCES = tests/scale/ledger-storm.c
tests_scale_ledger_storm_LDADD = libspec.a libresource.a libbase.a $(JANSSON_LIBS) -lm
# Through the libraries, and no wrapper scripts: they spawn themselves.
noinst_PROGRAMS += tests/steps/libpmi-steps tests/steps/libpmi2-steps
tests_steps_libpmi_steps_SOURCES = tests/steps/libpmi-steps.c tests/steps/steps.h
tests_steps_libpmi_steps_LDADD = libpmi.la
tests_steps_libpmi_steps_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_steps_libpmi2_steps_SOURCES = tests/steps/libpmi2-steps.c tests/steps/steps.h
tests_steps_libpmi2_steps_LDADD = libpmi2.la
tests_steps_libpmi2_steps_LDFLAGS = $(AM_LDFLAGS) -no-install
noinst_PROGRAMS += tests/bench/layout
tests_bench_layout_SOURCES = tests/bench/layout.c
tests_bench_layout_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm

noinst_PROGRAMS += tests/bench/pool-time
tests_bench_pool_time_SOURCES = tests/bench/pool-time.c
tests_bench_pool_time_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) -lm

if FUZZING
# Fuzz targets (LLVMFuzzerTestOneInput):
#   noinst_PROGRAMS += tests/fuzz/fuzz-NAME
#   tests_fuzz_fuzz_NAME_SOURCES = tests/fuzz/fuzz-NAME.c
#   tests_fuzz_fuzz_NAME_LDADD = libWHAT.a libbase.a ...
#   tests_fuzz_fuzz_NAME_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-options
tests_fuzz_fuzz_options_SOURCES = tests/fuzz/fuzz-options.c
tests_fuzz_fuzz_options_LDADD = libspec.a libagent.a libpmiserver.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_options_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-hub-view
tests_fuzz_fuzz_hub_view_SOURCES = tests/fuzz/fuzz-hub-view.c
tests_fuzz_fuzz_hub_view_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_hub_view_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-mpiexec
tests_fuzz_fuzz_mpiexec_SOURCES = tests/fuzz/fuzz-mpiexec.c
tests_fuzz_fuzz_mpiexec_LDADD = libspec.a libagent.a libpmiserver.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_mpiexec_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-source
tests_fuzz_fuzz_source_SOURCES = tests/fuzz/fuzz-source.c
tests_fuzz_fuzz_source_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_source_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-ask
tests_fuzz_fuzz_ask_SOURCES = tests/fuzz/fuzz-ask.c
tests_fuzz_fuzz_ask_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_ask_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-hostfile
tests_fuzz_fuzz_hostfile_SOURCES = tests/fuzz/fuzz-hostfile.c
tests_fuzz_fuzz_hostfile_LDADD = libspec.a libpool.a liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_hostfile_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-linkage
tests_fuzz_fuzz_linkage_SOURCES = tests/fuzz/fuzz-linkage.c
tests_fuzz_fuzz_linkage_LDADD = libspec.a libbase.a -lm
tests_fuzz_fuzz_linkage_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-claims
tests_fuzz_fuzz_claims_SOURCES = tests/fuzz/fuzz-claims.c
tests_fuzz_fuzz_claims_LDADD = libspec.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_claims_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-lines
tests_fuzz_fuzz_lines_SOURCES = tests/fuzz/fuzz-lines.c
tests_fuzz_fuzz_lines_LDADD = libstdio.a libbase.a -lm
tests_fuzz_fuzz_lines_LDFLAGS = $(FUZZER_FLAGS)

noinst_PROGRAMS += tests/fuzz/fuzz-kvs tests/fuzz/fuzz-pmi1 tests/fuzz/fuzz-pmi2
noinst_PROGRAMS += tests/fuzz/fuzz-pmix-message
tests_fuzz_fuzz_pmix_message_SOURCES = tests/fuzz/fuzz-pmix-message.c
tests_fuzz_fuzz_pmix_message_LDADD = libpmiserver.a libbase.a
tests_fuzz_fuzz_pmix_message_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_kvs_SOURCES = tests/fuzz/fuzz-kvs.c
tests_fuzz_fuzz_kvs_LDADD = libpmiserver.a libbase.a
tests_fuzz_fuzz_kvs_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_pmi1_SOURCES = tests/fuzz/fuzz-pmi1.c tests/fuzz/pmi-turns.h
tests_fuzz_fuzz_pmi1_LDADD = libpmiserver.a libbase.a
tests_fuzz_fuzz_pmi1_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_pmi2_SOURCES = tests/fuzz/fuzz-pmi2.c tests/fuzz/pmi-turns.h
tests_fuzz_fuzz_pmi2_LDADD = libpmiserver.a libbase.a
tests_fuzz_fuzz_pmi2_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-hub
tests_fuzz_fuzz_hub_SOURCES = tests/fuzz/fuzz-hub.c
tests_fuzz_fuzz_hub_LDADD = libpmiserver.a liblayout.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_hub_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-idset
tests_fuzz_fuzz_idset_SOURCES = tests/fuzz/fuzz-idset.c
tests_fuzz_fuzz_idset_LDADD = libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_idset_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-hostlist
tests_fuzz_fuzz_hostlist_SOURCES = tests/fuzz/fuzz-hostlist.c
tests_fuzz_fuzz_hostlist_LDADD = libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_hostlist_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-shape
tests_fuzz_fuzz_shape_SOURCES = tests/fuzz/fuzz-shape.c
tests_fuzz_fuzz_shape_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_shape_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-constraint
tests_fuzz_fuzz_constraint_SOURCES = tests/fuzz/fuzz-constraint.c
tests_fuzz_fuzz_constraint_LDADD = libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_constraint_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-rset
tests_fuzz_fuzz_rset_SOURCES = tests/fuzz/fuzz-rset.c
tests_fuzz_fuzz_rset_LDADD = libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_rset_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-locality
tests_fuzz_fuzz_locality_SOURCES = tests/fuzz/fuzz-locality.c
tests_fuzz_fuzz_locality_LDADD = libpool.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_locality_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-policy
tests_fuzz_fuzz_policy_SOURCES = tests/fuzz/fuzz-policy.c
tests_fuzz_fuzz_policy_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_policy_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-rankfile
tests_fuzz_fuzz_rankfile_SOURCES = tests/fuzz/fuzz-rankfile.c
tests_fuzz_fuzz_rankfile_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_rankfile_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-topo-xml
tests_fuzz_fuzz_topo_xml_SOURCES = tests/fuzz/fuzz-topo-xml.c
tests_fuzz_fuzz_topo_xml_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_topo_xml_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-topo
tests_fuzz_fuzz_topo_SOURCES = tests/fuzz/fuzz-topo.c
tests_fuzz_fuzz_topo_LDADD = liblayout.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_topo_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-taskmap
tests_fuzz_fuzz_taskmap_SOURCES = tests/fuzz/fuzz-taskmap.c
tests_fuzz_fuzz_taskmap_LDADD = liblayout.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_taskmap_LDFLAGS = $(FUZZER_FLAGS)

noinst_PROGRAMS += tests/fuzz/fuzz-incoming
tests_fuzz_fuzz_incoming_SOURCES = tests/fuzz/fuzz-incoming.c
tests_fuzz_fuzz_incoming_LDADD = liblauncher.a libagent.a libspec.a libresource.a libbase.a \
    $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_incoming_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-frame
tests_fuzz_fuzz_frame_SOURCES = tests/fuzz/fuzz-frame.c
tests_fuzz_fuzz_frame_LDADD = libagent.a libspec.a libresource.a libbase.a $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_frame_LDFLAGS = $(FUZZER_FLAGS)

noinst_PROGRAMS += tests/fuzz/fuzz-cgroup
tests_fuzz_fuzz_cgroup_SOURCES = tests/fuzz/fuzz-cgroup.c
tests_fuzz_fuzz_cgroup_LDADD = libagent.a libbase.a -lm
tests_fuzz_fuzz_cgroup_LDFLAGS = $(FUZZER_FLAGS)
noinst_PROGRAMS += tests/fuzz/fuzz-launch
tests_fuzz_fuzz_launch_SOURCES = tests/fuzz/fuzz-launch.c
tests_fuzz_fuzz_launch_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) -lm
tests_fuzz_fuzz_launch_LDFLAGS = $(FUZZER_FLAGS)

endif FUZZING

# What tests/check asks of a build: names and flags, one a line.
.PHONY: fuzz-targets print-fuzz-targets print-compile-flags
fuzz-targets: $(filter tests/fuzz/%,$(noinst_PROGRAMS))
print-fuzz-targets:
	@printf '%s\n' $(filter tests/fuzz/%,$(noinst_PROGRAMS))
print-compile-flags:
	@printf '%s\n' $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS)
