# files of man
dist_man_MANS += man/tprun.1
dist_man_MANS += man/tprun-layout.7
dist_man_MANS += man/tprun-shape.7
dist_man_MANS += man/tprun-pmix.7
dist_man_MANS += man/tprun-migrate.7
dist_man_MANS += man/tprun-R.5
dist_man_MANS += man/tprun-spec.5
dist_man_MANS += man/tprun-instance.5
dist_man_MANS += man/tprun-events.7
dist_man_MANS += man/tpbatch.1 man/tpctl.1 man/tpres.1
dist_man_MANS += man/tprun-mpiexec.1
