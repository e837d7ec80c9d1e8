/*
 * help_layout - the text of --help layout.
 */
#ifndef LAUNCHER_OPTIONS_HELP_LAYOUT_H
#define LAUNCHER_OPTIONS_HELP_LAYOUT_H

char *options_help_layout(void); /* a screen of 24 lines; caller frees */

#endif
