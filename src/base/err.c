/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct err_row {
	const char *name;
	enum err_class class;
	const char *advice;
};

static const struct err_row rows[ERR_CODE_COUNT] = {
#define ERR_ROW(symbol, name, class, advice) [ERR_##symbol] = { name, ERR_CLASS_##class, advice },
	ERR_TABLE(ERR_ROW)
#undef ERR_ROW
};

static const struct {
	int sys_errno;
	enum err_code code;
} errno_codes[] = {
	{ ENOENT, ERR_FILE_NOT_FOUND },       { EACCES, ERR_PERMISSION_DENIED },
	{ EPERM, ERR_PERMISSION_DENIED },     { EROFS, ERR_PERMISSION_DENIED },
	{ ENOSPC, ERR_DISK_FULL },            { EDQUOT, ERR_DISK_FULL },
	{ EXDEV, ERR_OUTSIDE_WORKSPACE },     { EEXIST, ERR_FILE_EXISTS },
	{ ENOTDIR, ERR_NOT_A_DIRECTORY },     { EISDIR, ERR_NOT_A_FILE },
	{ ELOOP, ERR_OUTSIDE_WORKSPACE },     { EFBIG, ERR_TOO_LARGE },
	{ ENAMETOOLONG, ERR_INVALID_ARGUMENT }, { EMFILE, ERR_NO_RESOURCES },
	{ ENFILE, ERR_NO_RESOURCES },         { ENOMEM, ERR_NO_RESOURCES },
	{ EAGAIN, ERR_NO_RESOURCES },         { ETXTBSY, ERR_BUSY },
	{ EBUSY, ERR_BUSY },                  { ENXIO, ERR_NOT_A_FILE },
	{ ENODEV, ERR_NOT_A_FILE },
};

static const struct err_row *err_row_of(enum err_code code)
{
	return (unsigned)code < ERR_CODE_COUNT ? &rows[code] : &rows[ERR_INTERNAL];
}

/* Cuts a message that vsnprintf truncated so that no UTF-8 sequence is split. */
static void cut_at_character(char *message)
{
	size_t len = strlen(message);

	if (len < ERR_MESSAGE_MAX - 1)
		return;
	while (len && ((unsigned char)message[len - 1] & 0xC0) == 0x80)
		len--;
	if (len && (unsigned char)message[len - 1] >= 0xC0)
		len--;
	message[len] = '\0';
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list args;

	err->code = code;
	err->sys_errno = 0;
	err->denial.there = false;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	cut_at_character(err->message);
	return false;
}

bool err_set_errno(struct err *err, int sys_errno, const char *format, ...)
{
	va_list args;
	size_t len;

	err->code = ERR_IO_ERROR;
	for (size_t i = 0; i < sizeof(errno_codes) / sizeof(errno_codes[0]); i++)
		if (errno_codes[i].sys_errno == sys_errno)
			err->code = errno_codes[i].code;
	err->sys_errno = sys_errno;
	err->denial.there = false;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	len = strlen(err->message);
	snprintf(err->message + len, sizeof(err->message) - len, ": %s", strerror(sys_errno));
	cut_at_character(err->message);
	return false;
}

const char *err_name(enum err_code code)
{
	return err_row_of(code)->name;
}

enum err_class err_class_of(enum err_code code)
{
	return err_row_of(code)->class;
}

const char *err_advice(enum err_code code)
{
	return err_row_of(code)->advice;
}
