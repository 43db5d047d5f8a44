/* SPDX-License-Identifier: Apache-2.0 */
/* The theme that the settings name. */
#ifndef HASP_TUI_COLOURS_H
#define HASP_TUI_COLOURS_H

struct app;

/* Takes the theme that the settings name. */
void tui_theme(struct app *app);
/* All that there are, NULL-terminated; the caller frees the array, the names are borrowed. */
const char **tui_theme_names(const struct app *app);

#endif
