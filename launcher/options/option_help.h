/*
 * option_help - the texts of --help, --help layout, --help options and --version.
 */
#ifndef LAUNCHER_OPTIONS_OPTION_HELP_H
#define LAUNCHER_OPTIONS_OPTION_HELP_H

/* The help text, grouped, at most 24 lines a group page and 80 columns wide; caller frees. */
char *options_help(void);
char *options_help_layout(void); /* --help layout: a screen of 24 lines; caller frees */
/* --help options: each on a line, for programs: "-n -np --ntasks N", "--overlap", "--wait [FSD]"
 * where the value stands behind "=" and may be left out; caller frees. */
char *options_help_list(void);
char *options_version(void); /* name, version, libraries and what was left out; caller frees */
/* What --help WORD asks for, an enum options_action. OPTIONS_RUN: WORD is no topic of --help. */
int help_topic(const char *word);

#endif
