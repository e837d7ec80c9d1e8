noinst_LIBRARIES += libresource.a liblayout.a libpool.a
libresource_a_SOURCES = \
    affinity/resource/constraint.c affinity/resource/constraint.h \
    affinity/resource/constraint_private.h \
    affinity/resource/constraint_json.c \
    affinity/resource/constraint_match.c \
    affinity/resource/constraint_text.c \
    affinity/resource/count.c affinity/resource/count.h affinity/resource/count_private.h \
    affinity/resource/count_json.c \
    affinity/resource/count_text.c \
    affinity/resource/excerpt.c affinity/resource/excerpt.h \
    affinity/resource/hostlist.c affinity/resource/hostlist.h \
    affinity/resource/hostlist_text.c \
    affinity/resource/idset.c affinity/resource/idset.h \
    affinity/resource/idset_text.c \
    affinity/resource/rset.c affinity/resource/rset.h affinity/resource/rset_private.h \
    affinity/resource/rset_arithmetic.c \
    affinity/resource/rset_decode.c \
    affinity/resource/rset_encode.c \
    affinity/resource/rset_join.c \
    affinity/resource/shape.c affinity/resource/shape.h affinity/resource/shape_private.h \
    affinity/resource/shape_encode.c \
    affinity/resource/shape_json.c \
    affinity/resource/shape_key.c \
    affinity/resource/shape_text.c \
    affinity/resource/shape_value.c \
    affinity/resource/shape_word.c
libpool_a_SOURCES = \
    affinity/pool/locality.c affinity/pool/locality.h \
    affinity/pool/locality_carve.c \
    affinity/pool/locality_topo.c \
    affinity/pool/pool.c affinity/pool/pool.h affinity/pool/pool_private.h \
    affinity/pool/pool_ask.c \
    affinity/pool/pool_board.c \
    affinity/pool/pool_choose.c \
    affinity/pool/pool_fill.c \
    affinity/pool/pool_grant.c \
    affinity/pool/pool_nodes.c \
    affinity/pool/pool_plan.c \
    affinity/pool/pool_room.c \
    affinity/pool/pool_seat.c \
    affinity/pool/pool_why.c \
    affinity/pool/request.c affinity/pool/request.h affinity/pool/request_private.h \
    affinity/pool/request_kind.c \
    affinity/pool/request_memory.c \
    affinity/pool/request_slot.c
liblayout_a_SOURCES = \
    affinity/topology/topo.c affinity/topology/topo.h \
    affinity/topology/topo_build.h \
    affinity/topology/topo_export.c \
    affinity/topology/topo_gpu.c affinity/topology/topo_gpu.h \
    affinity/topology/topo_gpu_hwloc.c \
    affinity/topology/topo_gpu_json.c \
    affinity/topology/topo_gpu_system.c \
    affinity/topology/topo_json.c \
    affinity/topology/topo_load.c \
    affinity/topology/topo_localities.c affinity/topology/topo_localities.h \
    affinity/topology/topo_memory.c \
    affinity/topology/topo_numa.c affinity/topology/topo_numa.h \
    affinity/topology/topo_set_json.c \
    affinity/topology/topo_xml.c \
    affinity/layout/builder.c affinity/layout/builder.h \
    affinity/layout/deal.c affinity/layout/deal.h \
    affinity/layout/draw.c affinity/layout/draw.h \
    affinity/layout/draw_alloc.c \
    affinity/layout/draw_bind.c \
    affinity/layout/draw_boxes.c \
    affinity/layout/draw_levels.c \
    affinity/layout/draw_lists.c \
    affinity/layout/draw_looks.c \
    affinity/layout/draw_map.c \
    affinity/layout/draw_seats.c \
    affinity/layout/draw_words.c \
    affinity/layout/exact.c \
    affinity/layout/fold.c affinity/layout/fold.h \
    affinity/layout/found.c affinity/layout/found.h \
    affinity/layout/kind.c affinity/layout/kind.h \
    affinity/layout/kind_gpus.c \
    affinity/layout/layout.c affinity/layout/layout.h \
    affinity/layout/layout_bindings.c affinity/layout/layout_crowd.c \
    affinity/layout/layout_gpus.c \
    affinity/layout/layout_json.c \
    affinity/layout/layout_nodes.c \
    affinity/layout/misspelt.c affinity/layout/misspelt.h \
    affinity/layout/pick.c affinity/layout/pick.h \
    affinity/layout/placing.c affinity/layout/placing.h \
    affinity/layout/plan.c affinity/layout/plan.h \
    affinity/layout/plan_coordinates.c \
    affinity/layout/plan_groups.c \
    affinity/layout/plan_key.h \
    affinity/layout/plan_order.c \
    affinity/layout/plan_pairs.c \
    affinity/layout/plan_units.c \
    affinity/layout/policy.c affinity/layout/policy.h \
    affinity/layout/policy_gpus.c \
    affinity/layout/policy_letters.c \
    affinity/layout/rankfile.c affinity/layout/rankfile.h \
    affinity/layout/rankfile_hosts.c \
    affinity/layout/rankfile_slots.c \
    affinity/layout/refusal.c affinity/layout/refusal.h \
    affinity/layout/refusal_gpus.c \
    affinity/layout/refusal_room.c \
    affinity/layout/run.c \
    affinity/layout/run_deal.c \
    affinity/layout/run_nodes.c \
    affinity/layout/run_rankfile.c \
    affinity/layout/run_slots.c \
    affinity/layout/svg.c affinity/layout/svg.h \
    affinity/layout/svg_bind.c affinity/layout/svg_cells.c \
    affinity/layout/svg_colour.c \
    affinity/layout/svg_gpus.c \
    affinity/layout/svg_head.c \
    affinity/layout/svg_machine.c \
    affinity/layout/svg_pen.c affinity/layout/svg_pen.h \
    affinity/layout/svg_figure.c affinity/layout/svg_strip.c \
    affinity/layout/walk.c affinity/layout/walk.h \
    affinity/layout/taskmap.c affinity/layout/taskmap.h \
    affinity/layout/taskmap_text.c
libpool_a_SOURCES += \
    affinity/pool/locality_join.c affinity/pool/locality_join.h
