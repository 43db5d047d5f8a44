/* SPDX-License-Identifier: Apache-2.0 */
/* trustedFolders.json: which folders' own settings, hooks, commands and servers may count.
 *
 * GEMINI_CLI_TRUST_WORKSPACE=true|false comes first, then the longest rule that holds the folder
 * (canonical paths; TRUST_PARENT trusts the folder above).  GEMINI_CLI_TRUSTED_FOLDERS_PATH moves
 * the
 * file.  A file that is not readable as such trusts nothing.
 */
#ifndef HASP_CONFIG_TRUST_H
#define HASP_CONFIG_TRUST_H

#include <stdbool.h>

#include "base/err.h"
#include "config/home.h"

enum trust { TRUST_UNKNOWN, TRUST_YES, TRUST_NO };

/* UNKNOWN with *err, which names the file: it is wrong, and trusts nothing. */
enum trust trust_of(const struct home *home, const char *folder, struct err *err);
/* "TRUST_FOLDER", "TRUST_PARENT" or "DO_NOT_TRUST" for the folder: atomic, under a lock, mode 0600.
 * */
bool trust_set(const struct home *home, const char *folder, const char *rule, struct err *err);

#endif
