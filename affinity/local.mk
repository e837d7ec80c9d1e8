# libtaskmap.a is all of this layer that pmi-server/ links; libresource.a needs no hwloc.
noinst_LIBRARIES += libtaskmap.a libresource.a liblayout.a
libtaskmap_a_SOURCES = \
    affinity/sets/host_index.c affinity/sets/host_index.h \
    affinity/sets/hostlist.c affinity/sets/hostlist.h \
    affinity/sets/idset.c affinity/sets/idset.h \
    affinity/sets/short_text.c affinity/sets/short_text.h \
    affinity/taskmap/taskmap.c affinity/taskmap/taskmap.h \
    affinity/taskmap/taskmap_scheme.c affinity/taskmap/taskmap_scheme.h \
    affinity/taskmap/taskmap_text.c
libresource_a_SOURCES = \
    affinity/shape/count.c affinity/shape/count.h \
    affinity/shape/shape.c affinity/shape/shape.h \
    affinity/shape/shape_grammar.c \
    affinity/shape/shape_json.c \
    affinity/shape/shape_private.h \
    affinity/queue/reservation.c affinity/queue/reservation.h \
    affinity/resource/constraint.c affinity/resource/constraint.h \
    affinity/resource/constraint_private.h \
    affinity/resource/constraint_text.c \
    affinity/resource/rset.c affinity/resource/rset.h \
    affinity/resource/rset_json.c \
    affinity/resource/rset_operations.c \
    affinity/resource/rset_private.h \
    affinity/resource/scheduling.c affinity/resource/scheduling.h \
    affinity/resource/scheduling_ranks.c affinity/resource/scheduling_ranks.h \
    affinity/treepool/best_fit.c affinity/treepool/best_fit.h \
    affinity/treepool/candidates.c affinity/treepool/candidates.h \
    affinity/treepool/demand.c affinity/treepool/demand.h \
    affinity/treepool/domain_counts.c affinity/treepool/domain_counts.h \
    affinity/treepool/infeasible.c affinity/treepool/infeasible.h \
    affinity/treepool/packing.c affinity/treepool/packing.h \
    affinity/treepool/request.c affinity/treepool/request.h \
    affinity/treepool/request_private.h \
    affinity/treepool/request_slot.c \
    affinity/treepool/slot_ids.c affinity/treepool/slot_ids.h \
    affinity/treepool/treepool.c affinity/treepool/treepool.h
liblayout_a_SOURCES = \
    affinity/topology/topo.c affinity/topology/topo.h \
    affinity/topology/topo_export.c \
    affinity/topology/topo_gpu.c affinity/topology/topo_gpu.h \
    affinity/topology/topo_gpu_sysfs.c \
    affinity/topology/topo_hwloc.c \
    affinity/topology/topo_json.c \
    affinity/topology/topo_numa.c affinity/topology/topo_numa.h \
    affinity/topology/topo_private.h \
    affinity/topology/topo_treepool.c affinity/topology/topo_treepool.h \
    affinity/topology/topo_xml.c affinity/topology/topo_xml.h \
    affinity/policy/part_options.h \
    affinity/policy/policy.c affinity/policy/policy.h \
    affinity/policy/policy_error.c affinity/policy/policy_error.h \
    affinity/policy/policy_gpu.c affinity/policy/policy_gpu.h \
    affinity/policy/rankfile.c affinity/policy/rankfile.h \
    affinity/policy/rankfile_hosts.c \
    affinity/layout/allocated_hosts.c affinity/layout/allocated_hosts.h \
    affinity/layout/bind.c affinity/layout/bind.h \
    affinity/layout/binding_sets.c affinity/layout/binding_sets.h \
    affinity/layout/build.c affinity/layout/build.h \
    affinity/layout/gpu_assign.c affinity/layout/gpu_assign.h \
    affinity/layout/gpu_closest.c affinity/layout/gpu_closest.h \
    affinity/layout/gpu_locality.c affinity/layout/gpu_locality.h \
    affinity/layout/gpu_sets.c affinity/layout/gpu_sets.h \
    affinity/layout/infeasible.c affinity/layout/infeasible.h \
    affinity/layout/layout.c affinity/layout/layout.h \
    affinity/layout/layout_json.c \
    affinity/layout/limits.c affinity/layout/limits.h \
    affinity/layout/loop_coordinates.c affinity/layout/loop_coordinates.h \
    affinity/layout/loop_key.h \
    affinity/layout/node_class.c affinity/layout/node_class.h \
    affinity/layout/node_count.c affinity/layout/node_count.h \
    affinity/layout/place.c affinity/layout/place.h \
    affinity/layout/place_rankfile.c affinity/layout/place_rankfile.h \
    affinity/layout/place_slots.c affinity/layout/place_slots.h \
    affinity/layout/place_taskmap.c affinity/layout/place_taskmap.h \
    affinity/layout/placement.c affinity/layout/placement.h \
    affinity/layout/positions.c affinity/layout/positions.h \
    affinity/layout/rankfile_cpus.c affinity/layout/rankfile_cpus.h \
    affinity/layout/readback.c affinity/layout/readback.h \
    affinity/layout/shared_cores.c affinity/layout/shared_cores.h \
    affinity/layout/slots.c affinity/layout/slots.h \
    affinity/layout/used_nodes.c affinity/layout/used_nodes.h \
    affinity/picture/boxes.c affinity/picture/boxes.h \
    affinity/picture/cells.c affinity/picture/cells.h \
    affinity/picture/node_groups.c affinity/picture/node_groups.h \
    affinity/picture/phrases.c affinity/picture/phrases.h \
    affinity/picture/picture.c affinity/picture/picture.h \
    affinity/picture/svg.c affinity/picture/svg.h \
    affinity/picture/svg_bind.c affinity/picture/svg_bind.h \
    affinity/picture/svg_cells.c affinity/picture/svg_cells.h \
    affinity/picture/svg_element.c affinity/picture/svg_element.h \
    affinity/picture/svg_figure.c affinity/picture/svg_figure.h \
    affinity/picture/svg_machine.c affinity/picture/svg_machine.h \
    affinity/picture/svg_overview.c affinity/picture/svg_overview.h \
    affinity/picture/text_alloc.c affinity/picture/text_alloc.h \
    affinity/picture/text_bind.c affinity/picture/text_bind.h \
    affinity/picture/text_map.c affinity/picture/text_map.h \
    affinity/picture/text_page.c affinity/picture/text_page.h
