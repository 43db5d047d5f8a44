/* SPDX-License-Identifier: Apache-2.0 */
/* Codes and messages for programs. */
#include <stdio.h>

#include "api/engine/internal.h"
#include "base/mem.h"

#ifndef HASP_VERSION
#error "the build defines HASP_VERSION"
#endif

/* The advice of base/err.h speaks to models and names tools; this speaks to programmers. */
static const struct row {
	enum err_code inside;
	const char *advice;
} rows[] = {
	[HASP_NONE] = { ERR_NONE, "" },
	[HASP_INVALID_ARGUMENT] = { ERR_INVALID_ARGUMENT, "Correct the named argument." },
	[HASP_STATE_MISMATCH] = { ERR_STATE_MISMATCH,
	                          "Read the file again and make the change for what it is now." },
	[HASP_BASE_REQUIRED] = { ERR_BASE_REQUIRED,
	                         "Pass the hash of the state that the change is meant for." },
	[HASP_INVALID_DIFF] = { ERR_INVALID_DIFF,
	                        "Pass one unified diff for one file, with at least one hunk." },
	[HASP_AMBIGUOUS_DIFF] = { ERR_AMBIGUOUS_DIFF,
	                          "Add context lines, or the right line number, to the hunk." },
	[HASP_NO_MATCH] = { ERR_NO_MATCH, "Make the diff, or the old text, from the file as it is." },
	[HASP_WRONG_MATCH_COUNT] = { ERR_WRONG_MATCH_COUNT,
	                             "Take the old text from the file as it is, with enough around "
	                             "it, or expect the right count." },
	[HASP_NO_CHANGE] = { ERR_NO_CHANGE, "Nothing has to be done." },
	[HASP_FILE_NOT_FOUND] = { ERR_FILE_NOT_FOUND, "Check the path." },
	[HASP_FILE_EXISTS] = { ERR_FILE_EXISTS, "Choose another name, or change that file." },
	[HASP_NOT_A_FILE] = { ERR_NOT_A_FILE, "Name a regular file." },
	[HASP_NOT_A_DIRECTORY] = { ERR_NOT_A_DIRECTORY, "Name a folder." },
	[HASP_NOT_TEXT] = { ERR_NOT_TEXT, "Use a program that knows the type." },
	[HASP_TOO_LARGE] = { ERR_TOO_LARGE, "Ask for a range, or raise the limit." },
	[HASP_OUTSIDE_WORKSPACE] = { ERR_OUTSIDE_WORKSPACE,
	                             "Open the workspace with the folder that holds the file." },
	[HASP_PERMISSION_DENIED] = { ERR_PERMISSION_DENIED,
	                             "The permissions of the file or folder forbid it." },
	[HASP_DISK_FULL] = { ERR_DISK_FULL, "Nothing was changed. Free some space or quota." },
	[HASP_BUSY] = { ERR_BUSY, "Try again when the other process has closed the file." },
	[HASP_CANNOT_PRESERVE] = { ERR_CANNOT_PRESERVE,
	                           "Nothing was changed. Run as the owner of the file." },
	[HASP_IO_ERROR] = { ERR_IO_ERROR, "Nothing was changed. Look at the disk." },
	[HASP_ROLLED_BACK] = { ERR_ROLLED_BACK, "Correct the change that failed." },
	[HASP_INTERNAL] = { ERR_INTERNAL, "This is a defect of the library." },
};

static hasp_code code_of(enum err_code inside)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].inside == inside)
			return (hasp_code)i;
	return HASP_INTERNAL; /* codes of tools and policies, which are not in here */
}

static const struct row *row_of(hasp_code code)
{
	return (size_t)code < ARRAY_LEN(rows) ? &rows[code] : &rows[HASP_INTERNAL];
}

const char *hasp_version(void)
{
	return HASP_VERSION;
}

const char *hasp_code_name(hasp_code code)
{
	return err_name(row_of(code)->inside);
}

const char *hasp_code_advice(hasp_code code)
{
	return row_of(code)->advice;
}

bool lib_error(const struct err *err, hasp_error *error)
{
	if (!error)
		return false;
	error->code = code_of(err->code);
	error->sys_errno = err->sys_errno;
	snprintf(error->message, sizeof(error->message), "%s", err->message);
	return false;
}

bool lib_parse_hash(const char *hex, struct sha256 *ret, bool *ret_given, struct err *err)
{
	*ret_given = hex != NULL;
	if (!hex || sha256_parse(span_str(hex), ret))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "A SHA-256 has 64 hexadecimal digits; \"%.80s\" is none.", hex);
}
