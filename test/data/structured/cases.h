/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of test_change.c: a file's name, its text, changes, the text after them. */
#ifndef HASP_TEST_DATA_STRUCTURED_CASES_H
#define HASP_TEST_DATA_STRUCTURED_CASES_H

#define SET(path, value) "[{'op':'set','path':'" path "','value':" value "}]"
#define DELETE(path) "[{'op':'delete','path':'" path "'}]"
#define APPEND(path, value) "[{'op':'append','path':'" path "','value':" value "}]"
#define INSERT(path, value) "[{'op':'insert','path':'" path "','value':" value "}]"
#define RENAME(path, value) "[{'op':'rename','path':'" path "','value':" value "}]"

static const struct change_case json_cases[] = {
	{ "a.json", "{\"a\": 1, \"b\" :2}\n", SET(".b", "3"), "{\"a\": 1, \"b\" :3}\n" },
	{ "a.json", "{\r\n  \"a\": [1, 2]\r\n}\r\n", APPEND(".a", "3"),
	  "{\r\n  \"a\": [1, 2, 3]\r\n}\r\n" },
	{ "a.json", "{\n\t\"a\": [\n\t\t1, // one\n\t\t2 // two\n\t]\n}", APPEND(".a", "3"),
	  "{\n\t\"a\": [\n\t\t1, // one\n\t\t2, // two\n\t\t3\n\t]\n}" },
	{ "a.json", "{\n\t\"a\": [\n\t\t1, // one\n\t\t2, // two\n\t]\n}", APPEND(".a", "3"),
	  "{\n\t\"a\": [\n\t\t1, // one\n\t\t2, // two\n\t\t3,\n\t]\n}" },
	{ "a.json", "{\n    \"a\": {}\n}\n", SET(".a.b", "{'c': [1]}"),
	  "{\n    \"a\": {\n        \"b\": {\n            \"c\": [\n                1\n"
	  "            ]\n        }\n    }\n}\n" },
	{ "a.json", "{\"a\":{}}", SET(".a.b", "{'c': [1,2]}"), "{\"a\":{\"b\":{\"c\":[1,2]}}}" },
	{ "a.json", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", DELETE(".b"), "{\n  \"a\": 1\n}\n" },
	{ "a.json", "{\n  \"a\": 1,\n  // of b\n  \"b\": 2,\n  \"c\": 3\n}\n", DELETE(".b"),
	  "{\n  \"a\": 1,\n  // of b\n  \"c\": 3\n}\n" },
	{ "a.json", "{\"a\": 1, \"b\": 2}", DELETE(".a"), "{\"b\": 2}" },
	{ "a.json", "{\"a\": 1, \"b\": 2}", DELETE(".b"), "{\"a\": 1}" },
	{ "a.json", "[1, 2, 3,]", DELETE(".[2]"), "[1, 2,]" },
	{ "a.json", "[1]", DELETE(".[0]"), "[]" },
	{ "a.json", "[\n  1,\n  2\n]", INSERT(".[0]", "0"), "[\n  0,\n  1,\n  2\n]" },
	{ "a.json", "[\n  1,\n  2\n]", INSERT(".[1]", "0"), "[\n  1,\n  0,\n  2\n]" },
	{ "a.json", "[1,2]", INSERT(".[2]", "0"), "[1,2,0]" },
	{ "a.json", "{\"a b\": 1}", RENAME(".\\'a b\\'", "'c'"), "{\"c\": 1}" },
	{ "a.json", "{\"a-b\": 1}", RENAME("[\\'a-b\\']", "'c'"), "{\"c\": 1}" },
	{ "a.json", "{\"x\": 1}", SET(".y.z", "1"), "!There is no .y" },
	{ "a.json", "{\"port\": 1}", DELETE(".prot"), "!Did you mean \"port\"" },
	{ "a.json", "{\"a\": 1, \"a\": 2}", SET(".a", "3"), "!more than once" },
	{ "a.json", "{\"a\": 1}", SET(".a | .b", "3"), "!only paths" },
	{ "a.json", "{\"a\": 1}", SET(".a.b", "3"), "!.a is a number, not an object" },
	{ "a.json", "{\"a\": 1}", SET(".a", "1"), "!as asked already" },
	{ "a.json", "{\"a\": 1, \"b\": [1, 2]}",
	  "[{'op':'set','path':'.a','value':2},{'op':'delete','path':'.b[-1]'},"
	  "{'op':'rename','path':'.b','value':'c'},{'op':'append','path':'.c','value':{'d':null}}]",
	  "{\"a\": 2, \"c\": [1, {\"d\": null}]}" },
	{ "a.jsonl", "{\"a\":1}\n{\"a\":2}\n", APPEND(".", "{'a':3}"),
	  "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n" },
	{ "a.jsonl", "{\"a\":1}\n{\"a\":2}", APPEND(".", "{'a':3}"),
	  "{\"a\":1}\n{\"a\":2}\n{\"a\":3}" },
	{ "a.jsonl", "{\"a\":1}\n{\"a\":2}\n", DELETE(".[0]"), "{\"a\":2}\n" },
	{ "a.jsonl", "{\"a\":1}\n{\"a\":2}\n", SET(".[1].b", "'x'"),
	  "{\"a\":1}\n{\"a\":2,\"b\":\"x\"}\n" },
};

#endif
