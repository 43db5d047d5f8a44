/* SPDX-License-Identifier: Apache-2.0 */
/* hasp-extensions.json: the files of extensions that the user has said yes to. */
#include <string.h>

#include "base/door.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

enum { CONSENTS_DEPTH = 8 };

/* What is not the extension's but the user's, or a program's that keeps it. */
static const char *const not_content[] = { ".git", ".env", EXTENSION_ORIGIN, NULL };

static char *consents_file(const struct home *home)
{
	return mem_printf("%s/hasp-extensions.json", home_gemini(home));
}

json_t *extension_consents(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = consents_file(home);
	json_t *all = config_object_read(path, CONSENTS_DEPTH, err);

	return all ? all : json_object();
}

bool extension_content_hash(const char *folder, struct sha256 *ret, struct err *err)
{
	return tree_hash(folder, not_content, false, ret, err);
}

/* Changes the row of one extension in the file, under its lock; a `row` (taken) of NULL removes
 * it. */
static bool consent_write(const struct home *home, const char *name, json_t *row, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_REGISTRY_BYTES);
	_cleanup_free_ char *gemini = home_make(home_user(home), ".gemini", err);
	_cleanup_free_ char *path = consents_file(home);
	_cleanup_lock_ char *lock = gemini ? home_lock_file(path, err) : NULL;
	json_auto_t *all = lock ? config_object_read(path, CONSENTS_DEPTH, err) : NULL;

	if (!all) {
		json_decref(row);
		return false;
	}
	if (row)
		json_object_set_new_nocheck(all, name, row);
	else if (json_object_del(all, name) != 0)
		return true;
	if (!json_print(&out, all, 2))
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.", path);
	return file_replace(path, buf_view(&out), 0600, err);
}

bool extension_consent_record(const struct home *home, const char *name, const char *folder,
                              const char *brings, struct err *err)
{
	struct sha256 content, looks;

	/* How they look comes first: what is changed between the two is found. */
	return tree_hash(folder, not_content, true, &looks, err) &&
	       extension_content_hash(folder, &content, err) &&
	       consent_write(home, name,
	                     json_pack("{s:o, s:o, s:o}", "content", json_sha256(&content), "looks",
	                               json_sha256(&looks), "brings",
	                               json_text(span_str(brings))), err);
}

bool extension_consent_forget(const struct home *home, const char *name, struct err *err)
{
	return consent_write(home, name, NULL, err);
}

static bool is_hash(const json_t *said, const struct sha256 *sum)
{
	struct sha256 kept;

	return sha256_parse(json_span(said), &kept) && sha256_eq(&kept, sum);
}

bool extension_consent_holds(const struct home *home, const json_t *consents, const char *name,
                             const char *folder)
{
	const json_t *row = json_object_get(consents, name);
	struct err ignored = ERR_INIT;
	struct sha256 looks, content;
	json_t *now;

	if (!row)
		return true;
	if (!tree_hash(folder, not_content, true, &looks, &ignored))
		return false;
	if (is_hash(json_object_get(row, "looks"), &looks))
		return true;
	if (!extension_content_hash(folder, &content, &ignored) ||
	    !is_hash(json_object_get(row, "content"), &content))
		return false;
	/* Touched, or copied from elsewhere: the next start need not read them all. */
	now = json_copy((json_t *)row);
	json_object_set_new(now, "looks", json_sha256(&looks));
	(void)consent_write(home, name, now, &ignored);
	return true;
}
