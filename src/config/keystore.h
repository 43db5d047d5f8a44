/* SPDX-License-Identifier: Apache-2.0 */
/* The system's key store: the Secret Service (gnome-keyring, KWallet, KeePassXC) through libsecret.
 *
 *     char *key;
 *     if (keystore_gemini_key(&key)) ... free(key);
 *
 * A desktop has one; a server mostly has none, or one that never answers.  So nothing is asked
 * without a
 * session bus; and the asking is done by a child process, which is ended after three seconds (a
 * minute where
 * there is a display: the user may be typing a password for the store).  libsecret never comes into
 * this process,
 * which stays as small as it was, and has no more threads.
 *
 * Names are those of Gemini CLI (and of keytar, which it uses): what one stores, the other finds.
 * Safe from
 * any thread.  Nothing of this is logged.
 */
#ifndef HASP_CONFIG_KEYSTORE_H
#define HASP_CONFIG_KEYSTORE_H

#include <stdbool.h>

#include "base/err.h"

/* Where Gemini CLI keeps the API key of the user, as JSON with the key at token.accessToken. */
#define KEYSTORE_GEMINI_SERVICE "gemini-cli-api-key"
#define KEYSTORE_GEMINI_ACCOUNT "default-api-key"

/* False: there is none, or no store that answers. The caller frees *ret, and wipes it if it can. */
bool keystore_get(const char *service, const char *account, char **ret);
/* FILE_NOT_FOUND: no store that answers. INVALID_ARGUMENT: a secret of more than 64 KiB. */
bool keystore_set(const char *service, const char *account, const char *secret, struct err *err);
/* True also when there was none. */
bool keystore_delete(const char *service, const char *account, struct err *err);

/* Gemini CLI's API key, taken out of its JSON. */
bool keystore_gemini_key(char **ret);

#endif
