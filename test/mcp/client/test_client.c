/* SPDX-License-Identifier: Apache-2.0 */
/* One server, without an agent: what it reports, asks and answers. */
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

#include "client_bench.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/declared/declared.h"

static void test_progress_is_passed_on(void **state)
{
	struct bench *bench = *state;
	const struct mcp_wait wait = { .timeout_ms = 60000, .progress = keep_progress,
		                       .data = bench };
	struct err err = ERR_INIT;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	json_decref(must_call(bench, "progress", &wait));
	/* Those that come too soon after another are left out, but never the last. */
	assert_in_range(bench->told, 1, 3);
	assert_true(bench->done == 3 && bench->total == 3);
	assert_null(bench->said);
	assert_string_equal(mcp_client_version(bench->client), "2025-11-25");
	assert_false(mcp_client_lost(bench->client));
}

static void test_progress_that_does_not_grow_is_none(void **state)
{
	struct bench *bench = *state;
	const struct mcp_wait wait = { .timeout_ms = 60000, .progress = keep_progress,
		                       .data = bench };
	struct err err = ERR_INIT;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	json_decref(must_call(bench, "progress-back", &wait));
	assert_int_equal(bench->told, 1);
	assert_true(bench->done == 0.5 && bench->total == 1);
	assert_string_equal(bench->said, "half");
}

static void test_progress_begins_the_timeout_again(void **state)
{
	struct bench *bench = *state;
	const struct mcp_wait wait = { .timeout_ms = 4000, .progress = keep_progress,
		                       .data = bench };
	const struct mcp_wait brief = { .timeout_ms = 200, .progress = keep_progress,
		                        .data = bench };
	json_auto_t *arguments = json_pack("{s:s}", "what", "progress-endless");
	struct err err = ERR_INIT;
	json_t *result = NULL;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	json_decref(must_call(bench, "progress-slow", &wait)); /* 6 s */
	assert_true(bench->done == 5 && bench->total == 0);
	bench->told = 0;
	assert_false(mcp_client_call(bench->client, "say", arguments, &brief, &result, &err));
	assert_int_equal(err.code, ERR_TOOL_FAILED);
	assert_non_null(strstr(err.message, "progress"));
	assert_true(bench->told > 0);
	close_fake(bench); /* the server still reports */
}

static void test_who_cancels_does_not_wait(void **state)
{
	struct bench *bench = *state;
	struct cancel set = cancelled_already();
	const struct mcp_wait wait = { .timeout_ms = 60000, .cancel = &set };
	struct err err = ERR_INIT;
	json_t *result = NULL;

	if (!open_fake(bench, "no-answer", &err))
		fail_msg("%s", err.message);
	assert_false(mcp_client_call(bench->client, "say", NULL, &wait, &result, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_false(mcp_client_lost(bench->client));
	cancel_release(&set);
}

static void test_what_it_prints_is_logged(void **state)
{
	struct bench *bench = *state;
	struct err err = ERR_INIT;

	if (!open_fake(bench, "greeting", &err))
		fail_msg("%s", err.message);
	assert_non_null(strstr(bench->log.data, "Welcome to the server!"));
}

static void test_one_that_ends_says_how(void **state)
{
	struct bench *bench = *state;
	struct err err = ERR_INIT;

	assert_false(open_fake(bench, "die-at-start", &err));
	assert_int_equal(err.code, ERR_TOOL_FAILED);
	assert_non_null(strstr(err.message, "exit code 5"));
	assert_non_null(strstr(err.message, "cannot find my settings"));
}

/* A server answers a call, and leaves open what it wants a model to answer. */
static void test_what_a_model_answers_ends_with_the_call(void **state)
{
	const struct mcp_wait wait = { .timeout_ms = 60000 };
	json_auto_t *arguments = json_pack("{s:s}", "what", "sample-left"), *result = NULL;
	struct bench *bench = *state;
	struct err err = ERR_INIT;

	if (!open_fake(bench, "greeting", &err) ||
	    !mcp_client_call(bench->client, "say", arguments, &wait, &result, &err))
		fail_msg("%s", err.message);
	assert_true(bench->withdrawn);
}

/* The fake that knows 2026-07-28 alone, and answers a call as `way` says. */
static json_t *call_modern(struct bench *bench, const char *way, struct err *err)
{
	const struct mcp_wait wait = { .timeout_ms = 60000 };
	json_t *result = NULL;

	if (!open_fake(bench, way, err))
		fail_msg("%s", err->message);
	assert_string_equal(mcp_client_version(bench->client), "2026-07-28");
	assert_string_equal(json_string_value(json_object_get(json_object_get(
		mcp_client_hello(bench->client), "serverInfo"), "version")), "2");
	mcp_client_call(bench->client, "say", NULL, &wait, &result, err);
	return result;
}

static void test_an_answer_may_ask_for_more(void **state)
{
	struct err err = ERR_INIT;
	json_auto_t *result = call_modern(*state, "modern,ask-roots", &err);
	json_auto_t *said = NULL;

	assert_non_null(result);
	said = json_loads(json_string_value(json_object_get(json_array_get(json_object_get(
		result, "content"), 0), "text")), 0, NULL);
	assert_string_equal(json_string_value(json_object_get(said, "requestState")),
	                    "s\xc3\xa9same");
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(
		json_object_get(json_object_get(said, "inputResponses"), "a"), "roots"), 0),
		"uri")), "file:///x");
	assert_non_null(json_object_get(json_object_get(said, "_meta"),
	                                "io.modelcontextprotocol/clientCapabilities"));
}

static void test_answers_that_ask_wrongly_are_refused(void **state)
{
	static const struct {
		const char *way, *words;
	} rows[] = {
		{ "modern,ask-endless", "20 times" },
		{ "modern,ask-nothing", "not as the protocol has it" },
		{ "modern,ask-wrong", "without saying what" },
		{ "modern,ask-person", "elicitation/create" },
		{ "modern,odd-result", "type of result" },
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		assert_null(call_modern(bench, rows[i].way, &err));
		assert_int_equal(err.code, ERR_TOOL_FAILED);
		if (!strstr(err.message, rows[i].words))
			fail_msg("%s: %s", rows[i].way, err.message);
	}
}

static void test_headers_repeat_arguments(void **state)
{
	json_auto_t *tool = json_loads(
		"{\"name\": \"t\", \"inputSchema\": {\"properties\": {"
		"\"a\": {\"type\": \"string\", \"x-mcp-header\": \"A\"},"
		"\"o\": {\"type\": \"object\", \"properties\": {"
		"\"n\": {\"type\": \"integer\", \"x-mcp-header\": \"N\"}}},"
		"\"b\": {\"type\": \"boolean\", \"x-mcp-header\": \"B\"},"
		"\"z\": {\"type\": \"string\", \"x-mcp-header\": \"Z\"}}}}", 0, NULL);
	json_auto_t *params = json_loads(
		"{\"name\": \"t\\n\", \"arguments\": {\"a\": \"x\\r\\nEvil: y\","
		" \"o\": {\"n\": 5}, \"b\": false, \"z\": null}}", 0, NULL);
	static const char *const expected[] = {
		"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
		"Mcp-Name: =?base64?dAo=?=", "Mcp-Param-A: =?base64?eA0KRXZpbDogeQ==?=",
		"Mcp-Param-N: 5", "Mcp-Param-B: false",
	};
	json_auto_t *mirrored = NULL;
	struct err err = ERR_INIT;
	char **headers;

	(void)state;
	assert_true(mcp_modern_mirrored(tool, &mirrored, &err));
	headers = mcp_modern_headers("tools/call", params, mirrored);
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_string_equal(headers[i], expected[i]);
	assert_null(headers[ARRAY_LEN(expected)]);
	worker_texts_free(headers);
}

static void test_messages_go_to_the_same_origin(void **state)
{
	static const struct {
		const char *url, *said, *whole;
	} rows[] = {
		{ "http://h:1/a/sse?k=1", "/messages?id=5", "http://h:1/messages?id=5" },
		{ "http://h:1/a/sse", "messages", "http://h:1/a/messages" },
		{ "http://h:1", "messages", "http://h:1/messages" },
		{ "http://h:1/a/sse?k=/x", "?id=5", "http://h:1/a/sse?id=5" },
		{ "https://h/sse", "https://h/m", "https://h/m" },
		{ "https://h/sse", "http://h/m", NULL },
		{ "http://h/sse", "http://h.evil/m", NULL },
		{ "http://h/sse", "http://h:2/m", NULL },
		{ "http://h/sse", "http://h@evil/m", NULL },
		{ "http://h/sse", "//evil/m", NULL },
		{ "http://h/sse", "/\\evil/m", NULL },
		{ "http://h/sse", "/m\r\nX: y", NULL },
		{ "http://h/sse", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *whole = mcp_http_endpoint(rows[i].url,
		                                               span_str(rows[i].said));

		if (rows[i].whole ? !whole || strcmp(whole, rows[i].whole) : whole != NULL)
			fail_msg("%s at %s: %s", rows[i].said, rows[i].url, whole ? whole : "no");
	}
}

/* What the fake says of the answers it got. A new reference. */
static json_t *call_and_read(struct bench *bench, const char *what, unsigned timeout_ms)
{
	const struct mcp_wait wait = { .timeout_ms = timeout_ms };
	json_auto_t *result = must_call(bench, what, &wait);
	const json_t *part = json_array_get(json_object_get(result, "content"), 0);

	return json_loads(json_string_value(json_object_get(part, "text")), JSON_DECODE_ANY, NULL);
}

static void test_what_it_asks_is_answered(void **state)
{
	struct bench *bench = *state;
	json_auto_t *got = NULL;
	struct err err = ERR_INIT;
	int n = 0, code = 0;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	got = call_and_read(bench, "ask", 60000);
	assert_int_equal(json_unpack(got, "[{s:{s:i}}, {s:{s:i}}]", "result", "n", &n, "error",
	                             "code", &code), 0);
	assert_int_equal(n, 5);
	assert_int_equal(code, -32601);
}

static void test_what_it_withdraws_is_not_answered(void **state)
{
	struct bench *bench = *state;
	json_auto_t *got = NULL;
	struct err err = ERR_INIT;
	const char *first = NULL, *second = NULL;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	got = call_and_read(bench, "withdraw", 60000);
	/* The ping was not held up, and w1 is never heard of. */
	assert_int_equal(json_unpack(got, "[{s:s}, {s:s}]", "id", &first, "id", &second), 0);
	assert_string_equal(first, "w2");
	assert_string_equal(second, "w3");
}

static void test_the_end_cancels_what_it_asks(void **state)
{
	struct bench *bench = *state;
	const struct mcp_wait wait = { .timeout_ms = 60000 };
	struct err err = ERR_INIT;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	json_decref(must_call(bench, "leave", &wait));
	assert_false(bench->withdrawn);
	close_fake(bench);
	assert_true(bench->withdrawn);
}

static void test_requests_within_an_answer(void **state)
{
	struct bench *bench = *state;
	struct cancel set = cancelled_already(), no = { .fd = -1 };
	const struct mcp_wait waits = { .cancel = &no }, gone = { .cancel = &set };
	const struct mcp_expected over = { .over = true, .wake_fd = -1 };
	json_auto_t *params = json_pack("{s:i}", "n", 7), *result = NULL, *ended = NULL;
	json_t *other = NULL;
	struct err err = ERR_INIT;

	if (!open_fake(bench, "usual", &err))
		fail_msg("%s", err.message);
	assert_true(mcp_client_answer(bench->client, "test/answer", params, &waits, NULL,
	                              &result, &err));
	assert_int_equal(json_integer_value(json_object_get(result, "n")), 7);
	assert_true(mcp_client_answer(bench->client, "test/wait", NULL, &waits, &over, &ended,
	                              &err));
	assert_true(bench->withdrawn);
	assert_true(mcp_client_answer(bench->client, "test/wait", NULL, &gone, NULL, &other,
	                              &err));
	json_decref(other);
	assert_false(mcp_client_answer(bench->client, "test/none", NULL, &waits, NULL, &other,
	                               &err));
	assert_int_equal(err.code, ERR_UNKNOWN_TOOL);
	cancel_release(&set);
	cancel_release(&no);
}

static void test_names(void **state)
{
	static const struct {
		const char *server, *tool, *name, *plain;
	} rows[] = {
		{ "a", "b", "mcp_a_b", "mcp_a_b" },
		{ "a b", "c/d", "mcp_a_b_c_d", "mcp_a_b_c_d" },
		{ "s.x:y", "t-z", "mcp_s.x:y_t-z", "mcp_s_x_y_t-z" },
		{ "\xc3\xa4", "t", "mcp____t", "mcp____t" },
		{ "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd", "eeeeeeeeeeffffffffffgggggggggg",
		  "mcp_aaaaaaaaaabbbbbbbbbbcccccc_7c07c756_eeeffffffffffgggggggggg",
		  "mcp_aaaaaaaaaabbbbbbbbbbcccccc_7c07c756_eeeffffffffffgggggggggg" },
		/* They differ in the middle alone. */
		{ "s", "eeeeeeeeeeffffffffffggggggggggX1eeeeeeeeeeffffffffffgggggggggg",
		  "mcp_s_eeeeeeeeeeffffffffffgggg_e210ebff_eeeffffffffffgggggggggg",
		  "mcp_s_eeeeeeeeeeffffffffffgggg_e210ebff_eeeffffffffffgggggggggg" },
		{ "s", "eeeeeeeeeeffffffffffggggggggggX2eeeeeeeeeeffffffffffgggggggggg",
		  "mcp_s_eeeeeeeeeeffffffffffgggg_c981abeb_eeeffffffffffgggggggggg",
		  "mcp_s_eeeeeeeeeeffffffffffgggg_c981abeb_eeeffffffffffgggggggggg" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *name = mcp_declaration_name(rows[i].server, rows[i].tool,
		                                                 false);
		_cleanup_free_ char *plain = mcp_declaration_name(rows[i].server, rows[i].tool,
		                                                  true);

		assert_string_equal(name, rows[i].name);
		assert_string_equal(plain, rows[i].plain);
	}
}

/* ---- one login at a time ---- */

/* Requests a token at a server that takes connections and never answers. */
struct waiting {
	struct mcp_auth *auth;
	struct cancel cancel;
	_Atomic bool ended;
};

static void *wait_for_token(void *data)
{
	struct waiting *waiting = data;

	free(mcp_auth_field(waiting->auth,
	                    &(struct auth_wait){ .cancels = { NULL, &waiting->cancel } }));
	atomic_store(&waiting->ended, true);
	return NULL;
}

/* Google's credentials, whose tokens a silent server has; the listener. */
static int write_silent_credentials(char *path)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM, 0), fd = mkstemp(path);

	assert_true(fd >= 0 && listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	dprintf(fd,
	        "{\"type\": \"authorized_user\", \"client_id\": \"a\", \"client_secret\": \"b\", "
	        "\"refresh_token\": \"c\", \"token_uri\": \"http://127.0.0.1:%u/token\"}",
	        ntohs(address.sin_port));
	close(fd);
	setenv("GOOGLE_APPLICATION_CREDENTIALS", path, 1);
	return listener;
}

static void test_who_waits_for_another_s_login_can_be_cancelled(void **state)
{
	char path[] = "/tmp/test_client.XXXXXX";
	const int listener = write_silent_credentials(path);
	struct mcp_auth *auth = mcp_auth_new(&(struct mcp_auth_options){
		.name = "far", .url = "http://127.0.0.1/", .kind = MCP_AUTH_GOOGLE });
	struct pollfd connected = { .fd = listener, .events = POLLIN };
	struct waiting first = { .auth = auth };
	struct cancel over;
	struct err err = ERR_INIT;
	pthread_t thread;

	(void)state;
	cancel_init_lazily(&first.cancel);
	cancel_init_lazily(&over);
	cancel_set(&over);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_token, &first), 0);
	assert_int_equal(poll(&connected, 1, -1), 1);
	assert_null(mcp_auth_field(auth, &(struct auth_wait){ .cancels = { &over } }));
	assert_null(mcp_auth_field(auth, &(struct auth_wait){ .until_ms = 1 }));
	assert_false(mcp_auth_challenged(auth, 401, SPAN("Bearer"), NULL,
	                                 &(struct auth_wait){ .cancels = { &over } }, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_false(atomic_load(&first.ended));
	cancel_set(&first.cancel);
	pthread_join(thread, NULL);
	mcp_auth_free(auth);
	unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
	unlink(path);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_waits_for_another_s_login_can_be_cancelled),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_messages_go_to_the_same_origin),
		cmocka_unit_test(test_headers_repeat_arguments),
		cmocka_unit_test_setup_teardown(test_what_a_model_answers_ends_with_the_call,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_answer_may_ask_for_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_answers_that_ask_wrongly_are_refused, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(test_progress_is_passed_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_progress_that_does_not_grow_is_none, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(test_progress_begins_the_timeout_again, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(test_who_cancels_does_not_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_it_prints_is_logged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_that_ends_says_how, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_it_asks_is_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_it_withdraws_is_not_answered, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(test_the_end_cancels_what_it_asks, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(test_requests_within_an_answer, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up_folder, tear_down_folder);
}
