/* SPDX-License-Identifier: Apache-2.0 */
/* What is not below /api/: the page, which is the same for everyone, and coming in by a link. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "web/assets.h"
#include "web/private.h"

/* ---- without the page ------------------------------------------------------------- */

/* A build without node has these: events and questions as text, and a line to type into. */
static const char plain_page[] =
	"<!doctype html>\n<html lang=en><meta charset=utf-8><title>hasp</title>\n"
	"<meta name=viewport content=\"width=device-width\">\n"
	"<link rel=stylesheet href=/assets/plain.css>\n<h1>hasp</h1>\n"
	"<p>This hasp was built without its page. Here are the session's events as text.</p>\n"
	"<pre id=events aria-live=polite></pre>\n"
	"<form id=form><label>Prompt <input id=prompt autocomplete=off></label></form>\n"
	"<script type=module src=/assets/plain.js></script>\n</html>\n";

static const char plain_style[] =
	":root { color-scheme: light dark; font-family: sans-serif }\n"
	"pre { white-space: pre-wrap; overflow-wrap: anywhere }\n"
	"input { width: 80% }\n";

static const char plain_script[] =
	"const out = document.getElementById('events');\n"
	"const say = text => { out.textContent += text + '\\n'; };\n"
	"if (location.hash.startsWith('#key=')) {\n"
	"  localStorage.setItem('key', location.hash.slice(5));\n"
	"  history.replaceState(null, '', '/');\n"
	"}\n"
	"const post = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body),\n"
	"  headers: { 'Content-Type': 'application/json',\n"
	"             'X-Hasp': localStorage.getItem('key') ?? '' } });\n"
	"const list = await fetch('/api/sessions');\n"
	"const sessions = (await list.json());\n"
	"if (!list.ok) say(sessions.error.message);\n"
	"const open = list.ok ? sessions.find(one => one.state !== 'recorded') : undefined;\n"
	"if (list.ok && !open) say('No session is open.');\n"
	"if (open) {\n"
	"  const path = '/api/sessions/' + open.id;\n"
	"  new EventSource(path + '/events').onmessage = event => say(event.data);\n"
	"  document.getElementById('form').onsubmit = async event => {\n"
	"    event.preventDefault();\n"
	"    const field = document.getElementById('prompt');\n"
	"    const answer = await post(path + '/prompt', { text: field.value });\n"
	"    field.value = '';\n"
	"    say(await answer.text());\n"
	"  };\n"
	"}\n";

#define PLAIN(path, type, text) \
	{ path, type, (const unsigned char *)(text), sizeof(text) - 1, false }

static const struct web_asset plain_assets[] = {
	PLAIN("/", "text/html; charset=utf-8", plain_page),
	PLAIN("/assets/plain.css", "text/css; charset=utf-8", plain_style),
	PLAIN("/assets/plain.js", "text/javascript; charset=utf-8", plain_script),
};

static const struct web_asset *asset_find(const char *path)
{
	const struct web_asset *assets = web_assets_count ? web_assets : plain_assets;
	const size_t count = web_assets_count ? web_assets_count : ARRAY_LEN(plain_assets);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(assets[i].path, path))
			return &assets[i];
	return NULL;
}

/* ---- answers ---------------------------------------------------------------------- */

static void page_answer_text(struct http_request *request, unsigned status, const char *text)
{
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_MESSAGE_BYTES);

	buf_str(&body, text);
	http_add_header(request, "Cache-Control", "no-store");
	http_answer(request, status, "text/html; charset=utf-8", &body);
}

static void answer_asset(struct http_request *request, const struct web_asset *asset)
{
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_append(&body, asset->bytes, asset->len);
	/* Every browser that runs the page's script takes gzip. */
	if (asset->is_gzip)
		http_add_header(request, "Content-Encoding", "gzip");
	http_add_header(request, "Cache-Control", "no-cache");
	http_answer(request, 200, asset->type, &body);
}

/* The secrets go with the answer, and the token leaves the address. */
static void come_in(struct web *web, struct http_request *request, const char *token)
{
	_cleanup_free_ char *name = web_cookie_name(web), *cookie = NULL, *location = NULL;
	char secret[WEB_SECRET_SIZE], key[WEB_SECRET_SIZE];
	struct err err = ERR_INIT;

	if (!web_link_use(web, token, secret, key, &err) && err.code != ERR_PERMISSION_DENIED) {
		web_refuse(request, &err);
		return;
	}
	if (err.code != ERR_NONE) {
		page_answer_text(request, 403,
		                 "<!doctype html><html lang=en><meta charset=utf-8><title>hasp"
		                 "</title><h1>This link does not work any more</h1><p>A link works "
		                 "once. This one was used or revoked, or has expired. <code>/web"
		                 "</code> in hasp prints another for its owner, <code>/share NAME "
		                 "ROLE</code> one for someone else.</p></html>\n");
		return;
	}
	cookie = mem_printf("%s=%s; Path=/; HttpOnly; SameSite=Strict%s", name, secret,
	                    web->options.tls ? "; Secure" : "");
	location = mem_printf("/#key=%s", key);
	http_request_know(request);
	http_add_header(request, "Set-Cookie", cookie);
	http_add_header(request, "Location", location);
	page_answer_text(request, 303, "");
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(key, sizeof(key));
}

void web_page_answer(struct web *web, struct http_request *request)
{
	const char *path = http_request_path(request);
	const char *token = http_request_query(request, "token");
	const struct web_asset *asset = asset_find(path);

	if (strcmp(http_request_method(request), "GET") != 0) {
		http_add_header(request, "Allow", "GET");
		web_refuse_with(request, 405, "method_not_allowed",
		                "This path does not have that method.");
	} else if (!asset) {
		web_refuse_with(request, 404, "not_found", "There is nothing at this path.");
	} else if (token && !strcmp(path, "/")) {
		come_in(web, request, token);
	} else {
		answer_asset(request, asset);
	}
}
