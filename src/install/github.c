/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads, and releases at GitHub.
 *
 * Reference: GitHub REST API 2022-11-28, "Releases"; which asset is taken is Gemini CLI's rule. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/extensions.h"
#include "data/json.h"
#include "install/private.h"
#include "net/http/client.h"

enum {
	HOPS_MAX = 5,
	RELEASE_BYTES = 4 << 20,
	RELEASE_DEPTH = 32,
	RELEASE_ASSETS_MAX = 1000,
	TAG_BYTES = 200,
	MARK_BYTES = 500,
	API_MS = 60000,
};

/* ---- one request ---------------------------------------------------------------------- */

struct getting {
	const char *method; /* NULL: GET */
	int status;
	char *location; /* owned; of a redirect */
	char *mark;     /* owned; ETag or Last-Modified of what is not one; NULL */
	struct buf *text;
	int file;       /* where the body goes if `text` is NULL */
	int sys_errno;  /* of a write that failed */
};

static bool take_download_head(void *data, int status, struct span headers)
{
	struct getting *getting = data;
	const struct span location = http_field(headers, "location");

	const struct span tag = http_field(headers, "etag");
	const struct span date = http_field(headers, "last-modified");
	const struct span mark = tag.len ? tag : date;

	getting->status = status;
	free(getting->mark);
	getting->mark = status == 200 && mark.len && mark.len <= MARK_BYTES ?
	                        mem_dup(mark.data, mark.len) : NULL;
	if (status >= 300 && status < 400 && location.len)
		getting->location = mem_dup(location.data, location.len);
	return true;
}

static bool take_download_body(void *data, struct span bytes)
{
	struct getting *getting = data;

	if (getting->status != 200)
		return true;
	if (getting->text)
		return buf_span(getting->text, bytes);
	if (fd_write_all(getting->file, bytes.data, bytes.len))
		return true;
	getting->sys_errno = errno;
	return false;
}

static const char *api_address(void)
{
	const char *named = getenv("GITHUB_API_URL");

	return named && *named ? named : "https://api.github.com";
}

/* Whether the address is the API's, where the token may go. */
static bool is_api(const char *url)
{
	const char *api = api_address();
	const size_t len = strlen(api);

	return !strncmp(url, api, len) && (url[len] == '/' || api[len - 1] == '/');
}

/* An absolute address out of a redirect's; the caller frees. NULL: of another form. */
static char *redirect_resolve(const char *url, const char *location)
{
	const char *host = strstr(url, "://");

	if (strstr(location, "://"))
		return mem_strdup(location);
	if (!host || location[0] != '/' || location[1] == '/')
		return NULL;
	host += 3;
	return mem_printf("%.*s%s", (int)(host - url + (long)strcspn(host, "/?#")), url, location);
}

static bool get_once(struct http_client *client, const char *url, const char *accept,
                     struct getting *getting, struct err *err)
{
	static const struct http_events events = { .head = take_download_head,
		                                   .body = take_download_body };
	const char *token = is_api(url) ? getenv("GITHUB_TOKEN") : NULL;
	_cleanup_free_ char *field =
		token && *token ? mem_printf("Authorization: Bearer %s", token) : NULL;
	const char *const headers[] = { accept, "User-Agent: hasp", field, NULL };
	const struct http_client_request request = {
		.method = getting->method ? getting->method : "GET", .url = url, .headers = headers,
		.total_ms = getting->text || getting->method ? API_MS : 0,
		.max_bytes = getting->text ? getting->text->max : LIMIT_ARCHIVE_BYTES,
	};

	getting->status = 0;
	if (http_client_send(client, &request, &events, getting, err))
		return true;
	return getting->sys_errno ?
	               err_set_errno(err, getting->sys_errno, "Cannot write a download") : false;
}

/* Follows redirects, if each address is allowed. */
static bool get(const char *url, const char *accept, struct getting *getting, struct err *err)
{
	struct http_client *client = http_client_new();
	char *at = mem_strdup(url);
	bool ok = true;

	for (unsigned hops = 0; ok; hops++) {
		char *next = NULL;

		ok = source_url_allowed(at, err) && get_once(client, at, accept, getting, err);
		if (!ok || !getting->location)
			break;
		next = redirect_resolve(at, getting->location);
		free(getting->location);
		getting->location = NULL;
		ok = (next && hops < HOPS_MAX) ||
		     err_set(err, ERR_NETWORK_ERROR, "The server redirects to nowhere.");
		free(at);
		at = next ? next : mem_strdup("");
	}
	free(at);
	http_client_free(client);
	return ok;
}

/* What a request for an archive asks for: of GitHub's API, which has both, one or the other. */
static const char *archive_accept(const char *url)
{
	return is_api(url) && !strstr(url, "/assets/") ? "Accept: application/vnd.github+json" :
	                                                 "Accept: application/octet-stream";
}

bool install_download(const char *url, int file, char **ret_mark, struct err *err)
{
	struct getting getting = { .file = file };
	bool ok = get(url, archive_accept(url), &getting, err);

	if (ok && getting.status != 200)
		ok = err_set(err, ERR_NETWORK_ERROR,
		             "The server answers %d in place of the archive.", getting.status);
	if (ok)
		*ret_mark = mem_steal(&getting.mark);
	free(getting.mark);
	return ok;
}

char *install_download_mark(const char *url)
{
	struct getting getting = { .method = "HEAD", .file = -1 };
	struct err ignored = ERR_INIT;

	if (get(url, archive_accept(url), &getting, &ignored) && getting.status == 200)
		return getting.mark;
	free(getting.mark);
	return NULL;
}

bool install_download_text(const char *url, struct buf *out, struct err *err)
{
	struct getting getting = { .text = out, .file = -1 };
	bool ok = get(url, "Accept: application/json", &getting, err);

	free(getting.mark);
	if (out->overflowed)
		return err_set(err, ERR_TOO_LARGE, "%.300s has more than %zu bytes.", url,
		               out->max);
	return ok && (getting.status == 200 ||
	              err_set(err, ERR_NETWORK_ERROR, "The server answers %d in place of %.300s.",
	                      getting.status, url));
}

/* ---- releases ------------------------------------------------------------------------- */

/* *ret: NULL where the API says that there is none. */
static bool api_get(const char *path, json_t **ret, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(RELEASE_BYTES);
	struct getting getting = { .text = &text, .file = -1 };
	const char *api = api_address();
	_cleanup_free_ char *url = mem_printf("%s%s%s", api,
	                                      api[strlen(api) - 1] == '/' ? "" : "/", path);
	bool ok;

	*ret = NULL;
	ok = get(url, "Accept: application/vnd.github+json", &getting, err);
	free(getting.mark);
	if (!ok)
		return false;
	if (getting.status == 404)
		return true;
	if (getting.status == 403 || getting.status == 429)
		return err_set(err, ERR_NETWORK_ERROR,
		               "GitHub answers %d: too many requests, or a private repository. "
		               "A token in GITHUB_TOKEN helps, or an address that ends with "
		               "\".git\".", getting.status);
	if (getting.status != 200)
		return err_set(err, ERR_NETWORK_ERROR, "GitHub answers %d. An address that ends "
		                                       "with \".git\" is fetched with git.",
		               getting.status);
	return json_parse_depth(buf_view(&text), RELEASE_DEPTH, ret, err);
}

/* As Node names them, which Gemini CLI's assets are named after. */
static const char *node_arch(void)
{
	static const char *const names[][2] = {
		{ "x86_64", "x64" },      { "aarch64", "arm64" }, { "armv7l", "arm" },
		{ "i686", "ia32" },       { "ppc64le", "ppc64" }, { "riscv64", "riscv64" },
		{ "loongarch64", "loong64" }, { "s390x", "s390x" },
	};
	struct utsname machine;

	if (uname(&machine) != 0)
		return "";
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i][0], machine.machine))
			return names[i][1];
	return "";
}

static const json_t *asset_beginning(const json_t *assets, const char *prefix)
{
	const json_t *asset;
	size_t i;

	json_array_foreach(assets, i, asset) {
		const char *name = json_string_value(json_object_get(asset, "name"));

		if (i < RELEASE_ASSETS_MAX && name && !strncasecmp(name, prefix, strlen(prefix)))
			return asset;
	}
	return NULL;
}

/* For this platform and processor, else for this platform, else the only one if it is for any. */
static const json_t *asset_choose(const json_t *assets)
{
	_cleanup_free_ char *both = mem_printf("linux.%s.", node_arch());
	const json_t *asset = asset_beginning(assets, both);
	const char *name;

	if (!asset)
		asset = asset_beginning(assets, "linux.");
	if (asset || json_array_size(assets) != 1)
		return asset;
	asset = json_array_get(assets, 0);
	name = json_string_value(json_object_get(asset, "name"));
	return name && !strcasestr(name, "darwin") && !strcasestr(name, "linux") &&
	       !strcasestr(name, "win32") ? asset : NULL;
}

static bool release_find(const struct install_source *source, const char *ref, bool pre_release,
                         json_t **ret, struct err *err)
{
	_cleanup_free_ char *base = mem_printf("repos/%s/%s/releases", source->owner, source->name);
	_cleanup_free_ char *tag = ref ? mem_printf("%s/tags/%s", base, ref) : NULL;
	_cleanup_free_ char *latest = mem_printf("%s/latest", base);
	_cleanup_free_ char *newest = mem_printf("%s?per_page=1", base);
	json_t *list = NULL;

	if (tag)
		return api_get(tag, ret, err);
	*ret = NULL;
	if (!pre_release && !api_get(latest, ret, err))
		return false;
	if (*ret)
		return true;
	if (!api_get(newest, &list, err))
		return false;
	*ret = json_incref(json_array_get(list, 0));
	json_decref(list);
	return true;
}

bool github_release(const struct install_source *source, const char *ref, bool pre_release,
                    char **ret_url, char **ret_tag, struct err *err)
{
	json_auto_t *release = NULL;
	const json_t *asset;
	const char *url, *tag;

	*ret_url = *ret_tag = NULL;
	if (!release_find(source, ref, pre_release, &release, err))
		return false;
	if (!release)
		return true;
	asset = asset_choose(json_object_get(release, "assets"));
	url = json_string_value(asset ? json_object_get(asset, "url") :
	                                json_object_get(release, "tarball_url"));
	tag = json_string_value(json_object_get(release, "tag_name"));
	if (!url || !tag || strlen(tag) > TAG_BYTES)
		return err_set(err, ERR_NETWORK_ERROR, "GitHub's release has no archive.");
	*ret_url = mem_strdup(url);
	*ret_tag = mem_strdup(tag);
	return true;
}
