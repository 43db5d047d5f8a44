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

static const struct change_case yaml_cases[] = {
	{ "a.yml", "# head\na: 1 # one\nb:\n  - x # first\n  - y\n", APPEND(".b", "'z'"),
	  "# head\na: 1 # one\nb:\n  - x # first\n  - y\n  - z\n" },
	{ "a.yml", "a: 'x'\nb: \"y\"\n", "[{'op':'set','path':'.a','value':'v'},"
	  "{'op':'set','path':'.b','value':'w'}]", "a: 'v'\nb: \"w\"\n" },
	{ "a.yml", "a: x\n", SET(".a", "'yes'"), "a: \"yes\"\n" },
	{ "a.yml", "- a: 1\n  b: 2\n", DELETE(".[0].a"), "- b: 2\n" },
	{ "a.yml", "a:\n  b: 1\nc: 2\n", DELETE(".a.b"), "a: {}\nc: 2\n" },
	{ "a.yml", "a:\r\n  b: 1\r\n", SET(".a.c", "{'d': [1, 2]}"),
	  "a:\r\n  b: 1\r\n  c:\r\n    d:\r\n      - 1\r\n      - 2\r\n" },
	{ "a.yml", "a: {b: 1, c: [x, y]}\n", DELETE(".a.c[0]"), "a: {b: 1, c: [y]}\n" },
	{ "a.yml", "a: &x 1\nb: *x\n", SET(".a", "2"), "!an alias stands for it at .b (line 2)" },
	{ "a.yml", "a: &x 1\nb: *x\n", SET(".b", "2"), "a: &x 1\nb: 2\n" },
	{ "a.yml", "a: &x {c: 1}\nb: *x\n", SET(".b.c", "2"), "!.b is an alias" },
	{ "a.yml", "a: &x {c: 1}\nb:\n  <<: *x\n", SET(".b.c", "2"), "!comes from a merge key" },
	{ "a.yml", "a: &x {c: 1}\nb:\n  <<: *x\n", SET(".b.d", "2"),
	  "a: &x {c: 1}\nb:\n  <<: *x\n  d: 2\n" },
	{ "a.yml", "a: 1\na: 2\n", SET(".a", "2"), "!more than once" },
	{ "a.yml", "a: 1\n---\nb: 2\n", SET(".b", "2"), "!2 YAML documents" },
	{ "a.yml", "a: !t 1\n", SET(".a", "2"), "!has a tag" },
	{ "a.yml", "a: [1\n", SET(".a", "2"), "!Not YAML, line" },
};

static const struct change_case other_cases[] = {
	{ "a.toml", "a = 1 # one\n\n[t]\nb = 'x'\n", SET(".t.b", "'y'"),
	  "a = 1 # one\n\n[t]\nb = 'y'\n" },
	{ "a.toml", "a = 1\n\n[t]\nb = 2\n\n[u]\n", SET(".t.c", "[1]"),
	  "a = 1\n\n[t]\nb = 2\nc = [1]\n\n[u]\n" },
	{ "a.toml", "[[p]]\nn = 1\n\n[x]\n", APPEND(".p", "{'n': 2}"),
	  "[[p]]\nn = 1\n\n[[p]]\nn = 2\n\n[x]\n" },
	{ "a.toml", "[a.b]\nc = 1\n", DELETE(".a.b"), "[a]\n" },
	{ "a.toml", "d = 2024-01-31\n", SET(".d", "'2025-02-01'"), "d = 2025-02-01\n" },
	{ "a.toml", "a = 1\n", SET(".a", "null"), "!no null" },
	{ "a.toml", "a = 1\n", SET(".t", "{'x': 1}"), "a = 1\n\n[t]\nx = 1\n" },
	{ "a.xml", "<r>\n  <i k=\"1\">a</i>\n  <!-- c -->\n</r>\n", SET(".r.i.\\'@k\\'", "2"),
	  "<r>\n  <i k=\"2\">a</i>\n  <!-- c -->\n</r>\n" },
	{ "a.xml", "<r>\n  <i>a</i>\n  <!-- c -->\n</r>\n", APPEND(".r.i", "'b & c'"),
	  "<r>\n  <i>a</i>\n  <i>b &amp; c</i>\n  <!-- c -->\n</r>\n" },
	{ "a.xml", "<r>\n  <i>a</i>\n  <j/>\n</r>\n", DELETE(".r.j"), "<r>\n  <i>a</i>\n</r>\n" },
	{ "a.xml", "<r><j/></r>", SET(".r.j", "{'k': ['1', '2']}"),
	  "<r><j><k>1</k><k>2</k></j></r>" },
	{ "a.xml", "<!DOCTYPE r [<!ENTITY a \"b\">]><r>&a;</r>", SET(".r", "'x'"),
	  "!an entity that is not predefined" },
	{ "a.csv", "name,price\r\nx,1\r\n\"y,z\",2\r\n", SET(".[1].price", "3"),
	  "name,price\r\nx,1\r\n\"y,z\",3\r\n" },
	{ "a.csv", "name,price\nx,1", APPEND(".", "{'price': 2, 'name': 'a,b'}"),
	  "name,price\nx,1\n\"a,b\",2" },
	{ "a.tsv", "name\tprice\nx\t1\n", DELETE(".[0]"), "name\tprice\n" },
	{ "a.csv", "name,price\nx,1\n", SET(".[0].cost", "3"), "!no such column" },
	{ "a.ini", "; c\n[s]\nk = v\n\n[t]\n", SET(".s.n", "5"),
	 "; c\n[s]\nk = v\nn = 5\n\n[t]\n" },
	{ "a.ini", "[s]\nk=v\n", SET(".new", "{'a': 'b'}"), "[s]\nk=v\n\n[new]\na=b\n" },
	{ "a.properties", "# c\na.b = x\\\n  y\nc : d\n", SET(".\\'a.b\\'", "'z'"),
	  "# c\na.b = z\nc : d\n" },
	{ "a.properties", "a=\\uD83D\\uDE00 \\uD83D\nb=1\n", SET(".b", "'\\ud83d\\ude00'"),
	  "a=\\uD83D\\uDE00 \\uD83D\nb=\\uD83D\\uDE00\n" },
	{ "a.properties", "a=\\uD83D\\uDE00\n", SET(".a", "'\\ud83d\\ude00'"), "!already" },
	{ "a.properties", "a=1\n", SET(".\\'b c\\'", "' x'"), "a=1\nb\\ c=\\ x\n" },
	{ "a.txt", "a", SET(".a", "1"), "!none of the formats" },
};

#endif
