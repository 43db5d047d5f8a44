/* SPDX-License-Identifier: Apache-2.0 */
/* The bearer token of `hasp serve mcp --http`. */
#ifndef HASP_CLI_COMMAND_SERVE_TOKEN_H
#define HASP_CLI_COMMAND_SERVE_TOKEN_H

#include "base/err.h"

/* Where a token came from. */
enum token_source {
	TOKEN_NEW,         /* made for this start: somebody has to be told */
	TOKEN_ENVIRONMENT, /* HASP_MCP_TOKEN */
	TOKEN_FILE,        /* read from the file */
	TOKEN_FILE_NEW,    /* made, and written to the file, which did not exist */
};

/* The token; the caller frees *ret.  `file` (may be NULL) is preferred to the environment.
 * PERMISSION_DENIED: others than its owner can read the file.  INVALID_ARGUMENT: a token that
 * cannot stand in a header: 16 to 512 of the characters that RFC 6750 allows are wanted. */
bool serve_token(const char *file, char **ret, enum token_source *ret_source, struct err *err);

#endif
