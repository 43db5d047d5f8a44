/* SPDX-License-Identifier: Apache-2.0 */
/* What a change must not put into a file unless it says that it is meant so. */
#include "edit_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "diff/diff.h"

/* ---- placeholders ----------------------------------------------------------------- */

/* By the name of the file.  Each takes the place of the body of a function. */
static const struct form {
	const char *name, *line;
} forms[] = {
	/* in the marks of each language */
	{ "a.js", "// ... existing code ..." },
	{ "a.py", "# ... existing code ..." },
	{ "a.c", "/* ... existing code ... */" },
	{ "a.css", "/* ... existing styles ... */" },
	{ "a.html", "<!-- ... existing code ... -->" },
	{ "a.html", "<!-- rest of the page -->" },
	{ "a.tsx", "{/* ... keep existing code */}" },
	{ "a.tsx", "{/* ...rest of code unchanged... */}" },
	{ "a.sql", "-- ... existing code ..." },
	{ "a.lua", "-- rest of the script unchanged" },
	{ "a.lisp", ";; ... existing code ..." },
	{ "a.asm", "; ... rest of file ..." },
	{ "a.erl", "% ... existing code ..." },
	{ "a.f90", "! ... existing code ..." },
	{ "a.ml", "(* ... existing code ... *)" },
	{ "a.jinja", "{# ... existing template ... #}" },
	{ "a.vb", "' ... existing code ..." },
	{ "a.bat", "REM ... rest of the script ..." },
	{ "a.py", "\"\"\" ... existing code ... \"\"\"" },
	{ "a.ts", "{{ ... }}" },
	{ "a.js", "[... rest of file ...]" },
	{ "a.js", "<rest of code>" },
	{ "a.js", "[rest of the code remains unchanged]" },
	{ "a.js", "[Previous content from line 1-305 remains exactly the same]" },
	{ "a.yaml", "# ... rest of config ..." },
	{ "a.toml", "# ... existing dependencies ..." },
	{ "a.json", "// ... existing fields ..." },
	{ "Makefile", "# ... existing rules ..." },
	{ "a.unknown", "// ... existing code ..." },
	/* in the words that models use */
	{ "a.js", "// ...existing code..." },
	{ "a.js", "// rest of code ..." },
	{ "a.js", "// ... keep existing code (education progression)" },
	{ "a.js", "// ... keep existing code (getUser, startRecording, stopRecording functions)" },
	{ "a.js", "// Rest of the code remains the same" },
	{ "a.js", "// Rest of the code remains the same..." },
	{ "a.js", "// Rest of the code remains exactly the same as the previous edit, from Hero on" },
	{ "a.js", "// rest of the function" },
	{ "a.py", "# (rest of methods...)" },
	{ "a.js", "// ... (rest of your existing JavaScript code) ..." },
	{ "a.js", "// ... (rest of the methods: isRateLimited, throttleKey are unchanged) ..." },
	{ "a.js", "// ... (rest of the build method remains the same)" },
	{ "a.js", "// ... (rest of the class variables and methods remain the same) ..." },
	{ "a.js", "// ... (rest of imports/code)" },
	{ "a.js", "// ... Rest of the component (form rendering) remains the same as before ..." },
	{ "a.js", "// ... remaining fields ..." },
	{ "a.js", "/* ... remainder of the file ... */" },
	{ "a.js", "// other methods remain the same" },
	{ "a.js", "// ... other methods ..." },
	{ "a.js", "// ... other imports" },
	{ "a.js", "// ... additional code ..." },
	{ "a.js", "// same as before" },
	{ "a.js", "/* ... same as before ... */" },
	{ "a.py", "# (same as above)" },
	{ "a.js", "/* unchanged */" },
	{ "a.js", "// ... unchanged ..." },
	{ "a.js", "// ... (unchanged)" },
	{ "a.js", "// Implementation remains the same" },
	{ "a.js", "// code continues as before" },
	{ "a.js", "// ... previous code remains unchanged ..." },
	{ "a.js", "// ... Previous code remains the same until the order items mapping ..." },
	{ "a.js", "// (previous implementation)" },
	{ "a.js", "// ... (This component remains unchanged)" },
	{ "a.js", "// ... existing partial handling and parameter parsing (unchanged) ..." },
	{ "a.js", "// ... fetchDrivers logic (unchanged) ..." },
	{ "a.js", "// .. existing outbound confirmation scanning (unchanged) ..." },
	{ "a.py", "# ... 73 lines omitted for brevity ..." },
	{ "a.py", "# ...Other methods omitted for brevity ..." },
	{ "a.py", "# code omitted for brevity" },
	{ "a.c", "// ... other includes and error handling omitted for brevity ..." },
	{ "a.py", "# ... truncated ..." },
	{ "a.py", "# [truncated]" },
	{ "a.js", "// Lines 1-50 remain unchanged" },
	{ "a.py", "# ... (lines 10-40) ..." },
	{ "a.py", "# ... (lines 10-40 unchanged) ..." },
	{ "a.py", "# ... existing" },
	{ "a.py", "# ... existing rendering logic ..." },
	{ "a.py", "# ... existing error handling" },
	{ "a.py", "# Existing code here" },
	{ "a.py", "# ... your existing code here ..." },
	{ "a.py", "# Keep the rest of the code as is" },
	{ "a.py", "# the rest of the file is unchanged" },
	{ "a.py", "Rest of code is unchanged." },
	{ "a.py", "... (previous code unchanged)." },
	{ "a.py", "... rest of the function ..." },
	{ "a.js", "// <- leave original code here ->" },
	{ "a.js", "// ... etc ..." },
	{ "a.js", "// etc." },
	{ "a.js", "// and so on ..." },
	{ "a.js", "// ... snip ..." },
	/* dots alone */
	{ "a.js", "..." },
	{ "a.js", "\xE2\x80\xA6" },
	{ "a.sh", "..." },
	{ "a.js", "// ..." },
	{ "a.js", "// \xE2\x80\xA6" },
	{ "a.py", "# ..." },
	{ "a.c", "/* ... */" },
	{ "a.html", "<!-- ... -->" },
	{ "a.py", "# [...]" },
	{ "a.js", "[...]" },
	/* behind code, or as a body */
	{ "a.js", "function other() { ... }" },
	{ "a.js", "function other() { /* ... existing code ... */ }" },
	{ "a.js", "const f = (t) => { /* ... same as before ... */ };" },
	{ "a.tsx", "<div className=\"x\">{/* ... keep existing code */}" },
	{ "a.py", "pass  # ... existing code ..." },
};

#define HEAD "one {\n    first();\n}\ntwo {\n"
#define BODY "    if (a)\n        b();\n    c();\n    d();\n"
#define TAIL "}\nthree {\n    last();\n}\n"

static bool content_apply(struct fixture *f, const char *name, enum change_kind kind, const char *old_text,
                  const char *text, bool literal, struct err *err)
{
	struct edit_options options = { .dry_run = true, .commit.durability = DURABILITY_RENAME };
	_cleanup_free_ char *before = fixture_get(f, name, NULL);
	struct sha256 base = fixture_hash(before ? before : "");
	struct change change = { .kind = kind, .path = name, .base = before ? &base : NULL,
	                         .old_text = span_str(old_text), .text = span_str(text),
	                         .literal = literal };
	struct change_result result = { 0 };
	bool ok = edit_apply(f->ws, &change, 1, &options, &result, err);

	change_result_release(&result);
	return ok;
}

/* The change of the whole text, as each editor would be asked for it. */
static void check_all(const char *name, const char *before, const char *after, const char *says)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(1 << 20);
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	struct script_print_options print = { .context = 3 };
	const struct {
		enum change_kind kind;
		const char *old_text, *text;
	} ways[] = {
		{ CHANGE_WRITE, "", after },
		{ CHANGE_UPDATE, before, after },
		{ CHANGE_PATCH, "", NULL },
	};
	struct fixture f;

	lines_index(&old_lines, span_str(before));
	lines_index(&new_lines, span_str(after));
	diff_lines(&old_lines, &new_lines, &script);
	script_print(&diff, &old_lines, &script, &print);
	fixture_open(&f);
	fixture_put(&f, name, before);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		const char *text = ways[i].text ? ways[i].text : diff.data;
		struct err err = ERR_INIT;
		bool ok = content_apply(&f, name, ways[i].kind, ways[i].old_text, text, false, &err);

		if (ok != !says || (says && !(err.code == ERR_INVALID_ARGUMENT &&
		                              strstr(err.message, says) &&
		                              strstr(err.message, "literal: true"))))
			fail_msg("%s, way %zu, %s:\n%s", name, i, err.message, after);
		err = (struct err)ERR_INIT;
		if (!content_apply(&f, name, ways[i].kind, ways[i].old_text, text, true, &err))
			fail_msg("%s, way %zu, literal: %s", name, i, err.message);
	}
	fixture_close(&f);
}

static void a_line_in_place_of_code_is_refused(void **state)
{
	(void)state;
	assert_true(ARRAY_LEN(forms) >= 100);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		_cleanup_free_ char *after = mem_printf(HEAD "    %s\n" TAIL, forms[i].line);
		_cleanup_free_ char *says = mem_printf("Line 5 of the new content, \"%s\"",
		                                       forms[i].line);
		_cleanup_free_ char *again = mem_printf(HEAD BODY "    %s\n", forms[i].line);

		check_all(forms[i].name, HEAD BODY TAIL, after, says);
		/* And in place of the whole end of the file. */
		check_all(forms[i].name, HEAD BODY BODY BODY TAIL, again, forms[i].line);
	}
}

/* The same lines where the file has them already, in another place. */
static void a_line_that_the_file_has_is_its_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		_cleanup_free_ char *before = mem_printf("%s\n" HEAD BODY TAIL, forms[i].line);
		_cleanup_free_ char *after = mem_printf("%s\n" HEAD "    %s\n" TAIL,
		                                        forms[i].line, forms[i].line);

		check_all(forms[i].name, before, after, NULL);
	}
}

/* ---- what stays allowed ----------------------------------------------------------- */

static const struct {
	const char *name, *before, *after;
} allowed[] = {
	/* a language's own dots */
	{ "a.py", "def f(x):\n    a()\n    b()\n", "def f(x):\n    ...\n" },
	{ "a.pyi", "def f(x):\n    a()\n    b()\n", "def f(x: int) -> int: ...\n" },
	{ "a.py", "class P:\n    def f(self):\n        a()\n        b()\n",
	  "class P:\n    def f(self):\n        \"\"\"Doc.\"\"\"\n        ...\n" },
	{ "a.py", "def f():\n    a()\n    b()\n", "x[..., 0]\n" },
	{ "a.py", "x = 1\ny = 2\nz = 3\n", "    >>> for i in f():\n    ...     g(i)\n    ...\n" },
	{ "a.pl", "sub f {\n    a();\n    b();\n}\n", "sub f {\n    ...\n}\n" },
	{ "a.c", "int f(int a, int b)\n{\n    g();\n    h();\n}\n", "int f(\n    int a,\n    ...\n);\n" },
	{ "a.rs", "let a = 1;\nlet b = 2;\n", "let A { x, .. } = a;\n" },
	{ "a.ts", "f(a);\nf(b);\nf(c);\n", "const x = {\n  ...rest,\n  ...existing,\n  ...other\n};\n" },
	{ "a.ts", "f(a);\nf(b);\n", "function f(...args) { g([...remaining, ...others]); }\n" },
	{ "a.yaml", "a: 1\nb: 2\nc: 3\n", "a: 1\n...\n" },
	/* ordinary sentences */
	{ "a.c", "f();\n/* the others */\ng();\n", "f();\n/* The rest of the line is a comment. */\ng();\n" },
	{ "a.c", "f();\ng();\nh();\n", "/* See the other methods for details... */\nf();\n" },
	{ "a.c", "f();\ng();\nh();\n", "/* Keep this in step with the rest of the parser. */\nf();\n" },
	{ "a.c", "f();\ng();\nh();\n", "/// more details.\nf();\n" },
	{ "a.py", "f()\ng()\nh()\n", "# TODO: your code here\nf()\n" },
	{ "a.py", "f()\ng()\nh()\n", "# wait...\nf()\n" },
	{ "a.py", "f()\ng()\nh()\n", "if remaining > rest:\n    same = other\n" },
	{ "a.js", "f();\ng();\nh();\n", "it('should keep the existing body', () => {\n});\n" },
	{ "a.js", "f();\ng();\nh();\n", "const t = ['Other', 'Rest'];\n" },
	{ "a.ts", "f();\ng();\nh();\n", "// test('f w/ skipped value alias', () => {\n// })\nf();\n" },
	{ "a.ts", "f();\ng();\nh();\n", "// Falls back to the\n// existing values.\nf();\n" },
	/* comments for comments, and where nothing goes */
	{ "a.js", "// the old ones\nf();\n", "// Other methods remain the same.\nf();\n" },
	{ "a.js", "f();\ng();\n", "f();\n// ...\ng();\n" },
	{ "a.py", "f()\ng()\n", "f()\n# the rest of the code\ng()\n" },
	/* samples, and prose */
	{ "a.md", "One.\n\nTwo.\n\n```\na\nb\nc\n```\n", "One.\n\nTwo.\n\n```\na\n...\n```\n" },
	{ "a.md", "One.\n", "One.\n\n```js\n// ... existing code ...\nadded();\n```\n" },
	{ "a.md", "* one\n* two\n* three\n", "# Other options\n\nThe rest of the file is as before.\n" },
	{ "a.c", "f();\ng();\nh();\n", "/**\n * f();\n * ...\n * h();\n */\nf();\n" },
	{ "a.c", "f();\n", "/* Usage:\n * a\n *  ... rest of your script ...\n * b\n */\nf();\n" },
	/* fences, numbers and diffs where they belong */
	{ "a.md", "old\n", "```c\nint a;\n```\n" },
	{ "a.js", "old\n", "f(`\n```\nx\n```\n`);\n" },
	{ "a.csv", "a,b\nc,d\n", "1:a\n2:b\n3:c\n" },
	{ "a.yaml", "a: b\n", "1: a\n2: b\n3: c\n" },
	{ "a.js", "x = {\n  1: 'a',\n  2: 'b',\n};\n", "x = {\n  1: 'c',\n  2: 'd',\n  3: 'e',\n};\n" },
	{ "a.txt", "1|a\n2|b\n3|c\n", "1|x\n2|y\n3|z\n" },
	{ "a.patch", "old\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n" },
	{ "a.case", "@@ -1 +1 @@\n-a\n+b\n", "@@ -1 +1 @@\n-a\n+c\n" },
	{ "a.c", "old\n", "-a\n+b\n" },
};

static void what_people_write_is_allowed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
		check_all(allowed[i].name, allowed[i].before, allowed[i].after, NULL);
}

/* ---- whole contents --------------------------------------------------------------- */

static const struct {
	const char *name, *before, *content, *says; /* `before` NULL: the file is missing */
} contents[] = {
	{ "a.py", NULL, "```python\nprint(1)\n```\n", "Line 1 of the new content, \"```python\"" },
	{ "a.py", "print(0)\n", "\n```\nprint(1)\n```", "Line 2 of the new content, \"```\"" },
	{ "a.c", NULL, "~~~~c\nint a;\n~~~~\n", "a code fence round all of it" },
	{ "a.py", NULL, "```python\n\"\"\"\n```\nx\n```\n\"\"\"\n```\n", "a code fence round all of it" },
	{ "notes", NULL, "```\none\n```\n", "a code fence round all of it" },
	{ "notes", NULL, "```\none\n```\ntwo\n```\nthree\n```\n", NULL },
	{ "a.md", NULL, "```\none\n```\n", NULL },
	{ "a.sh", "```\nold\n```\n", "```\nnew\n```\n", NULL },
	{ "a.py", NULL, "1\xE2\x86\x92" "import os\n2\xE2\x86\x92\n3\xE2\x86\x92print(os)\n",
	  "the line numbers of a listing" },
	{ "a.txt", NULL, "    7\xE2\x86\x92" "a\n    8\xE2\x86\x92" "b\n    9\xE2\x86\x92" "c\n",
	  "the line numbers of a listing" },
	{ "a.go", NULL, "1: package a\n2: \n3: func f() {}\n", "the line numbers of a listing" },
	{ "a.go", NULL, "1|package a\n2|\n3|func f() {}\n", "the line numbers of a listing" },
	{ "a.go", NULL, "1\tpackage a\n2\t\n3\tfunc f() {}\n", "the line numbers of a listing" },
	{ "a.csv", NULL, "1\ta\n2\tb\n3\tc\n", NULL },
	{ "a.csv", "a\nb\nc\n", "1\ta\n2\tb\n3\tc\n", "the line numbers of a listing" },
	{ "a.txt", "one\ntwo\nthree\n", "1:one\n2:two\n3:four\n", "the line numbers of a listing" },
	{ "a.txt", NULL, "1: one\n2: two\n3: three\n", NULL },
	{ "a.py", NULL, "1\xE2\x86\x92" "import os\n3\xE2\x86\x92print(os)\n4\xE2\x86\x92x\n", NULL },
	{ "a.c", NULL, "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+int b;\n",
	  "Line 3 of the new content, \"@@ -1 +1 @@\"" },
	{ "a.c", "int a;\n", "@@\n-int a;\n+int b;\n", "belongs to a diff" },
	{ "a.c", "int a;\n", "*** Begin Patch\n*** Update File: a.c\n-int a;\n+int b;\n*** End Patch\n",
	  "belongs to a diff" },
	{ "a.txt", "int a;\n", "@@ -1 +1 @@\n-int a;\n+int b;\n", "belongs to a diff" },
	{ "a.txt", NULL, "@@ -1 +1 @@\n-int a;\n+int b;\n", NULL },
	{ "a.diff", "int a;\n", "@@ -1 +1 @@\n-int a;\n+int b;\n", NULL },
	{ "a.py", "a\n", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "begins an edit" },
	{ "a.py", NULL, "def f():\n    # (rest of methods...)\n", "Line 2 of the new content" },
	{ "a.sql", "insert (\n  a,\n  b,\n  c,\n  d,\n  e\n)\n", "insert (\n  a,\n  ...\n)\n", "Line 3 of the new content" },
	{ "a.py", NULL, "def f():\n    # ...\n    g()\n", NULL },
	{ "a.md", NULL, "// ... rest of the code ...\n", NULL },
	{ "a.md", "One\n\nTwo\n\nThree\n", "One\n\n...\n", "stand for text that was left out" },
	{ "a.md", "One\n\nTwo\n\nThree\n", "One\n\n[... rest of the document ...]\n",
	  "stand for text that was left out" },
};

static void whole_contents_are_looked_at(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
		const char *says = contents[i].says;
		struct err err = ERR_INIT;
		struct fixture f;
		bool ok;

		fixture_open(&f);
		if (contents[i].before)
			fixture_put(&f, contents[i].name, contents[i].before);
		ok = content_apply(&f, contents[i].name, CHANGE_WRITE, "", contents[i].content, false, &err);
		if (ok != !says || (says && !strstr(err.message, says)))
			fail_msg("row %zu, %s: %s", i, contents[i].name, err.message);
		err = (struct err)ERR_INIT;
		if (!content_apply(&f, contents[i].name, CHANGE_WRITE, "", contents[i].content, true, &err))
			fail_msg("row %zu, %s, literal: %s", i, contents[i].name, err.message);
		if (!contents[i].before && says) {
			_cleanup_buf_ struct buf diff = BUF_INIT(4096);
			_cleanup_lines_ struct lines none = { 0 }, lines = { 0 };
			_cleanup_script_ struct script script = { 0 };
			struct script_print_options print = { .context = 3 };

			lines_index(&none, span_str(""));
			lines_index(&lines, span_str(contents[i].content));
			diff_lines(&none, &lines, &script);
			script_print(&diff, &none, &script, &print);
			err = (struct err)ERR_INIT;
			assert_false(content_apply(&f, contents[i].name, CHANGE_PATCH, "", diff.data, false,
			                   &err));
			assert_non_null(strstr(err.message, says));
		}
		fixture_close(&f);
	}
}

/* A listing's numbers in the new text of an update, or in added lines. */
static void numbers_of_a_listing_are_refused_in_part_of_a_file(void **state)
{
	static const struct {
		enum change_kind kind;
		const char *old_text, *text;
		bool fine;
	} rows[] = {
		{ CHANGE_UPDATE, "two\nthree\nfour\n", "2:two\n3:three\n4:for\n", false },
		{ CHANGE_PATCH, "", "@@\n-two\n-three\n-four\n+2:two\n+3:three\n+4:for\n", false },
		{ CHANGE_PATCH, "", "@@\n two\n+3\xE2\x86\x92x\n+4\xE2\x86\x92y\n+5\xE2\x86\x92z\n three\n", false },
		{ CHANGE_PATCH, "", "@@\n two\n+3:x\n+4:y\n+5:z\n three\n", true },
		{ CHANGE_PATCH, "", "@@\n two\n+3\xE2\x86\x92x\n+4\xE2\x86\x92y\n three\n", true },
		{ CHANGE_UPDATE, "two\nthree\nfour\n", "2:x\n3:y\n4:z\n", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct fixture f;
		bool ok;

		fixture_open(&f);
		fixture_put(&f, "a.txt", "one\ntwo\nthree\nfour\nfive\n");
		ok = content_apply(&f, "a.txt", rows[i].kind, rows[i].old_text, rows[i].text, false, &err);
		if (ok != rows[i].fine ||
		    (!ok && !strstr(err.message, "the line numbers of a listing")))
			fail_msg("row %zu: %s", i, err.message);
		fixture_close(&f);
	}
}

/* Many lines that may be placeholders, none of which is one, are looked at in one pass. */
static void many_are_weighed_in_one_pass(void **state)
{
	enum { COUNT = 50000 };
	_cleanup_buf_ struct buf before = BUF_INIT(16 << 20), after = BUF_INIT(16 << 20);
	struct err err = ERR_INIT;
	struct fixture f;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		buf_printf(&before, "x%d();\n", i);
		buf_printf(&after, "// ... %d ...\n\ny%d();\nz%d();\n", i, i, i);
	}
	fixture_open(&f);
	fixture_put(&f, "a.js", before.data);
	assert_true(content_apply(&f, "a.js", CHANGE_WRITE, "", after.data, false, &err));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_in_place_of_code_is_refused),
		cmocka_unit_test(a_line_that_the_file_has_is_its_own),
		cmocka_unit_test(what_people_write_is_allowed),
		cmocka_unit_test(whole_contents_are_looked_at),
		cmocka_unit_test(numbers_of_a_listing_are_refused_in_part_of_a_file),
		cmocka_unit_test(many_are_weighed_in_one_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
