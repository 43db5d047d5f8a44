/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of any format in the confined child and prints what came of it, or the error, as
 * JSON: for test_formats.py and script/corpora.
 *
 *     derive_probe FILE [outline] [text] [MEMBER=VALUE | WORD]...
 *
 * MEMBER and WORD are those of struct derive_request ("pages=3-5", "render"); with "text" the text
 * alone is printed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "read/read.h"

static bool take_value(struct derive_request *request, const char *word)
{
	const struct {
		const char *name;
		const char **at;
	} texts[] = {
		{ "pages=", &request->pages },   { "sheet=", &request->sheet },
		{ "range=", &request->range },   { "cell=", &request->cell },
		{ "member=", &request->member }, { "table=", &request->table },
	};
	const struct {
		const char *name;
		size_t *at;
	} numbers[] = {
		{ "max=", &request->max_bytes }, { "line=", &request->first_line },
		{ "memory=", &request->memory_bytes },
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (strncmp(word, texts[i].name, strlen(texts[i].name)) == 0) {
			*texts[i].at = word + strlen(texts[i].name);
			return true;
		}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0) {
			*numbers[i].at = strtoul(word + strlen(numbers[i].name), NULL, 10);
			return true;
		}
	return false;
}

static bool take_word(struct derive_request *request, const char *word)
{
	const struct {
		const char *name;
		bool *at;
	} words[] = {
		{ "formulas", &request->formulas }, { "strings", &request->strings },
		{ "details", &request->details },   { "render", &request->render },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i].name) == 0)
			return *words[i].at = true;
	if (strcmp(word, "outline") == 0)
		request->want = DERIVE_OUTLINE;
	return strcmp(word, "outline") == 0 || take_value(request, word);
}

static int print(json_t *object)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&out, object, 0);
	printf("%s\n", out.data);
	json_decref(object);
	return 0;
}

int main(int argc, char **argv)
{
	struct derive_request request = { 0 };
	struct derive_result result = { 0 };
	struct err err = ERR_INIT;
	bool text = false;
	struct stat st;
	_cleanup_fd_ int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || fstat(fd, &st) != 0)
		return 2;
	request.fd = fd;
	request.name = argv[1];
	request.size = (uint64_t)st.st_size;
	for (int i = 2; i < argc; i++) {
		const bool is_text = strcmp(argv[i], "text") == 0;

		text |= is_text;
		if (!is_text && !take_word(&request, argv[i]))
			return 2;
	}
	if (!derive(&request, NULL, &result, &err))
		return print(json_pack("{s:s, s:o}", "error", err_name(err.code), "message",
		                       json_text(span_str(err.message))));
	if (text)
		fwrite(result.text.data, 1, result.text.len, stdout);
	else
		print(json_pack("{s:s, s:s, s:O, s:O?, s:O?, s:b, s:s, s:o}", "kind", result.kind,
		                "library", result.library, "facts", result.facts, "outline",
		                result.outline, "pictures", result.pictures, "truncated",
		                (int)result.truncated, "next", result.next, "text",
		                json_text(buf_view(&result.text))));
	derive_result_release(&result);
	return 0;
}
