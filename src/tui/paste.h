/* SPDX-License-Identifier: Apache-2.0 */
/* What is pasted or dropped and is more than text. */
#ifndef HASP_TUI_PASTE_H
#define HASP_TUI_PASTE_H

#include <stdbool.h>

#include "base/span.h"

struct app;

/* Whether the text is nothing but paths of files that exist. From any thread. */
bool paste_names_files(struct span text);
/* Puts such a text into the draft as @PATH. False: it is none, or the draft is a command. */
bool paste_files(struct app *app, struct span text);
/* Keeps an image as a file and puts that into the draft. */
void paste_image(struct app *app, struct span bytes);

#endif
