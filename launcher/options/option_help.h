/*
 * option_help - the texts of --help and --version.
 */
#ifndef LAUNCHER_OPTIONS_OPTION_HELP_H
#define LAUNCHER_OPTIONS_OPTION_HELP_H

/* The help text, grouped, at most 24 lines a group page and 80 columns wide; caller frees. */
char *options_help(void);
char *options_version(void); /* name, version, libraries and what was left out; caller frees */
/* The action (enum options_action) of a topic of --help; OPTIONS_RUN for a word that is none. */
int help_topic(const char *word);

#endif
