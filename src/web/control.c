/* SPDX-License-Identifier: Apache-2.0 */
/* The socket through which `hasp web` invites people: in ~/.gemini/hasp-web/, which only its owner
 * may enter, a socket per process, named by its id. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/home.h"
#include "data/json.h"
#include "net/http/client.h"
#include "web/private.h"

#define CONTROL_FOLDER "hasp-web"
#define CONTROL_HOST "hasp.invalid"

enum { SERVERS_MAX = 1024, CONTROL_MS = 10000, ANSWER_BYTES = 1 << 20 };

/* ---- the socket ------------------------------------------------------------------- */

/* The folder, made if `make`; NULL: *err. The caller frees. */
static char *control_folder(bool make, struct err *err)
{
	struct home *home = NULL;
	char *folder;

	if (!home_open("/", &home, err))
		return NULL;
	folder = make ? home_make(home_gemini(home), CONTROL_FOLDER, err) :
	                path_join(home_gemini(home), CONTROL_FOLDER);
	home_free(home);
	return folder;
}

/* The process whose socket has this name; 0: it is none. */
static unsigned long control_process(const char *name)
{
	char *end;
	const unsigned long process = ascii_is_digit(*name) ? strtoul(name, &end, 10) : 0;

	return process && *end == '-' ? process : 0;
}

/* Calls `one` for each socket in the folder. */
static void control_each(int folder, void (*one)(void *data, int folder, const char *name),
                         void *data)
{
	const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *open = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	size_t seen = 0;

	while (open && (entry = readdir(open)) && seen++ < SERVERS_MAX)
		if (control_process(entry->d_name))
			one(data, folder, entry->d_name);
	if (open)
		closedir(open);
	else if (copy >= 0)
		close(copy);
}

/* A process that was killed leaves its socket. */
static void control_sweep(void *data, int folder, const char *name)
{
	(void)data;
	if (kill((pid_t)control_process(name), 0) != 0 && errno == ESRCH)
		unlinkat(folder, name, 0);
}

bool web_control_open(struct web *web, struct err *err)
{
	static const char *const hosts[] = { CONTROL_HOST };
	_cleanup_free_ char *folder = control_folder(true, err);
	struct http_options http = {
		.hosts = hosts, .host_count = 1, .listed_hosts_only = true, .knows_later = true,
		.body_max = LIMIT_WEB_BODY_BYTES, .data = web,
	};
	_cleanup_fd_ int fd = -1;

	if (!folder)
		return false;
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		control_each(fd, control_sweep, NULL);
	if (!door_is_own(folder))
		return err_set(err, ERR_PERMISSION_DENIED,
		               "Others than you may write to %s. Remove it.", folder);
	web->control_path = mem_printf("%s/%ld-%u", folder, (long)getpid(),
	                               http_server_port(web->server));
	http.socket = web->control_path;
	web_serve_routes(&http);
	return http_server_new(web->loop, &http, &web->control, err);
}

/* ---- the client ------------------------------------------------------------------- */

struct control_answer {
	struct buf body;
	int status;
};

static bool control_head(void *data, int status, struct span headers)
{
	(void)headers;
	((struct control_answer *)data)->status = status;
	return true;
}

static bool control_body(void *data, struct span bytes)
{
	return buf_span(&((struct control_answer *)data)->body, bytes);
}

/* One request to a socket. NETWORK_ERROR: no process listens to it any more. */
static bool control_send(const char *socket, const char *path, const json_t *body, json_t **ret,
                         struct err *err)
{
	static const char *const headers[] = { "Content-Type: application/json", NULL };
	static const struct http_events events = { .head = control_head, .body = control_body };
	struct control_answer answer = { .body = BUF_INIT(ANSWER_BYTES) };
	_cleanup_buf_ struct buf text = BUF_INIT(ANSWER_BYTES);
	_cleanup_free_ char *url = mem_printf("http://" CONTROL_HOST "/api/%s", path);
	struct http_client *client = http_client_new();
	struct http_client_request request = { .url = url, .headers = headers, .proxy = "",
		                               .socket = socket, .connect_ms = CONTROL_MS,
		                               .total_ms = CONTROL_MS,
		                               .max_bytes = ANSWER_BYTES };
	bool ok;

	if (body)
		json_print(&text, body, 0);
	request.body = buf_view(&text);
	request.method = body ? "POST" : "GET";
	ok = http_client_send(client, &request, &events, &answer, err) &&
	     json_parse(buf_view(&answer.body), ret, err);
	http_client_free(client);
	buf_release(&answer.body);
	if (!ok || answer.status < 400)
		return ok;
	err_set(err, answer.status == 404 ? ERR_FILE_NOT_FOUND : ERR_INVALID_ARGUMENT, "%s",
	        json_string_value(json_object_get(json_object_get(*ret, "error"), "message")) ?:
	        "The web front refused this.");
	json_decref(*ret);
	*ret = NULL;
	return false;
}

struct control_search {
	unsigned server;
	json_t *paths; /* of sockets that answer, beneath the folder's descriptor */
};

static void control_look(void *data, int folder, const char *name)
{
	struct control_search *search = data;
	_cleanup_free_ char *path = mem_printf("/proc/self/fd/%d/%s", folder, name);
	struct err err = ERR_INIT;
	json_t *me = NULL;

	if (search->server && control_process(name) != search->server)
		return;
	if (control_send(path, "me", NULL, &me, &err))
		json_array_append_new(search->paths, json_path_bytes(path));
	json_decref(me);
}

bool web_control(unsigned server, const char *path, const json_t *body, json_t **ret,
                 struct err *err)
{
	_cleanup_free_ char *folder = control_folder(false, err);
	json_auto_t *paths = json_array();
	struct control_search search = { .server = server, .paths = paths };
	_cleanup_fd_ int fd = -1;

	if (!folder)
		return false;
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		control_each(fd, control_look, &search);
	if (!json_array_size(paths))
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "No web front of yours runs%s. /web in hasp, or \"hasp serve web\", "
		               "starts one.", server ? " in that process" : "");
	if (json_array_size(paths) > 1)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%zu web fronts run. Name one with --process: %s has them.",
		               json_array_size(paths), folder);
	return control_send(json_string_value(json_array_get(paths, 0)), path, body, ret, err);
}
