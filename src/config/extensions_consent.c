/* SPDX-License-Identifier: Apache-2.0 */
/* hasp-extensions.json: the files of extensions that the user has said yes to. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
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
	json_t *all = home_object_read(path, CONSENTS_DEPTH, err);

	return all ? all : json_object();
}

bool extension_content_hash(const char *folder, struct sha256 *ret, struct err *err)
{
	return tree_hash(folder, not_content, ret, err);
}

/* ---- which of them have changed --------------------------------------------------------- */

/* Only so many are remembered one by one: for people, where the digest of all decides. */
enum { FILES_REMEMBERED = 200, FILE_DIGEST_LEN = 16, FILES_SHOWN = 20 };

struct files_reading {
	const char *folder;
	json_t *files; /* {path: digest} */
	bool failed;
};

static bool path_is_content(const char *path)
{
	for (const char *const *one = not_content; *one; one++) {
		const size_t len = strlen(*one);

		if (!strncmp(path, *one, len) && (!path[len] || path[len] == '/'))
			return false;
	}
	return true;
}

/* The beginning of a digest, with an "x" before it for what may be run. NULL: it is not known. */
static char *file_digest(const char *folder, const char *path)
{
	_cleanup_free_ char *whole = path_join(folder, path);
	_cleanup_file_text_ struct file_text text = { 0 };
	char target[PATH_MAX], hex[SHA256_HEX_SIZE];
	struct err ignored = ERR_INIT;
	struct sha256 sum;
	struct stat status;
	ssize_t len;

	if (lstat(whole, &status) != 0)
		return NULL;
	if (S_ISLNK(status.st_mode)) {
		len = readlink(whole, target, sizeof(target));
		if (len < 0)
			return NULL;
		sum = sha256_of(span_of(target, (size_t)len));
	} else if (door_read(folder, whole, LIMIT_TREE_BYTES, &text, &ignored) && text.data) {
		sum = sha256_of(file_text_span(&text));
	} else {
		return NULL;
	}
	sha256_hex(&sum, hex);
	return mem_printf("%s%.*s", status.st_mode & S_IXUSR ? "x" : "", FILE_DIGEST_LEN, hex);
}

static void content_file_read(void *data, const char *path)
{
	struct files_reading *reading = data;
	_cleanup_free_ char *digest = NULL;

	if (reading->failed || !path_is_content(path))
		return;
	digest = json_object_size(reading->files) < FILES_REMEMBERED ?
	                 file_digest(reading->folder, path) : NULL;
	reading->failed = !digest ||
	                  json_object_set_new(reading->files, path, json_string(digest)) != 0;
}

/* A new reference; NULL: there are too many, or one cannot be read. */
static json_t *content_files(const char *folder)
{
	struct files_reading reading = { .folder = folder, .files = json_object() };
	struct err ignored = ERR_INIT;

	if (tree_look(folder, content_file_read, &reading, &ignored) && !reading.failed)
		return reading.files;
	json_decref(reading.files);
	return NULL;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines for the files of `files` that `others` has not, or, with `both`, has otherwise. */
static void put_changed_files(char **lines, size_t *count, const char *word, json_t *files,
                              const json_t *others, bool both)
{
	const char *path;
	json_t *digest;

	json_object_foreach(files, path, digest) {
		const json_t *other = json_object_get(others, path);

		if (both ? other && !json_equal(digest, other) : !other) {
			_cleanup_buf_ struct buf line = BUF_INIT(8 * PATH_MAX);

			buf_printf(&line, "  %s: ", word);
			name_line(&line, span_str(path));
			lines[(*count)++] = mem_printf("%s\n", line.data);
		}
	}
}

char *extension_changed_files(const struct home *home, const char *name, const char *folder)
{
	struct err ignored = ERR_INIT;
	json_auto_t *consents = extension_consents(home, &ignored);
	json_t *before = json_object_get(json_object_get(consents, name), "files");
	json_auto_t *now = json_is_object(before) ? content_files(folder) : NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	char **lines;
	size_t count = 0;

	if (!now)
		return mem_strdup("");
	lines = mem_alloc(json_object_size(before) + json_object_size(now) + 1, sizeof(*lines));
	put_changed_files(lines, &count, "changed", now, before, true);
	put_changed_files(lines, &count, "new", now, before, false);
	put_changed_files(lines, &count, "gone", before, now, false);
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++) {
		if (i < FILES_SHOWN)
			buf_str(&out, lines[i]);
		free(lines[i]);
	}
	if (count > FILES_SHOWN)
		buf_printf(&out, "  and %zu more\n", count - FILES_SHOWN);
	free(lines);
	return mem_printf("%s", out.data ? out.data : "");
}

/* ---- writing it down ---------------------------------------------------------------------- */

/* Changes the row of one extension in the file, under its lock; a `row` (taken) of NULL removes
 * it. */
static bool consent_write(const struct home *home, const char *name, json_t *row, struct err *err)
{
	_cleanup_free_ char *gemini = home_make(home_user(home), ".gemini", err);
	_cleanup_free_ char *path = consents_file(home);
	_cleanup_lock_ char *lock = gemini ? home_lock_file(path, err) : NULL;
	json_auto_t *all = lock ? home_object_read(path, CONSENTS_DEPTH, err) : NULL;

	if (!all) {
		json_decref(row);
		return false;
	}
	if (row)
		json_object_set_new_nocheck(all, name, row);
	else if (json_object_del(all, name) != 0)
		return true;
	return home_object_write(path, all, err);
}

bool extension_consent_record(const struct home *home, const char *name, const char *folder,
                              const char *brings, struct err *err)
{
	struct sha256 content, looks;
	json_t *row, *files;

	/* How they look comes first: what is changed between the two is found. */
	if (!tree_hash_quick(folder, not_content, &looks, err) ||
	    !extension_content_hash(folder, &content, err))
		return false;
	row = json_pack("{s:o, s:o, s:o}", "content", json_sha256(&content), "looks",
	                json_sha256(&looks), "brings", json_text(span_str(brings)));
	files = content_files(folder);
	if (files)
		json_object_set_new(row, "files", files);
	return consent_write(home, name, row, err);
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
	if (!tree_hash_quick(folder, not_content, &looks, &ignored))
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

/* ---- when a program of it is started -------------------------------------------------------- */

char *extension_others_may_write(const char *folder)
{
	struct err err = ERR_INIT;
	struct sha256 ignored;

	return tree_hash_quick(folder, not_content, &ignored, &err) ||
	                       err.code != ERR_PERMISSION_DENIED ?
	               NULL : mem_printf("%s", err.message);
}

json_t *extension_watch(const struct settings *settings, const struct extension *extension)
{
	_cleanup_free_ char *path = consents_file(settings_home(settings));

	if (strcmp(extension->folder, extension->installed) != 0)
		return NULL;
	return json_pack("{s:o, s:s, s:o}", "consents", json_name(path), "name", extension->name,
	                 "folder", json_name(extension->folder));
}

bool extension_watch_holds(const json_t *watch, struct err *err)
{
	const char *name = json_string_value(json_object_get(watch, "name"));
	_cleanup_free_ char *path =
		name_from_shown(json_string_value(json_object_get(watch, "consents")));
	_cleanup_free_ char *folder =
		name_from_shown(json_string_value(json_object_get(watch, "folder")));
	json_auto_t *all = home_object_read(path, CONSENTS_DEPTH, err);
	const json_t *row = json_object_get(all, name);
	struct sha256 looks, content;

	if (!all)
		return false;
	if (!tree_hash_quick(folder, not_content, &looks, err))
		return false;
	if (!row || is_hash(json_object_get(row, "looks"), &looks) ||
	    (extension_content_hash(folder, &content, err) &&
	     is_hash(json_object_get(row, "content"), &content)))
		return true;
	return err_set(err, ERR_DENIED_BY_POLICY,
	               "Files of the extension %s have changed since you approved them. To review "
	               "and approve them: hasp extensions approve %s", name, name);
}
