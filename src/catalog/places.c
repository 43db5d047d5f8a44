/* SPDX-License-Identifier: Apache-2.0 */
/* Whose files of skills, agents and commands count, and which of them can be read. */
#include "catalog/private.h"

#include <string.h>

#include "base/door.h"
#include "base/text.h"
#include "config/home.h"

bool catalog_project_counts(const struct settings *settings, bool local)
{
	const struct home *home = settings_home(settings);

	/* What lies in the home folder is the user's. */
	return local && settings_trusted(settings) &&
	       strcmp(home_user(home), home_project(home)) != 0;
}

bool catalog_file_read(const char *root, const char *path, size_t max, struct file_text *ret,
                       struct err *err)
{
	if (!door_read(root, path, max, ret, err))
		return false;
	if (!ret->data)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s no longer exists.", path);
	if (!utf8_valid(file_text_span(ret)) || memchr(ret->data, 0, ret->len))
		return err_set(err, ERR_NOT_TEXT, "it is not UTF-8 text.");
	return true;
}
