/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the files of model_choose share. */
#ifndef HASP_MODEL_CHOOSE_PRIVATE_H
#define HASP_MODEL_CHOOSE_PRIVATE_H

#include "model/catalogue.h"
#include "model/choose.h"

enum { CHOICE_HEADERS = 64, CHOICE_FALLBACKS = 8, CHOICE_WITHOUT = 64 };

/* What a choice's options point to. */
struct choice_store {
	char **strings;              /* owned, and what they point to */
	size_t count, cap;
	const char *headers[CHOICE_HEADERS + 1];
	size_t header_count;
	struct model_choice fallbacks[CHOICE_FALLBACKS];
	const struct model_options *list[CHOICE_FALLBACKS + 1];
	const char *without[CHOICE_WITHOUT + 1];
};

/* Gives a string (taken) to the store; returns it. */
const char *choice_keep(struct choice_store *store, char *string);
/* A header (taken); those beyond CHOICE_HEADERS are dropped. */
void choice_header(struct choice_store *store, char *header);

/* The provider's way of a name of Google's: "gemini-api-key", "vertex-ai" or "gateway".
 * AUTHENTICATION_FAILED: security.auth.selectedType is another one. */
bool google_auth_type(const struct settings *settings, const char **ret, struct err *err);
/* The name that an alias stands for; `name` itself if it is none. Borrowed from settings or `name`. */
const char *google_alias(const struct settings *settings, const char *name);
/* Address, key and headers for Gemini and Vertex. */
bool google_options(const struct settings *settings, const struct catalogue_row *row,
                    struct choice_store *store, struct model_options *options, struct err *err);
/* The first of a row's variables that is set and not empty; NULL: none. */
const char *choice_variable(const struct settings *settings, const char *const names[static 2]);
/* The key for a provider: its variables, then the key store. NULL: none. Kept by the store. */
const char *choice_key(const struct settings *settings, const struct catalogue_row *row,
                       struct choice_store *store);
bool choice_no_key(const struct catalogue_row *row, struct err *err);

#endif
