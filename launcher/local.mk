noinst_LIBRARIES += libspec.a libstdio.a
libspec_a_SOURCES = \
    launcher/cli/command.c launcher/cli/command.h \
    launcher/cli/help.c launcher/cli/help_layout.c \
    launcher/cli/mpiexec.c launcher/cli/mpiexec.h launcher/cli/mpiexec_private.h \
    launcher/cli/mpiexec_dialect.c launcher/cli/mpiexec_environment.c \
    launcher/cli/mpiexec_help.c launcher/cli/mpiexec_hosts.c launcher/cli/mpiexec_layout.c \
    launcher/cli/mpiexec_names.c launcher/cli/mpiexec_output.c launcher/cli/mpiexec_runtime.c \
    launcher/cli/mpiexec_table.c launcher/cli/mpiexec_values.c \
    launcher/cli/option.h launcher/cli/option_apply.c launcher/cli/option_hints.c \
    launcher/cli/option_table.c \
    launcher/cli/relay.c launcher/cli/relay.h \
    launcher/cli/singleton.c launcher/cli/singleton.h \
    launcher/cli/options.c launcher/cli/options.h \
    launcher/process/capture.c launcher/process/capture.h \
    launcher/process/reap.c launcher/process/reap.h \
    launcher/program/apps.c launcher/program/apps.h \
    launcher/program/allotment.c launcher/program/allotment.h \
    launcher/program/batch.c launcher/program/batch.h \
    launcher/program/gpu_env.c launcher/program/gpu_env.h \
    launcher/program/elf.c launcher/program/elf.h \
    launcher/program/executable.c launcher/program/executable.h \
    launcher/program/file_text.c launcher/program/file_text.h \
    launcher/program/here.c launcher/program/here.h \
    launcher/program/hostfile.c launcher/program/hostfile.h \
    launcher/program/library_maker.c launcher/program/library_maker.h \
    launcher/program/library_search.c launcher/program/library_search.h \
    launcher/program/linkage.c launcher/program/linkage.h \
    launcher/program/loader_cache.c launcher/program/loader_cache.h \
    launcher/program/mpi_abi.c launcher/program/mpi_abi.h \
    launcher/program/mpi_use.c launcher/program/mpi_use.h \
    launcher/program/picture.c launcher/program/picture.h \
    launcher/program/pmi_choice.c launcher/program/pmi_choice.h \
    launcher/program/pmi_env.c launcher/program/pmi_env.h \
    launcher/program/json_field.c launcher/program/json_field.h \
    launcher/program/nodes.c launcher/program/nodes.h launcher/program/nodes_build.h \
    launcher/program/nodes_index.c launcher/program/nodes_index.h \
    launcher/program/nodes_part.c launcher/program/nodes_read.c launcher/program/nodes_requires.c \
    launcher/program/nodes_source.c \
    launcher/program/source.c launcher/program/source.h launcher/program/source_build.h \
    launcher/program/enclosing_program.c launcher/program/enclosing_program.h \
    launcher/program/source_batch.c launcher/program/source_enclosing.c \
    launcher/program/source_flux.c launcher/program/source_kubernetes.c \
    launcher/program/source_flux.c \
    launcher/program/slurm_job.c launcher/program/slurm_job.h \
    launcher/program/spec.c launcher/program/spec.h launcher/program/spec_build.h \
    launcher/program/spec_env.c launcher/program/spec_env.h \
    launcher/program/spec_json.c \
    launcher/program/apps.c launcher/program/apps.h \
    launcher/program/blocks_env.c launcher/program/blocks_env.h \
    launcher/program/spec_blocks.c launcher/program/spec_blocks.h \
    launcher/program/ask.c launcher/program/ask.h \
    launcher/program/pair.c launcher/program/pair.h \
    launcher/program/spec_shape.c launcher/program/spec_shape.h \
    launcher/process/signal_name.c launcher/process/signal_name.h \
    launcher/program/spec_words.c launcher/program/spec_words.h \
    launcher/tree/batch_bootstrap.c launcher/tree/batch_bootstrap.h
libspec_a_SOURCES += \
    launcher/program/claims.c launcher/program/claims.h \
    launcher/program/ledger.c launcher/program/ledger.h launcher/program/ledger_private.h \
    launcher/program/ledger_book.c launcher/program/ledger_context.c launcher/program/ledger_files.c \
    launcher/program/ledger_instance.c \
    launcher/program/ledger_lock.c launcher/program/ledger_queue.c \
    launcher/program/store.c launcher/program/store.h
libstdio_a_SOURCES = \
    launcher/stdio/dest.c launcher/stdio/dest.h \
    launcher/stdio/files.c launcher/stdio/files.h \
    launcher/stdio/input.c launcher/stdio/input.h \
    launcher/stdio/label.c launcher/stdio/label.h \
    launcher/stdio/lines.c launcher/stdio/lines.h \
    launcher/stdio/output.c launcher/stdio/output.h \
    launcher/stdio/sink.c launcher/stdio/sink.h \
    launcher/stdio/template.c launcher/stdio/template.h \
    launcher/stdio/terminal.c launcher/stdio/terminal.h

noinst_LIBRARIES += liblauncher.a libagent.a
libagent_a_SOURCES = \
    launcher/agent/agent.c launcher/agent/agent.h launcher/agent/state.h \
    launcher/agent/asking.c launcher/agent/confine.c \
    launcher/agent/bindings.c launcher/agent/bindings.h \
    launcher/agent/ending.c launcher/agent/failures.c \
    launcher/agent/group.c \
    launcher/agent/memory.c launcher/agent/memory.h \
    launcher/agent/place.c launcher/agent/place.h \
    launcher/agent/pmix.c launcher/agent/pmix_room.h \
    launcher/agent/pmix_job.c launcher/agent/pmix_ops.c launcher/agent/pmix_posts.c \
    launcher/agent/neighbours.c launcher/agent/neighbours.h \
    launcher/agent/register.c launcher/agent/rendezvous.c launcher/agent/report.c \
    launcher/agent/quota.c launcher/agent/register.c launcher/agent/rendezvous.c launcher/agent/report.c \
    launcher/agent/part.c launcher/agent/part.h launcher/agent/signals.c launcher/agent/slots.c \
    launcher/agent/start.c launcher/agent/start.h \
    launcher/agent/variables.c launcher/agent/variables.h \
    launcher/agent/streams.c \
    launcher/agent/tasks.c \
    launcher/agent/pmix_tools.c launcher/agent/tool.c launcher/agent/tools.c launcher/agent/tools.h \
    launcher/agent/threads.c launcher/agent/threads.h \
    launcher/agent/topology_file.c launcher/agent/topology_file.h \
    launcher/process/cgroup.c launcher/process/cgroup.h \
    launcher/process/clone.c launcher/process/clone.h \
    launcher/process/descend.c launcher/process/descend.h \
    launcher/process/job_signals.c launcher/process/job_signals.h \
    launcher/process/process_set.c launcher/process/process_set.h \
    launcher/process/owned_directory.c launcher/process/owned_directory.h \
    launcher/process/scratch.c launcher/process/scratch.h \
    launcher/process/spawn.c launcher/process/spawn.h \
    launcher/program/atlas.c launcher/program/atlas.h \
    launcher/program/allowed.c launcher/program/allowed.h \
    launcher/program/launch.c launcher/program/launch_read.c launcher/program/launch.h \
    launcher/program/launch_group.c launcher/program/launch_group.h \
    launcher/program/omp_env.c launcher/program/omp_env.h \
    launcher/program/part_linkage.c launcher/program/part_linkage.h \
    launcher/tree/bootstrap.c launcher/tree/bootstrap.h \
    launcher/tree/child.c launcher/tree/child.h \
    launcher/tree/frame.c launcher/tree/frame.h \
    launcher/tree/connect_back.c launcher/tree/connect_back.h \
    launcher/tree/link.c launcher/tree/link.h \
    launcher/tree/shared_start.c launcher/tree/shared_start.h \
    launcher/tree/srun.c launcher/tree/srun.h \
    launcher/tree/target.c launcher/tree/target.h \
    launcher/tree/waiting.c launcher/tree/waiting.h \
    launcher/tree/tree.c launcher/tree/tree.h
liblauncher_a_SOURCES = \
    launcher/manager/adding.c launcher/manager/asked.c launcher/manager/names.c \
    launcher/manager/services.c \
    launcher/manager/groups.c launcher/manager/lock.c launcher/manager/room.c \
    launcher/manager/dormant.c launcher/manager/parked.c \
    launcher/manager/course.c launcher/manager/fence.c launcher/manager/finish.c \
    launcher/manager/gather.c launcher/manager/orders.c launcher/manager/reports.c \
    launcher/manager/incoming.c launcher/manager/incoming.h \
    launcher/manager/started.c launcher/manager/supply.c launcher/manager/viewer.c \
    launcher/manager/manager.c launcher/manager/manager.h launcher/manager/state.h \
    launcher/manager/enclosed.c launcher/manager/grant.c launcher/manager/named.c \
    launcher/manager/progress.c launcher/manager/reach.c launcher/manager/host_lines.c launcher/manager/host_lines.h \
    launcher/manager/preparing.c launcher/manager/queue.c \
    launcher/manager/place.c \
    launcher/manager/silent.c \
    launcher/manager/stock.c \
    launcher/manager/stock_free.c \
    launcher/manager/stop.c \
    launcher/manager/verdict.c launcher/manager/verdict.h

STOREYS = libagent.a libstdio.a libspec.a libpool.a libpmiserver.a liblayout.a libresource.a libbase.a

bin_PROGRAMS += tprun
tprun_SOURCES = launcher/cli/tprun.c launcher/cli/check.c launcher/cli/check.h launcher/cli/frontend.c launcher/cli/frontend.h \
    launcher/cli/mapped.c launcher/cli/mapped.h launcher/cli/progress.c launcher/cli/progress.h \
    launcher/process/signal_source.c launcher/process/signal_source.h
tprun_LDADD = liblauncher.a $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS)

pkglibexec_PROGRAMS += tpagent
tpagent_SOURCES = launcher/agent/tpagent.c
tpagent_LDADD = $(STOREYS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS)

pkglibexec_PROGRAMS += tpsingleton
tpsingleton_SOURCES = launcher/cli/tpsingleton.c
tpsingleton_LDADD = libspec.a libstdio.a libpmiserver.a libresource.a libbase.a $(JANSSON_LIBS) -lm

bin_PROGRAMS += tpres
tpres_SOURCES = launcher/cli/tpres.c launcher/cli/tpres.h \
    launcher/cli/tpres_alloc.c \
    launcher/cli/tpres_command.c \
    launcher/cli/tpres_draw.c \
    launcher/cli/tpres_from.c \
    launcher/cli/tpres_io.c \
    launcher/cli/tpres_kinds.c launcher/cli/tpres_kinds.h \
    launcher/cli/tpres_make.c \
    launcher/cli/tpres_methods.c \
    launcher/cli/tpres_sets.c \
    launcher/cli/tpres_show.c \
    launcher/cli/tpres_text.c
tpres_LDADD = libstdio.a libspec.a libpmiserver.a liblayout.a libpool.a libresource.a libbase.a $(HWLOC_LIBS) $(JANSSON_LIBS) $(EV_LIBS)

# By the names of other launchers tprun takes their options. All links are beside the agent: put that
# directory first in PATH. In bindir are the two plain ones, and only where they were asked for, since
# others install them too. launcher/cli/mpiexec_names.c knows the names.
MPIEXEC_NAMES = mpiexec mpirun mpiexec.hydra mpiexec.mpich mpirun.mpich mpirun.mpi_abi_mpich \
    mpiexec.openmpi mpirun.openmpi orterun prterun oshrun shmemrun
MPIEXEC_LINKS = $(MPIEXEC_NAMES:%=$(pkglibexecdir)/%)
if MPIEXEC
MPIEXEC_LINKS += $(bindir)/mpiexec $(bindir)/mpirun
endif
install-exec-hook:
	for link in $(MPIEXEC_LINKS); do \
	    $(MKDIR_P) "$(DESTDIR)$${link%/*}" && \
	    ln -srf "$(DESTDIR)$(bindir)/tprun" "$(DESTDIR)$$link" || exit; \
	done
uninstall-hook:
	for link in $(MPIEXEC_LINKS); do rm -f "$(DESTDIR)$$link"; done
