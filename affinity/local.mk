noinst_LIBRARIES += libresource.a liblayout.a
libresource_a_SOURCES = \
    affinity/resource/hostlist.c affinity/resource/hostlist.h \
    affinity/resource/idset.c affinity/resource/idset.h \
    affinity/resource/rset.c affinity/resource/rset.h
liblayout_a_SOURCES = \
    affinity/topology/topo.c affinity/topology/topo.h \
    affinity/layout/layout.c affinity/layout/layout.h \
    affinity/layout/taskmap.c affinity/layout/taskmap.h
