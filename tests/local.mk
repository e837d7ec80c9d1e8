# Tests; tests/check runs everything there is, these included.
AM_CPPFLAGS += -DTEST_DATA_DIR='"$(abs_top_srcdir)/tests/data"'
EXTRA_DIST += tests/README.md tests/apps tests/apps.d tests/bench/nothing.c tests/bench/pmibench.c \
    tests/bench/pmixbench.c tests/bench/run tests/bench/spawn-loop.c tests/bench/whole-time.c tests/check tests/cli \
    tests/cluster tests/data tests/debian tests/calls tests/layers \
    tests/layers.edges tests/lib tests/matrix \
    tests/mpi4py tests/mpich tests/mpiexec tests/numa tests/openpmix tests/programs tests/setup
# No folder that has objects in a build: they would be shipped.
EXTRA_DIST += tests/unit/caret.h tests/unit/elf-file.h tests/unit/rankfile-cases.h tests/unit/false-downlink.h tests/unit/false-tree.h tests/unit/instance-world.h tests/unit/lama-plain.h \
    tests/unit/layout-check.h tests/unit/libpmi-program.h tests/unit/libpmi-task.h \
    tests/unit/limit.h tests/unit/output-world.h tests/unit/picture-world.h \
    tests/unit/plain-machine.h tests/unit/plain-rule.h tests/unit/pmi-node.h \
    tests/unit/pmix-leaks.h tests/unit/pmix-node.h tests/unit/pool-brute.h \
    tests/unit/random.h tests/unit/random-world.h tests/unit/scratch-root.h tests/unit/unit.h tests/unit/vectors.h tests/unit/world.h \
    tests/fuzz/fuzz.h tests/fuzz/pmi-turns.h tests/fuzz/request.h tests/steps/steps.h

# A unit test is one file, tests/unit/test-NAME.c, unless it has a line of its own below.
if HAVE_CMOCKA
UNIT_LIBS = $(LDADD) $(CMOCKA_LIBS)
check_PROGRAMS += \
    tests/unit/test-allocation-queue \
    tests/unit/test-array \
    tests/unit/test-batch-nodelist \
    tests/unit/test-batch-script \
    tests/unit/test-batch-system \
    tests/unit/test-bootstrap \
    tests/unit/test-buf \
    tests/unit/test-cgroup \
    tests/unit/test-channels \
    tests/unit/test-claims \
    tests/unit/test-clock \
    tests/unit/test-closed-program \
    tests/unit/test-collective \
    tests/unit/test-command-output \
    tests/unit/test-completed \
    tests/unit/test-connect-back \
    tests/unit/test-constraint \
    tests/unit/test-remote-command-request \
    tests/unit/test-control-request \
    tests/unit/test-control-socket \
    tests/unit/test-count \
    tests/unit/test-descendants \
    tests/unit/test-directory \
    tests/unit/test-duration \
    tests/unit/test-edit-distance \
    tests/unit/test-environment-block \
    tests/unit/test-event-log \
    tests/unit/test-exchange \
    tests/unit/test-exec \
    tests/unit/test-executable \
    tests/unit/test-file \
    tests/unit/test-filename-template \
    tests/unit/test-frame-check \
    tests/unit/test-frame \
    tests/unit/test-gpu-assign \
    tests/unit/test-gpu-environment \
    tests/unit/test-group-barrier \
    tests/unit/test-group-tasks \
    tests/unit/test-hash-table \
    tests/unit/test-host-choice \
    tests/unit/test-host-index \
    tests/unit/test-host-lines \
    tests/unit/test-host-table \
    tests/unit/test-hostfile \
    tests/unit/test-hostlist \
    tests/unit/test-idset \
    tests/unit/test-inquiries \
    tests/unit/test-kept-agents \
    tests/unit/test-kvs \
    tests/unit/test-lama \
    tests/unit/test-launch \
    tests/unit/test-layout \
    tests/unit/test-layout-random \
    tests/unit/test-ledger \
    tests/unit/test-libpmi-alone \
    tests/unit/test-libpmi \
    tests/unit/test-libpmi2 \
    tests/unit/test-line-buffer \
    tests/unit/test-link \
    tests/unit/test-local-program \
    tests/unit/test-local-hooks \
    tests/unit/test-local-stage \
    tests/unit/test-login-session \
    tests/unit/test-map-strings \
    tests/unit/test-mem \
    tests/unit/test-memory-binding \
    tests/unit/test-modex-message \
    tests/unit/test-mpi-abi \
    tests/unit/test-mpi-library \
    tests/unit/test-mpiexec-names \
    tests/unit/test-mpiexec-options \
    tests/unit/test-mpiexec \
    tests/unit/test-node-list \
    tests/unit/test-number \
    tests/unit/test-stage \
    tests/unit/test-stage-sender \
    tests/unit/test-hook-run \
    tests/unit/test-xxhash64 \
    tests/unit/test-localhost \
    tests/unit/test-nursery \
    tests/unit/test-openmp-environment \
    tests/unit/test-other-instances \
    tests/unit/test-outcome \
    tests/unit/test-output-files \
    tests/unit/test-output \
    tests/unit/test-pending-requests \
    tests/unit/test-picture \
    tests/unit/test-place-rankfile \
    tests/unit/test-place-slots \
    tests/unit/test-first-plan \
    tests/unit/test-pmi-choice \
    tests/unit/test-pmi-limits \
    tests/unit/test-pmi-request \
    tests/unit/test-pmi-values \
    tests/unit/test-pmi-wire \
    tests/unit/test-pmi1-barrier \
    tests/unit/test-pmi1 \
    tests/unit/test-pmi2 \
    tests/unit/test-pmix \
    tests/unit/test-policy \
    tests/unit/test-printable \
    tests/unit/test-process-set \
    tests/unit/test-program \
    tests/unit/test-program-hooks \
    tests/unit/test-program-log \
    tests/unit/test-program-request \
    tests/unit/test-pseudo-terminal \
    tests/unit/test-program-record \
    tests/unit/test-rankfile \
    tests/unit/test-readback \
    tests/unit/test-relay \
    tests/unit/test-request \
    tests/unit/test-reservation \
    tests/unit/test-resources-ahead \
    tests/unit/test-rset-operations \
    tests/unit/test-rset \
    tests/unit/test-scheduling-ranks \
    tests/unit/test-scheduling \
    tests/unit/test-saved-output \
    tests/unit/test-saver \
    tests/unit/test-scratch-directory \
    tests/unit/test-search \
    tests/unit/test-service-names \
    tests/unit/test-service-query \
    tests/unit/test-service \
    tests/unit/test-shape-requests \
    tests/unit/test-shape \
    tests/unit/test-shared-libraries \
    tests/unit/test-signal-name \
    tests/unit/test-spawn-directives \
    tests/unit/test-spawn-spec \
    tests/unit/test-spec \
    tests/unit/test-start-advice \
    tests/unit/test-state-index \
    tests/unit/test-stdin-reader \
    tests/unit/test-string-list \
    tests/unit/test-svg \
    tests/unit/test-task-group \
    tests/unit/test-task-report \
    tests/unit/test-task-request \
    tests/unit/test-taskmap-scheme \
    tests/unit/test-taskmap \
    tests/unit/test-tcp-peers \
    tests/unit/test-text \
    tests/unit/test-terminal-escape \
    tests/unit/test-topo-gpu \
    tests/unit/test-topo-treepool \
    tests/unit/test-topo \
    tests/unit/test-topology-cache \
    tests/unit/test-tprun-options \
    tests/unit/test-tree \
    tests/unit/test-treepool-random \
    tests/unit/test-treepool \
    tests/unit/test-user-namespace \
    tests/unit/test-viewer
if HAVE_PMIX
check_PROGRAMS += tests/unit/test-accept-check tests/unit/test-accept-check-sealed tests/unit/test-closed-connections
noinst_PROGRAMS += tests/unit/pmix-client tests/unit/pmix-client-jobs
tests_unit_pmix_client_LDADD = $(PMIX_LIBS)
tests_unit_pmix_client_jobs_LDADD = $(PMIX_LIBS)
tests_unit_test_accept_check_LDADD = $(UNIT_LIBS)
tests_unit_test_accept_check_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,lazy
tests_unit_test_accept_check_sealed_SOURCES = tests/unit/test-accept-check.c
tests_unit_test_accept_check_sealed_LDADD = $(UNIT_LIBS)
tests_unit_test_accept_check_sealed_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,relro,-z,now
endif
tests_unit_test_allocation_queue_LDADD = $(UNIT_LIBS)
tests_unit_test_layout_random_LDADD = $(UNIT_LIBS)
tests_unit_test_array_LDADD = $(UNIT_LIBS)
tests_unit_test_batch_nodelist_LDADD = $(UNIT_LIBS)
tests_unit_test_batch_script_LDADD = $(UNIT_LIBS)
tests_unit_test_batch_system_LDADD = $(UNIT_LIBS)
tests_unit_test_bootstrap_LDADD = $(UNIT_LIBS)
tests_unit_test_buf_LDADD = $(UNIT_LIBS)
tests_unit_test_cgroup_LDADD = $(UNIT_LIBS)
tests_unit_test_channels_LDADD = $(UNIT_LIBS)
tests_unit_test_claims_LDADD = $(UNIT_LIBS)
tests_unit_test_clock_LDADD = $(UNIT_LIBS)
tests_unit_test_closed_connections_LDADD = $(UNIT_LIBS)
tests_unit_test_closed_program_LDADD = $(UNIT_LIBS)
tests_unit_test_collective_LDADD = $(UNIT_LIBS)
tests_unit_test_command_output_LDADD = $(UNIT_LIBS)
tests_unit_test_completed_LDADD = $(UNIT_LIBS)
tests_unit_test_connect_back_LDADD = $(UNIT_LIBS)
tests_unit_test_constraint_LDADD = $(UNIT_LIBS)
tests_unit_test_remote_command_request_LDADD = $(UNIT_LIBS)
tests_unit_test_control_request_LDADD = $(UNIT_LIBS)
tests_unit_test_control_socket_LDADD = $(UNIT_LIBS)
tests_unit_test_count_LDADD = $(UNIT_LIBS)
tests_unit_test_descendants_LDADD = $(UNIT_LIBS)
tests_unit_test_directory_LDADD = $(UNIT_LIBS)
tests_unit_test_duration_LDADD = $(UNIT_LIBS)
tests_unit_test_edit_distance_LDADD = $(UNIT_LIBS)
tests_unit_test_environment_block_LDADD = $(UNIT_LIBS)
tests_unit_test_event_log_LDADD = $(UNIT_LIBS)
tests_unit_test_exchange_LDADD = $(UNIT_LIBS)
tests_unit_test_exec_LDADD = $(UNIT_LIBS)
tests_unit_test_executable_LDADD = $(UNIT_LIBS)
tests_unit_test_file_LDADD = $(UNIT_LIBS)
tests_unit_test_filename_template_LDADD = $(UNIT_LIBS)
tests_unit_test_frame_check_LDADD = $(UNIT_LIBS)
tests_unit_test_frame_LDADD = $(UNIT_LIBS)
tests_unit_test_gpu_assign_LDADD = $(UNIT_LIBS)
tests_unit_test_gpu_environment_LDADD = $(UNIT_LIBS)
tests_unit_test_group_barrier_LDADD = $(UNIT_LIBS)
tests_unit_test_group_tasks_LDADD = $(UNIT_LIBS)
tests_unit_test_hash_table_LDADD = $(UNIT_LIBS)
tests_unit_test_host_choice_LDADD = $(UNIT_LIBS)
tests_unit_test_host_index_LDADD = $(UNIT_LIBS)
tests_unit_test_host_lines_LDADD = $(UNIT_LIBS)
tests_unit_test_host_table_LDADD = $(UNIT_LIBS)
tests_unit_test_hostfile_LDADD = $(UNIT_LIBS)
tests_unit_test_hostlist_LDADD = $(UNIT_LIBS)
tests_unit_test_idset_LDADD = $(UNIT_LIBS)
tests_unit_test_inquiries_LDADD = $(UNIT_LIBS)
tests_unit_test_kept_agents_LDADD = $(UNIT_LIBS)
tests_unit_test_kvs_LDADD = $(UNIT_LIBS)
tests_unit_test_lama_LDADD = $(UNIT_LIBS)
tests_unit_test_launch_LDADD = $(UNIT_LIBS)
tests_unit_test_layout_LDADD = $(UNIT_LIBS)
tests_unit_test_ledger_LDADD = $(UNIT_LIBS)
tests_unit_test_libpmi_alone_LDADD = libpmi.la $(CMOCKA_LIBS)
tests_unit_test_libpmi_LDADD = libpmi.la $(UNIT_LIBS)
tests_unit_test_libpmi2_LDADD = libpmi2.la $(UNIT_LIBS)
tests_unit_test_line_buffer_LDADD = $(UNIT_LIBS)
tests_unit_test_link_LDADD = $(UNIT_LIBS)
tests_unit_test_map_strings_LDADD = $(UNIT_LIBS)
tests_unit_test_mem_LDADD = $(UNIT_LIBS)
tests_unit_test_memory_binding_LDADD = $(UNIT_LIBS)
tests_unit_test_modex_message_LDADD = $(UNIT_LIBS)
tests_unit_test_mpi_abi_LDADD = $(UNIT_LIBS)
tests_unit_test_mpi_library_LDADD = $(UNIT_LIBS)
tests_unit_test_mpiexec_names_LDADD = $(UNIT_LIBS)
tests_unit_test_mpiexec_options_LDADD = $(UNIT_LIBS)
tests_unit_test_mpiexec_LDADD = $(UNIT_LIBS)
tests_unit_test_node_list_LDADD = $(UNIT_LIBS)
tests_unit_test_number_LDADD = $(UNIT_LIBS)
tests_unit_test_stage_LDADD = $(UNIT_LIBS)
tests_unit_test_stage_sender_LDADD = $(UNIT_LIBS)
tests_unit_test_hook_run_LDADD = $(UNIT_LIBS)
tests_unit_test_xxhash64_LDADD = $(UNIT_LIBS)
tests_unit_test_localhost_LDADD = $(UNIT_LIBS)
tests_unit_test_nursery_LDADD = $(UNIT_LIBS)
tests_unit_test_openmp_environment_LDADD = $(UNIT_LIBS)
tests_unit_test_other_instances_LDADD = $(UNIT_LIBS)
tests_unit_test_outcome_LDADD = $(UNIT_LIBS)
tests_unit_test_output_files_LDADD = $(UNIT_LIBS)
tests_unit_test_output_LDADD = $(UNIT_LIBS)
tests_unit_test_saved_output_LDADD = $(UNIT_LIBS)
tests_unit_test_saver_LDADD = $(UNIT_LIBS)
tests_unit_test_local_program_LDADD = $(UNIT_LIBS)
tests_unit_test_local_hooks_LDADD = $(UNIT_LIBS)
tests_unit_test_local_stage_LDADD = $(UNIT_LIBS)
tests_unit_test_login_session_LDADD = $(UNIT_LIBS)
tests_unit_test_pending_requests_LDADD = $(UNIT_LIBS)
tests_unit_test_picture_LDADD = $(UNIT_LIBS)
tests_unit_test_place_rankfile_LDADD = $(UNIT_LIBS)
tests_unit_test_place_slots_LDADD = $(UNIT_LIBS)
tests_unit_test_first_plan_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi_choice_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi_limits_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi_request_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi_values_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi_wire_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi1_barrier_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi1_LDADD = $(UNIT_LIBS)
tests_unit_test_pmi2_LDADD = $(UNIT_LIBS)
tests_unit_test_pmix_LDADD = $(UNIT_LIBS)
tests_unit_test_policy_LDADD = $(UNIT_LIBS)
tests_unit_test_printable_LDADD = $(UNIT_LIBS)
tests_unit_test_process_set_LDADD = $(UNIT_LIBS)
tests_unit_test_program_LDADD = $(UNIT_LIBS)
tests_unit_test_program_hooks_LDADD = $(UNIT_LIBS)
tests_unit_test_program_log_LDADD = $(UNIT_LIBS)
tests_unit_test_program_request_LDADD = $(UNIT_LIBS)
tests_unit_test_pseudo_terminal_LDADD = $(UNIT_LIBS)
tests_unit_test_program_record_LDADD = $(UNIT_LIBS)
tests_unit_test_rankfile_LDADD = $(UNIT_LIBS)
tests_unit_test_readback_LDADD = $(UNIT_LIBS)
tests_unit_test_relay_LDADD = $(UNIT_LIBS)
tests_unit_test_request_LDADD = $(UNIT_LIBS)
tests_unit_test_reservation_LDADD = $(UNIT_LIBS)
tests_unit_test_resources_ahead_LDADD = $(UNIT_LIBS)
tests_unit_test_rset_operations_LDADD = $(UNIT_LIBS)
tests_unit_test_rset_LDADD = $(UNIT_LIBS)
tests_unit_test_scheduling_ranks_LDADD = $(UNIT_LIBS)
tests_unit_test_scheduling_LDADD = $(UNIT_LIBS)
tests_unit_test_scratch_directory_LDADD = $(UNIT_LIBS)
tests_unit_test_search_LDADD = $(UNIT_LIBS)
tests_unit_test_service_names_LDADD = $(UNIT_LIBS)
tests_unit_test_service_query_LDADD = $(UNIT_LIBS)
tests_unit_test_service_LDADD = $(UNIT_LIBS)
tests_unit_test_shape_requests_LDADD = $(UNIT_LIBS)
tests_unit_test_shape_LDADD = $(UNIT_LIBS)
tests_unit_test_shared_libraries_LDADD = $(UNIT_LIBS)
tests_unit_test_signal_name_LDADD = $(UNIT_LIBS)
tests_unit_test_spawn_directives_LDADD = $(UNIT_LIBS)
tests_unit_test_spawn_spec_LDADD = $(UNIT_LIBS)
tests_unit_test_spec_LDADD = $(UNIT_LIBS)
tests_unit_test_start_advice_LDADD = $(UNIT_LIBS)
tests_unit_test_state_index_LDADD = $(UNIT_LIBS)
tests_unit_test_stdin_reader_LDADD = $(UNIT_LIBS)
tests_unit_test_string_list_LDADD = $(UNIT_LIBS)
tests_unit_test_svg_LDADD = $(UNIT_LIBS)
tests_unit_test_task_group_LDADD = $(UNIT_LIBS)
tests_unit_test_task_report_LDADD = $(UNIT_LIBS)
tests_unit_test_task_request_LDADD = $(UNIT_LIBS)
tests_unit_test_taskmap_scheme_LDADD = $(UNIT_LIBS)
tests_unit_test_taskmap_LDADD = $(UNIT_LIBS)
tests_unit_test_tcp_peers_LDADD = $(UNIT_LIBS)
tests_unit_test_text_LDADD = $(UNIT_LIBS)
tests_unit_test_terminal_escape_LDADD = $(UNIT_LIBS)
tests_unit_test_topo_gpu_LDADD = $(UNIT_LIBS)
tests_unit_test_topo_treepool_LDADD = $(UNIT_LIBS)
tests_unit_test_topo_LDADD = $(UNIT_LIBS)
tests_unit_test_topology_cache_LDADD = $(UNIT_LIBS)
tests_unit_test_tprun_options_LDADD = $(UNIT_LIBS)
tests_unit_test_tree_LDADD = $(UNIT_LIBS)
tests_unit_test_treepool_random_LDADD = $(UNIT_LIBS)
tests_unit_test_treepool_LDADD = $(UNIT_LIBS)
tests_unit_test_user_namespace_LDADD = $(UNIT_LIBS)
tests_unit_test_viewer_LDADD = $(UNIT_LIBS)
tests_unit_test_command_output_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=waitpid
tests_unit_test_descendants_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=file_read
tests_unit_test_scratch_directory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
tests_unit_test_stage_sender_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ev_timer_again
tests_unit_test_local_program_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=downlink_has_room -Wl,--wrap=uplink_consumed
tests_unit_test_pmix_SOURCES = tests/unit/test-pmix.c tests/unit/pmix-node.c
tests_unit_test_treepool_random_SOURCES = tests/unit/test-treepool-random.c tests/unit/pool-brute.c
# A second engine of LAMA, which shares nothing with the first.
PLAIN_LAMA = tests/unit/lama-plain.c tests/unit/plain-machine.c tests/unit/plain-rule.c tests/unit/layout-check.c
tests_unit_test_lama_SOURCES = tests/unit/test-lama.c $(PLAIN_LAMA)
tests_unit_test_map_strings_SOURCES = tests/unit/test-map-strings.c tests/unit/random-world.c $(PLAIN_LAMA)
tests_unit_test_layout_random_SOURCES = tests/unit/test-layout-random.c tests/unit/random-world.c $(PLAIN_LAMA)
endif HAVE_CMOCKA

noinst_PROGRAMS += tests/scale/ledger-storm tests/scale/stand-in-agent tests/bench/layout tests/bench/pool-time
# Through the libraries, and no wrapper scripts: they spawn themselves.
noinst_PROGRAMS += tests/steps/libpmi-steps tests/steps/libpmi2-steps
tests_steps_libpmi_steps_LDADD = libpmi.la
tests_steps_libpmi_steps_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_steps_libpmi2_steps_LDADD = libpmi2.la
tests_steps_libpmi2_steps_LDFLAGS = $(AM_LDFLAGS) -no-install

# A fuzz target is one file, tests/fuzz/fuzz-NAME.c, with LLVMFuzzerTestOneInput().
if FUZZING
FUZZER_FLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
noinst_PROGRAMS += \
    tests/fuzz/fuzz-batch-system \
    tests/fuzz/fuzz-cgroup \
    tests/fuzz/fuzz-channels \
    tests/fuzz/fuzz-claims \
    tests/fuzz/fuzz-remote-command-request \
    tests/fuzz/fuzz-constraint \
    tests/fuzz/fuzz-context-record \
    tests/fuzz/fuzz-control-request \
    tests/fuzz/fuzz-environment-block \
    tests/fuzz/fuzz-event-log \
    tests/fuzz/fuzz-frame-check \
    tests/fuzz/fuzz-frame \
    tests/fuzz/fuzz-hostfile \
    tests/fuzz/fuzz-hostlist \
    tests/fuzz/fuzz-idset \
    tests/fuzz/fuzz-kvs \
    tests/fuzz/fuzz-launch \
    tests/fuzz/fuzz-line-buffer \
    tests/fuzz/fuzz-modex-message \
    tests/fuzz/fuzz-mpiexec \
    tests/fuzz/fuzz-pmi1 \
    tests/fuzz/fuzz-pmi2 \
    tests/fuzz/fuzz-policy \
    tests/fuzz/fuzz-program-info \
    tests/fuzz/fuzz-program-record \
    tests/fuzz/fuzz-program-request \
    tests/fuzz/fuzz-rankfile \
    tests/fuzz/fuzz-rset \
    tests/fuzz/fuzz-saved-output \
    tests/fuzz/fuzz-scheduling \
    tests/fuzz/fuzz-service \
    tests/fuzz/fuzz-shape \
    tests/fuzz/fuzz-stage \
    tests/fuzz/fuzz-shared-libraries \
    tests/fuzz/fuzz-state-index \
    tests/fuzz/fuzz-task-request \
    tests/fuzz/fuzz-taskmap \
    tests/fuzz/fuzz-topo-xml \
    tests/fuzz/fuzz-topo \
    tests/fuzz/fuzz-tprun-options
tests_fuzz_fuzz_batch_system_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_cgroup_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_channels_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_claims_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_remote_command_request_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_constraint_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_context_record_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_control_request_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_environment_block_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_event_log_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_frame_check_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_frame_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_hostfile_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_hostlist_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_idset_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_kvs_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_launch_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_line_buffer_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_modex_message_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_mpiexec_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_pmi1_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_pmi2_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_policy_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_program_info_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_program_record_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_program_request_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_rankfile_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_rset_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_saved_output_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_scheduling_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_service_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_shape_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_stage_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_shared_libraries_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_state_index_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_task_request_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_taskmap_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_topo_xml_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_topo_LDFLAGS = $(FUZZER_FLAGS)
tests_fuzz_fuzz_tprun_options_LDFLAGS = $(FUZZER_FLAGS)
endif FUZZING

# What tests/check asks of a build: names and flags, one a line.
.PHONY: fuzz-targets print-fuzz-targets print-compile-flags
fuzz-targets: $(filter tests/fuzz/%,$(noinst_PROGRAMS))
print-fuzz-targets:
	@printf '%s\n' $(filter tests/fuzz/%,$(noinst_PROGRAMS))
print-compile-flags:
	@printf '%s\n' $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS)
