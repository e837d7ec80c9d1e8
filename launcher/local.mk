noinst_LIBRARIES += liblauncher.a
liblauncher_a_SOURCES = \
    launcher/process/cgroup.c launcher/process/cgroup.h \
    launcher/process/clone.c launcher/process/clone.h \
    launcher/process/command_output.c launcher/process/command_output.h \
    launcher/process/descendants.c launcher/process/descendants.h \
    launcher/process/descendants_end.c \
    launcher/process/exec.c launcher/process/exec.h \
    launcher/process/hook_run.c launcher/process/hook_run.h \
    launcher/process/job_signals.c launcher/process/job_signals.h \
    launcher/process/localhost.c launcher/process/localhost.h \
    launcher/process/login_session.c launcher/process/login_session.h \
    launcher/process/user_namespace.c launcher/process/user_namespace.h \
    launcher/process/descriptor_message.c launcher/process/descriptor_message.h \
    launcher/process/nursery.c launcher/process/nursery.h \
    launcher/process/owned_directory.c launcher/process/owned_directory.h \
    launcher/process/process.c launcher/process/process.h \
    launcher/process/process_sample.c launcher/process/process_sample.h \
    launcher/process/process_set.c launcher/process/process_set.h \
    launcher/process/process_usage.c launcher/process/process_usage.h \
    launcher/process/program_path.c launcher/process/program_path.h \
    launcher/process/pseudo_terminal.c launcher/process/pseudo_terminal.h \
    launcher/process/reap.c launcher/process/reap.h \
    launcher/process/scratch_directory.c launcher/process/scratch_directory.h \
    launcher/process/signal_name.c launcher/process/signal_name.h \
    launcher/process/signal_source.c launcher/process/signal_source.h \
    launcher/process/terminal_modes.c launcher/process/terminal_modes.h \
    launcher/stdio/filename_template.c launcher/stdio/filename_template.h \
    launcher/stdio/line_buffer.c launcher/stdio/line_buffer.h \
    launcher/stdio/line_label.c launcher/stdio/line_label.h \
    launcher/stdio/line_writer.c launcher/stdio/line_writer.h \
    launcher/stdio/nonblocking_writer.c launcher/stdio/nonblocking_writer.h \
    launcher/stdio/output.c launcher/stdio/output.h \
    launcher/stdio/output_files.c launcher/stdio/output_files.h \
    launcher/stdio/result_file.c launcher/stdio/result_file.h \
    launcher/stdio/stdin_reader.c launcher/stdio/stdin_reader.h \
    launcher/stdio/raw_terminal.c launcher/stdio/raw_terminal.h \
    launcher/stdio/terminal.c launcher/stdio/terminal.h \
    launcher/stdio/terminal_escape.c launcher/stdio/terminal_escape.h \
    launcher/environment/environment.c launcher/environment/environment.h \
    launcher/environment/gpu_environment.c launcher/environment/gpu_environment.h \
    launcher/environment/openmp_environment.c launcher/environment/openmp_environment.h \
    launcher/environment/pmi_environment.c launcher/environment/pmi_environment.h \
    launcher/ledger/claim.c launcher/ledger/claim.h \
    launcher/ledger/claim_private.h \
    launcher/ledger/claim_bell.c launcher/ledger/claim_bell.h \
    launcher/ledger/claim_queue.c launcher/ledger/claim_queue.h \
    launcher/ledger/claim_queue_holders.c \
    launcher/ledger/claims_file.c launcher/ledger/claims_file.h \
    launcher/ledger/claims_table.c launcher/ledger/claims_table.h \
    launcher/ledger/completed.c launcher/ledger/completed.h \
    launcher/ledger/completed_output.c launcher/ledger/completed_output.h \
    launcher/ledger/context_directory.c launcher/ledger/context_directory.h \
    launcher/ledger/context_files.c launcher/ledger/context_files.h \
    launcher/ledger/context_record.c launcher/ledger/context_record.h \
    launcher/ledger/empty_programs.c launcher/ledger/empty_programs.h \
    launcher/ledger/event_log.c launcher/ledger/event_log.h \
    launcher/ledger/instance_directory.c launcher/ledger/instance_directory.h \
    launcher/ledger/instance_lock.c launcher/ledger/instance_lock.h \
    launcher/ledger/instance_lock_private.h \
    launcher/ledger/instance_private.h \
    launcher/ledger/ledger_entry.c launcher/ledger/ledger_entry.h \
    launcher/ledger/ledger_entry_private.h \
    launcher/ledger/pid_list.c launcher/ledger/pid_list.h \
    launcher/ledger/private_directory.c launcher/ledger/private_directory.h \
    launcher/ledger/program_json.c launcher/ledger/program_json.h \
    launcher/ledger/program_record.c launcher/ledger/program_record.h \
    launcher/ledger/program_output.c launcher/ledger/program_output.h \
    launcher/ledger/program_search.c launcher/ledger/program_search.h \
    launcher/ledger/state_directory.c launcher/ledger/state_directory.h \
    launcher/ledger/state_index.c launcher/ledger/state_index.h \
    launcher/ledger/topology_cache.c launcher/ledger/topology_cache.h \
    launcher/saved/saved_output.h launcher/saved/saved_output_private.h \
    launcher/saved/saved_output_reader.c launcher/saved/saved_output_writer.c \
    launcher/tree/agent_broker.c launcher/tree/agent_broker.h \
    launcher/tree/batch_bootstrap.c launcher/tree/batch_bootstrap.h \
    launcher/tree/bootstrap.c launcher/tree/bootstrap.h \
    launcher/tree/channels.c launcher/tree/channels.h \
    launcher/tree/child.c launcher/tree/child.h \
    launcher/tree/connect_back.c launcher/tree/connect_back.h \
    launcher/tree/frame.c launcher/tree/frame.h \
    launcher/tree/link.c launcher/tree/link.h \
    launcher/tree/multi_host_start.c launcher/tree/multi_host_start.h \
    launcher/tree/srun.c launcher/tree/srun.h \
    launcher/tree/start_queue.c launcher/tree/start_queue.h \
    launcher/tree/tree.c launcher/tree/tree.h \
    launcher/tree/tree_target.c launcher/tree/tree_target.h \
    launcher/spec/field.c launcher/spec/field.h \
    launcher/spec/field_words.c launcher/spec/field_words.h \
    launcher/spec/spec.c launcher/spec/spec.h \
    launcher/spec/spec_build.c launcher/spec/spec_build.h \
    launcher/spec/spec_check.c launcher/spec/spec_check.h \
    launcher/spec/spec_file.c launcher/spec/spec_file.h \
    launcher/spec/spec_fields.c \
    launcher/source/batch_files.c launcher/source/batch_files.h \
    launcher/source/batch_nodelist.c launcher/source/batch_nodelist.h \
    launcher/source/batch_system.c launcher/source/batch_system.h \
    launcher/source/batch_system_private.h \
    launcher/source/batch_system_row.c \
    launcher/source/enclosing_program.c launcher/source/enclosing_program.h \
    launcher/source/flux_job.c launcher/source/flux_job.h \
    launcher/source/hostfile.c launcher/source/hostfile.h \
    launcher/source/kubernetes_job.c launcher/source/kubernetes_job.h \
    launcher/source/node_list.c launcher/source/node_list.h \
    launcher/source/node_list_private.h \
    launcher/source/node_list_read.c \
    launcher/source/node_list_require.c \
    launcher/source/nodes_from_options.c launcher/source/nodes_from_options.h \
    launcher/source/slurm_job.c launcher/source/slurm_job.h \
    launcher/source/slurm_nodelist.c launcher/source/slurm_nodelist.h \
    launcher/linkage/elf_file.c launcher/linkage/elf_file.h \
    launcher/linkage/executable.c launcher/linkage/executable.h \
    launcher/linkage/mpi_family.c launcher/linkage/mpi_family.h \
    launcher/linkage/library_search.c launcher/linkage/library_search.h \
    launcher/linkage/loader_cache.c launcher/linkage/loader_cache.h \
    launcher/linkage/mpi_abi.c launcher/linkage/mpi_abi.h \
    launcher/linkage/mpi_library.c launcher/linkage/mpi_library.h \
    launcher/linkage/part_linkage.c launcher/linkage/part_linkage.h \
    launcher/linkage/pmi_choice.c launcher/linkage/pmi_choice.h \
    launcher/linkage/shared_libraries.c launcher/linkage/shared_libraries.h \
    launcher/program/early_launch.c launcher/program/early_launch.h \
    launcher/program/fence.c launcher/program/fence.h \
    launcher/program/graceful_stop.c launcher/program/graceful_stop.h \
    launcher/program/group_start.c launcher/program/group_start.h \
    launcher/program/inquiries.c launcher/program/inquiries.h \
    launcher/program/lost_hosts.c launcher/program/lost_hosts.h \
    launcher/program/names.c launcher/program/names.h \
    launcher/program/no_pmi.c launcher/program/no_pmi.h \
    launcher/program/node_failures.c launcher/program/node_failures.h \
    launcher/program/outcome.c launcher/program/outcome.h \
    launcher/program/program.c launcher/program/program.h \
    launcher/program/predecessors.c launcher/program/predecessors.h \
    launcher/program/program_check.c launcher/program/program_check.h \
    launcher/program/program_claim.c launcher/program/program_claim.h \
    launcher/program/program_complete.c \
    launcher/program/program_control.c launcher/program/program_control.h \
    launcher/program/program_event.c \
    launcher/program/program_frames.c launcher/program/program_private.h \
    launcher/program/program_groups.c \
    launcher/program/program_hosts.c \
    launcher/program/program_input.c \
    launcher/program/program_log.c launcher/program/program_log.h \
    launcher/program/program_orders.c \
    launcher/program/run_report.c launcher/program/run_report.h \
    launcher/program/program_service.c launcher/program/program_service.h \
    launcher/program/program_start.c launcher/program/program_start.h \
    launcher/program/program_state.c launcher/program/program_state.h \
    launcher/program/program_termination.c launcher/program/program_termination.h \
    launcher/program/spawn.c launcher/program/spawn.h \
    launcher/program/program_hooks.c launcher/program/program_hooks.h \
    launcher/program/stage_sender.c launcher/program/stage_sender.h \
    launcher/program/start_advice.c launcher/program/start_advice.h \
    launcher/program/task_group.c launcher/program/task_group.h \
    launcher/program/task_requests.c launcher/program/task_requests.h \
    launcher/program/time_limit.c launcher/program/time_limit.h \
    launcher/protocol/control_answer.c launcher/protocol/control_answer.h \
    launcher/protocol/control_request.c launcher/protocol/control_request.h \
    launcher/protocol/environment_block.c launcher/protocol/environment_block.h \
    launcher/protocol/frame_check.c launcher/protocol/frame_check.h \
    launcher/protocol/hello.c launcher/protocol/hello.h \
    launcher/protocol/hook_message.c launcher/protocol/hook_message.h \
    launcher/protocol/input_choice.c launcher/protocol/input_choice.h \
    launcher/protocol/inquiry.c launcher/protocol/inquiry.h \
    launcher/protocol/launch.c launcher/protocol/launch.h \
    launcher/protocol/launch_read.c \
    launcher/protocol/pair.c launcher/protocol/pair.h \
    launcher/protocol/instance_request.c launcher/protocol/instance_request.h \
    launcher/protocol/program_request.c launcher/protocol/program_request.h \
    launcher/protocol/remote_command_request.c launcher/protocol/remote_command_request.h \
    launcher/protocol/request_files.c launcher/protocol/request_files.h \
    launcher/protocol/stage_list.c launcher/protocol/stage_list.h \
    launcher/protocol/stage_source.c launcher/protocol/stage_source.h \
    launcher/protocol/task_report.c launcher/protocol/task_report.h \
    launcher/protocol/task_request.c launcher/protocol/task_request.h \
    launcher/protocol/task_table.c launcher/protocol/task_table.h \
    launcher/task/memory_binding.c launcher/task/memory_binding.h \
    launcher/task/part_setup.c launcher/task/part_setup.h \
    launcher/task/task_binding.c launcher/task/task_binding.h \
    launcher/task/task_cgroup.c launcher/task/task_cgroup.h \
    launcher/task/task_environment.c launcher/task/task_environment.h \
    launcher/task/task_launch.c launcher/task/task_launch.h \
    launcher/task/task_start.c launcher/task/task_start.h \
    launcher/task/task_start_private.h \
    launcher/agent/agent.c launcher/agent/agent.h \
    launcher/agent/agent_ahead.c launcher/agent/agent_ahead.h \
    launcher/agent/agent_guard.c launcher/agent/agent_guard.h \
    launcher/agent/cpu_quota.c launcher/agent/cpu_quota.h \
    launcher/agent/downlink.c launcher/agent/downlink.h \
    launcher/agent/exit_report.c launcher/agent/exit_report.h \
    launcher/agent/group_fence.c launcher/agent/group_fence.h \
    launcher/agent/group_services.c launcher/agent/group_services.h \
    launcher/agent/group_tasks.c launcher/agent/group_tasks.h \
    launcher/agent/host_register.c launcher/agent/host_register.h \
    launcher/agent/instance_port.c launcher/agent/instance_port.h \
    launcher/agent/local_group.c launcher/agent/local_group.h \
    launcher/agent/local_input.c launcher/agent/local_input.h \
    launcher/agent/local_program.c launcher/agent/local_program.h \
    launcher/agent/local_hooks.c launcher/agent/local_hooks.h \
    launcher/agent/local_stage.c launcher/agent/local_stage.h \
    launcher/agent/stage_writer.c launcher/agent/stage_writer.h \
    launcher/agent/local_services.h \
    launcher/agent/local_task.c launcher/agent/local_task.h \
    launcher/agent/other_instances.c launcher/agent/other_instances.h \
    launcher/agent/pmi_socket.c launcher/agent/pmi_socket.h \
    launcher/agent/pmix_host.c launcher/agent/pmix_host.h \
    launcher/agent/pmix_job.c launcher/agent/pmix_job.h \
    launcher/agent/pmix_tool_proxy.c launcher/agent/pmix_tool_proxy.h \
    launcher/agent/spawn_and_names.c launcher/agent/spawn_and_names.h \
    launcher/agent/task_output.c launcher/agent/task_output.h \
    launcher/agent/task_signals.c launcher/agent/task_signals.h \
    launcher/agent/task_stdin.c launcher/agent/task_stdin.h \
    launcher/agent/task_terminal.c launcher/agent/task_terminal.h \
    launcher/agent/task_termination.c launcher/agent/task_termination.h \
    launcher/agent/topology_file.c launcher/agent/topology_file.h \
    launcher/agent/uplink.c launcher/agent/uplink.h \
    launcher/instance/agents.c launcher/instance/agents.h \
    launcher/instance/allocation_queue.c launcher/instance/allocation_queue.h \
    launcher/instance/enclosing_resources.c launcher/instance/enclosing_resources.h \
    launcher/instance/host_bootstrap.c launcher/instance/host_bootstrap.h \
    launcher/instance/host_lines.c launcher/instance/host_lines.h \
    launcher/instance/host_table.c launcher/instance/host_table.h \
    launcher/instance/local_topology.c launcher/instance/local_topology.h \
    launcher/instance/lock_retry.c launcher/instance/lock_retry.h \
    launcher/instance/resources.c launcher/instance/resources.h \
    launcher/instance/resources_ahead.c \
    launcher/instance/resources_free.c \
    launcher/instance/resources_private.h \
    launcher/plan/candidates.c launcher/plan/candidates.h \
    launcher/plan/display.c launcher/plan/display.h \
    launcher/plan/first_plan.c launcher/plan/first_plan.h \
    launcher/plan/host_choice.c launcher/plan/host_choice.h \
    launcher/plan/plan.c launcher/plan/plan.h \
    launcher/plan/shape_allocation.c launcher/plan/shape_allocation.h \
    launcher/plan/shape_requests.c launcher/plan/shape_requests.h \
    launcher/plan/spawn_environment.c launcher/plan/spawn_environment.h \
    launcher/plan/spawn_hosts.c launcher/plan/spawn_hosts.h \
    launcher/plan/spawn_plan.c launcher/plan/spawn_plan.h \
    launcher/plan/spawn_spec.c launcher/plan/spawn_spec.h \
    launcher/control/authorize.c launcher/control/authorize.h \
    launcher/control/control_address.c launcher/control/control_address.h \
    launcher/control/control_client.c launcher/control/control_client.h \
    launcher/control/instance_address.c launcher/control/instance_address.h \
    launcher/control/control_socket.c launcher/control/control_socket.h \
    launcher/manager/agent_keeper.c launcher/manager/agent_keeper.h \
    launcher/manager/instance_host.c launcher/manager/instance_host.h \
    launcher/manager/input_sender.c launcher/manager/input_sender.h \
    launcher/manager/local_descendants.c launcher/manager/local_descendants.h \
    launcher/manager/manager_control.c launcher/manager/manager_control.h \
    launcher/manager/manager.c launcher/manager/manager.h \
    launcher/manager/output_route.c launcher/manager/output_route.h \
    launcher/manager/saver.c launcher/manager/saver.h \
    launcher/manager/viewer.c launcher/manager/viewer.h \
    launcher/command/method.c launcher/command/method.h \
    launcher/command/method_help.c \
    launcher/command/method_scan.c \
    launcher/options/option.h \
    launcher/options/option_help.c launcher/options/option_help.h \
    launcher/options/option_defaults.c launcher/options/option_defaults.h \
    launcher/options/option_table.c \
    launcher/options/option_values.c \
    launcher/frontend/foreground.c launcher/frontend/foreground.h \
    launcher/frontend/frontend.c launcher/frontend/frontend.h launcher/frontend/frontend_private.h \
    launcher/frontend/frontend_background.c launcher/frontend/frontend_detach.c \
    launcher/frontend/frontend_orders.c \
    launcher/frontend/frontend_saved.c launcher/frontend/frontend_signals.c \
    launcher/frontend/frontend_view.c \
    launcher/frontend/progress.c launcher/frontend/progress.h \
    launcher/frontend/replay.c launcher/frontend/replay.h \
    launcher/frontend/user_terminal.c launcher/frontend/user_terminal.h \
    launcher/mpiexec/mpiexec.c launcher/mpiexec/mpiexec.h \
    launcher/mpiexec/mpiexec_dialect.c \
    launcher/mpiexec/mpiexec_environment.c \
    launcher/mpiexec/mpiexec_help.c \
    launcher/mpiexec/mpiexec_hosts.c \
    launcher/mpiexec/mpiexec_layout.c \
    launcher/mpiexec/mpiexec_names.c \
    launcher/mpiexec/mpiexec_output.c \
    launcher/mpiexec/mpiexec_private.h \
    launcher/mpiexec/mpiexec_runtime.c \
    launcher/mpiexec/mpiexec_table.c launcher/mpiexec/mpiexec_table.h \
    launcher/mpiexec/mpiexec_typed.c \
    launcher/mpiexec/mpiexec_values.c \
    launcher/mpiexec/mpiexec_words.c \
    launcher/mpiexec/relay.c launcher/mpiexec/relay.h \
    launcher/mpiexec/singleton.c launcher/mpiexec/singleton.h \
    launcher/cli/batch_script.c launcher/cli/batch_script.h \
    launcher/cli/instance_program.c launcher/cli/instance_program.h \
    launcher/cli/kept_agents.c launcher/cli/kept_agents.h \
    launcher/cli/remote_command_serve.c launcher/cli/remote_command_serve.h \
    launcher/cli/check_program.c launcher/cli/check_program.h \
    launcher/cli/command_line.c launcher/cli/command_line.h \
    launcher/cli/option_hints.c launcher/cli/option_hints.h \
    launcher/cli/tprun_options.c launcher/cli/tprun_options.h

# Every program links the same libraries, and takes from each what it needs.
LAYERS = liblauncher.a libpmiserver.a liblayout.a libresource.a libtaskmap.a libbase.a
LDADD = $(LAYERS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS) -lm

bin_PROGRAMS += tprun
# A manager, an agent and their guards are forked: each would look up anew what the others looked up.
tprun_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,now
tpagent_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,now
tprun_SOURCES = launcher/cli/tprun.c

pkglibexec_PROGRAMS += tpagent
tpagent_SOURCES = launcher/agent/tpagent.c

pkglibexec_PROGRAMS += tpmove
tpmove_SOURCES = launcher/tpctl/tpmove.c
tpmove_LDADD = $(LAYERS) $(JANSSON_LIBS) -lm

pkglibexec_PROGRAMS += tpsingleton
tpsingleton_SOURCES = launcher/mpiexec/tpsingleton.c
tpsingleton_LDADD = $(LAYERS) $(JANSSON_LIBS) -lm

bin_PROGRAMS += tpctl
tpctl_SOURCES = \
    launcher/tpctl/ask_manager.c launcher/tpctl/ask_manager.h \
    launcher/tpctl/remote_command_ask.c launcher/tpctl/remote_command_ask.h \
    launcher/tpctl/task_list.c launcher/tpctl/task_list.h \
    launcher/tpctl/tpctl.c launcher/tpctl/tpctl.h \
    launcher/tpctl/tpctl_attach.c \
    launcher/tpctl/tpctl_info.c \
    launcher/tpctl/tpctl_list.c \
    launcher/tpctl/tpctl_logs.c \
    launcher/tpctl/tpctl_new.c \
    launcher/tpctl/tpctl_options.c \
    launcher/tpctl/tpctl_programs.c \
    launcher/tpctl/tpctl_ps.c \
    launcher/tpctl/tpctl_queue.c \
    launcher/tpctl/tpctl_reap.c \
    launcher/tpctl/tpctl_signal.c \
    launcher/tpctl/tpctl_text.c \
    launcher/tpctl/tpctl_top.c \
    launcher/tpctl/tpctl_view.c launcher/tpctl/tpctl_view.h \
    launcher/tpctl/tpctl_wait.c

bin_PROGRAMS += tpres
tpres_SOURCES = \
    launcher/tpres/node_kinds.c launcher/tpres/node_kinds.h \
    launcher/tpres/node_kinds_picture.c \
    launcher/tpres/tpres.c launcher/tpres/tpres.h \
    launcher/tpres/tpres_alloc.c \
    launcher/tpres/tpres_io.c \
    launcher/tpres/tpres_make.c \
    launcher/tpres/tpres_options.c \
    launcher/tpres/tpres_sets.c \
    launcher/tpres/tpres_show.c \
    launcher/tpres/tpres_text.c

# By the names of other launchers tprun takes their options. All links are beside the agent: put that
# directory first in PATH. In bindir are the two plain ones, and only where they were asked for, since
# others install them too. launcher/mpiexec/mpiexec_names.c knows the names.
MPIEXEC_NAMES = mpiexec mpirun mpiexec.hydra mpiexec.mpich mpirun.mpich mpirun.mpi_abi_mpich \
    mpiexec.openmpi mpirun.openmpi orterun prterun oshrun shmemrun
MPIEXEC_LINKS = $(MPIEXEC_NAMES:%=$(pkglibexecdir)/%)
if MPIEXEC
MPIEXEC_LINKS += $(bindir)/mpiexec $(bindir)/mpirun
endif

tprundatadir = $(datadir)/tprun
dist_tprundata_DATA = launcher/spec/tprun-spec.schema.json

# Completion, where bash, zsh and fish look for it. One file for all programs: bash looks for each by its name.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_zshcompletion_DATA = launcher/cli/completion/_tprun
dist_fishcompletion_DATA = launcher/cli/completion/tprun.fish
EXTRA_DIST += launcher/cli/completion/tprun.bash
install-data-hook:
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)"
	$(INSTALL_DATA) $(srcdir)/launcher/cli/completion/tprun.bash "$(DESTDIR)$(bashcompletiondir)/tprun"
	for name in tpbatch tpres tpctl; do \
	    ln -sf tprun "$(DESTDIR)$(bashcompletiondir)/$$name" || exit; \
	done
	ln -sf tprun.fish "$(DESTDIR)$(fishcompletiondir)/tpbatch.fish"
	ln -sf tprun.fish "$(DESTDIR)$(fishcompletiondir)/tpres.fish"
	ln -sf tprun.fish "$(DESTDIR)$(fishcompletiondir)/tpctl.fish"

install-exec-hook:
	ln -sf tprun "$(DESTDIR)$(bindir)/tpbatch"
	for link in $(MPIEXEC_LINKS); do \
	    $(MKDIR_P) "$(DESTDIR)$${link%/*}" && \
	    ln -srf "$(DESTDIR)$(bindir)/tprun" "$(DESTDIR)$$link" || exit; \
	done
uninstall-hook:
	rm -f "$(DESTDIR)$(bindir)/tpbatch"
	for link in $(MPIEXEC_LINKS); do rm -f "$(DESTDIR)$$link"; done
	for name in tprun tpbatch tpres tpctl; do rm -f "$(DESTDIR)$(bashcompletiondir)/$$name"; done
	for name in tpbatch tpres tpctl; do rm -f "$(DESTDIR)$(fishcompletiondir)/$$name.fish"; done
