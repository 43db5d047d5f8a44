/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions put in and taken out (config/extensions.h has which there are).
 *
 *     if (!install_open("./my-extension", settings, link, &install, &err)) ...
 *     puts(install.consent);                 // all that it brings; the user says yes
 *     if (!install_do(&install, settings, &err)) ...
 *     install_release(&install);
 *
 * A folder is copied as base/tree.h does it, or linked: then its files are used where they are, as
 * Gemini CLI's "extensions link" has it.  Nothing of it runs here.
 *
 * Not here: asking (cli/command/extensions_command.c).
 */
#ifndef HASP_CATALOG_INSTALL_H
#define HASP_CATALOG_INSTALL_H

#include <jansson.h>
#include <stdbool.h>

#include "config/extensions.h"

struct install {
	char *folder;     /* owned, as all here; canonical */
	json_t *manifest; /* as it stands */
	json_t *origin;   /* {"source", "type": "local" or "link"} */
	char *consent;    /* lines: what it brings, as may be shown */
};

/* Looks at the extension in a folder. FILE_NOT_FOUND; INVALID_ARGUMENT: it is none, or one of that
 * name is installed; DENIED_BY_POLICY: settings forbid it. */
bool install_open(const char *folder, const struct settings *settings, bool link,
                  struct install *ret, struct err *err);
void install_release(struct install *install);
/* Puts it in, enabled everywhere. Errors as of tree_copy. */
bool install_do(const struct install *install, const struct settings *settings, struct err *err);

/* Takes an extension out, by its name, its source, or, where it is broken, the name of its folder;
 * with what extension-enablement.json says of it.  Of one that is linked the folder stays.
 * INVALID_ARGUMENT: there is none. */
bool install_remove(const struct settings *settings, const char *name, struct err *err);

/* Makes a folder, which must not be there yet, with a manifest and instructions to begin with; its
 * name becomes the extension's. INVALID_ARGUMENT: there is one, or its name is none for an
 * extension. */
bool install_new(const char *folder, struct err *err);

/* What an extension in a folder brings, a line for each thing, each beginning with two blanks; the
 * caller frees. `manifest` as it stands. */
char *install_brings(const char *folder, const json_t *manifest);

#endif
