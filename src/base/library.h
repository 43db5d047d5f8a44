/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded when they are needed, so that other runs do not pay for them.
 *
 *     struct http_library { __typeof__(MHD_run) *run; ... };
 *     static const struct library_symbol symbols[] = {
 *             { "MHD_run", offsetof(struct http_library, run) }, ...
 *     };
 *     static const struct library row = { { "libmicrohttpd.so.12" }, "HTTP needs",
 *                                         "libmicrohttpd12", symbols, ARRAY_LEN(symbols) };
 *     ok = library_load(&row, &functions, &err);
 */
#ifndef HASP_BASE_LIBRARY_H
#define HASP_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct library_symbol {
	const char *name;
	size_t at; /* where its pointer goes in the structure of functions */
};

struct library {
	const char *files[3];  /* the first that is there is taken; ends with NULL */
	const char *needed_by; /* "HTTP needs" */
	const char *package;   /* Debian's */
	const struct library_symbol *symbols;
	size_t symbol_count;
};

/* Fills `functions`. It stays loaded. INTERNAL, with the package to install, when there is none; or
 * the symbol that it lacks. */
bool library_load(const struct library *library, void *functions, struct err *err);

#endif
