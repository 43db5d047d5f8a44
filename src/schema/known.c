/* SPDX-License-Identifier: Apache-2.0 */
/* The table of files whose schemas are known. */
#include "schema/json_schema.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define SCHEMA(...) #__VA_ARGS__

/* Parts that several schemas have. */
#define STRING {"type": "string"}
#define BOOLEAN {"type": "boolean"}
#define STRINGS {"type": "array", "items": {"type": "string"}}
#define OBJECT {"type": "object"}
#define TEXTS_BY_NAME {"type": "object", "additionalProperties": {"type": "string"}}
#define STRING_OR_STRINGS {"type": ["string", "array"], "items": {"type": "string"}}
#define STRING_OR_OBJECT {"type": ["string", "object"]}
#define OBJECT_OR_LIST {"type": ["object", "array"]}
#define SWITCH {"type": ["boolean", "null"]}
#define TEXT_OR_NULL {"type": ["string", "null"]}

/* Macros in what is made a text are replaced first. */
#define JSON_TEXT(...) SCHEMA(__VA_ARGS__)

/* clang-format off */

/* npm's documentation of package.json. */
static const char package_schema[] = JSON_TEXT({"type": "object", "properties": {
	"name": {"type": "string", "minLength": 1, "maxLength": 214}, "version": STRING,
	"description": STRING, "keywords": STRINGS, "main": STRING, "module": STRING,
	"type": {"enum": ["module", "commonjs"]}, "bin": STRING_OR_OBJECT,
	"man": STRING_OR_STRINGS, "scripts": TEXTS_BY_NAME, "dependencies": TEXTS_BY_NAME,
	"devDependencies": TEXTS_BY_NAME, "optionalDependencies": TEXTS_BY_NAME,
	"peerDependencies": TEXTS_BY_NAME,
	"peerDependenciesMeta": {"type": "object", "additionalProperties": OBJECT},
	"bundleDependencies": {"type": ["boolean", "array"]}, "files": STRINGS, "os": STRINGS,
	"cpu": STRINGS, "workspaces": OBJECT_OR_LIST, "overrides": OBJECT,
	"packageManager": STRING, "publishConfig": OBJECT}});

/* TypeScript's documentation of tsconfig.json. */
static const char tsconfig_schema[] = JSON_TEXT({"type": "object", "properties": {
	"extends": STRING_OR_STRINGS, "files": STRINGS, "include": STRINGS, "exclude": STRINGS,
	"references": {"type": "array", "items": {"type": "object", "required": ["path"],
		"properties": {"path": STRING}}},
	"compilerOptions": {"type": "object", "properties": {
		"allowJs": SWITCH, "allowSyntheticDefaultImports": SWITCH, "checkJs": SWITCH,
		"composite": SWITCH, "declaration": SWITCH, "declarationMap": SWITCH,
		"emitDecoratorMetadata": SWITCH, "esModuleInterop": SWITCH,
		"experimentalDecorators": SWITCH, "forceConsistentCasingInFileNames": SWITCH,
		"importHelpers": SWITCH, "incremental": SWITCH, "inlineSourceMap": SWITCH,
		"isolatedModules": SWITCH, "noEmit": SWITCH, "noEmitOnError": SWITCH,
		"noFallthroughCasesInSwitch": SWITCH, "noImplicitAny": SWITCH,
		"noImplicitOverride": SWITCH, "noImplicitReturns": SWITCH, "noImplicitThis": SWITCH,
		"noUncheckedIndexedAccess": SWITCH, "noUnusedLocals": SWITCH,
		"noUnusedParameters": SWITCH, "removeComments": SWITCH, "resolveJsonModule": SWITCH,
		"skipLibCheck": SWITCH, "sourceMap": SWITCH, "strict": SWITCH,
		"strictBindCallApply": SWITCH, "strictFunctionTypes": SWITCH,
		"strictNullChecks": SWITCH, "strictPropertyInitialization": SWITCH,
		"useDefineForClassFields": SWITCH, "verbatimModuleSyntax": SWITCH,
		"baseUrl": TEXT_OR_NULL, "declarationDir": TEXT_OR_NULL, "outDir": TEXT_OR_NULL,
		"outFile": TEXT_OR_NULL, "rootDir": TEXT_OR_NULL, "tsBuildInfoFile": TEXT_OR_NULL,
		"module": TEXT_OR_NULL, "moduleResolution": TEXT_OR_NULL, "target": TEXT_OR_NULL,
		"jsx": {"enum": ["preserve", "react", "react-jsx", "react-jsxdev", "react-native",
		null]},
		"lib": {"type": ["array", "null"], "items": STRING},
		"types": {"type": ["array", "null"], "items": STRING},
		"typeRoots": {"type": ["array", "null"], "items": STRING},
		"rootDirs": {"type": ["array", "null"], "items": STRING},
		"paths": {"type": ["object", "null"], "additionalProperties": STRINGS}}}}});

static const char eslint_schema[] = JSON_TEXT({"type": "object", "properties": {
	"root": BOOLEAN, "env": {"type": "object", "additionalProperties": BOOLEAN},
	"extends": STRING_OR_STRINGS, "plugins": STRINGS, "parser": TEXT_OR_NULL,
	"parserOptions": OBJECT, "settings": OBJECT, "globals": OBJECT, "processor": STRING,
	"ignorePatterns": STRING_OR_STRINGS, "noInlineConfig": BOOLEAN,
	"rules": {"$ref": "#/definitions/rules"},
	"overrides": {"type": "array", "items": {"type": "object", "required": ["files"],
		"properties": {"files": STRING_OR_STRINGS,
		"rules": {"$ref": "#/definitions/rules"}}}}},
	"definitions": {
		"level": {"enum": [0, 1, 2, "off", "warn", "error"]},
		"rules": {"type": "object", "additionalProperties": {"anyOf": [
			{"$ref": "#/definitions/level"},
			{"type": "array", "minItems": 1,
			"items": [{"$ref": "#/definitions/level"}]}]}}}});

/* The Compose specification. */
static const char compose_schema[] = JSON_TEXT({"type": "object", "properties": {
	"name": STRING, "include": {"type": "array"}, "networks": OBJECT, "volumes": OBJECT,
	"secrets": OBJECT, "configs": OBJECT,
	"services": {"type": "object", "additionalProperties": {"type": "object", "properties": {
		"image": STRING, "build": STRING_OR_OBJECT, "container_name": STRING,
		"command": {"type": ["string", "array", "null"]},
		"entrypoint": {"type": ["string", "array", "null"]},
		"environment": OBJECT_OR_LIST, "labels": OBJECT_OR_LIST,
		"depends_on": OBJECT_OR_LIST,
		"networks": OBJECT_OR_LIST, "env_file": {"type": ["string", "array"]},
		"ports": {"type": "array", "items": {"type": ["string", "number", "object"]}},
		"expose": {"type": "array", "items": {"type": ["string", "number"]}},
		"volumes": {"type": "array", "items": STRING_OR_OBJECT}, "user": STRING,
		"working_dir": STRING, "healthcheck": OBJECT, "deploy": {"type": ["object",
		"null"]},
		"profiles": STRINGS, "cap_add": STRINGS, "cap_drop": STRINGS,
		"restart": STRING, "hostname": STRING, "logging": OBJECT}}}}});

/* GitHub's workflow syntax. */
static const char workflow_schema[] = JSON_TEXT({"type": "object", "required": ["jobs"],
	"properties": {
	"name": STRING, "run-name": STRING, "on": {"type": ["string", "array", "object"]},
	"env": STRING_OR_OBJECT, "defaults": OBJECT, "permissions": STRING_OR_OBJECT,
	"concurrency": STRING_OR_OBJECT,
	"jobs": {"type": "object", "minProperties": 1, "additionalProperties": {
		"type": "object",
		"anyOf": [{"required": ["runs-on"]}, {"required": ["uses"]}], "properties": {
		"runs-on": {"type": ["string", "array", "object"]}, "uses": STRING,
		"needs": STRING_OR_STRINGS, "if": {"type": ["string", "boolean", "number"]},
		"env": STRING_OR_OBJECT, "with": OBJECT, "outputs": TEXTS_BY_NAME,
		"strategy": OBJECT, "container": STRING_OR_OBJECT, "services": OBJECT,
		"permissions": STRING_OR_OBJECT, "timeout-minutes": {"type": ["number", "string"]},
		"continue-on-error": {"type": ["boolean", "string"]},
		"steps": {"type": "array", "minItems": 1, "items": {"type": "object",
			"anyOf": [{"required": ["uses"]}, {"required": ["run"]}], "properties": {
			"id": STRING, "name": STRING, "uses": STRING, "run": STRING,
			"shell": STRING,
			"working-directory": STRING, "with": OBJECT, "env": STRING_OR_OBJECT,
			"if": {"type": ["string", "boolean", "number"]}}}}}}}}});

static const char action_schema[] = JSON_TEXT({"type": "object",
	"required": ["name", "description", "runs"], "properties": {
	"name": STRING, "description": STRING, "author": STRING, "branding": OBJECT,
	"inputs": {"type": "object", "additionalProperties": OBJECT},
	"outputs": {"type": "object", "additionalProperties": OBJECT},
	"runs": {"type": "object", "required": ["using"], "properties": {
		"using": STRING, "main": STRING, "image": STRING, "steps": {"type": "array"}}}}});

static const char dependabot_schema[] = JSON_TEXT({"type": "object",
	"required": ["version", "updates"], "properties": {
	"version": {"const": 2}, "registries": OBJECT,
	"updates": {"type": "array", "items": {"type": "object",
		"required": ["package-ecosystem", "schedule"],
		"anyOf": [{"required": ["directory"]}, {"required": ["directories"]},
		          {"required": ["multi-ecosystem-group"]}],
		"properties": {"package-ecosystem": STRING, "directory": STRING,
		"directories": STRINGS, "open-pull-requests-limit": {"type": "integer",
		"minimum": 0},
		"labels": STRINGS, "groups": OBJECT,
		"schedule": {"type": "object", "required": ["interval"],
			"properties": {"interval": STRING}}}}}}});

/* The Python packaging specifications: pyproject.toml. */
static const char pyproject_schema[] = JSON_TEXT({"type": "object", "properties": {
	"build-system": {"type": "object", "required": ["requires"], "properties": {
		"requires": STRINGS, "build-backend": STRING, "backend-path": STRINGS}},
	"project": {"type": "object", "required": ["name"], "properties": {
		"name": {"type": "string",
		         "pattern": "^([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9])$"},
		"version": STRING, "description": STRING, "requires-python": STRING,
		"readme": STRING_OR_OBJECT, "license": STRING_OR_OBJECT,
		"license-files": OBJECT_OR_LIST,
		"authors": {"type": "array", "items": OBJECT},
		"maintainers": {"type": "array", "items": OBJECT}, "keywords": STRINGS,
		"classifiers": STRINGS, "dependencies": STRINGS, "dynamic": STRINGS,
		"optional-dependencies": {"type": "object", "additionalProperties": STRINGS},
		"scripts": TEXTS_BY_NAME, "gui-scripts": TEXTS_BY_NAME, "urls": TEXTS_BY_NAME,
		"entry-points": {"type": "object", "additionalProperties": TEXTS_BY_NAME}}},
	"dependency-groups": {"type": "object", "additionalProperties": {"type": "array"}},
	"tool": OBJECT}});

/* The Cargo book: the manifest. */
static const char cargo_schema[] = JSON_TEXT({"type": "object",
	"anyOf": [{"required": ["package"]}, {"required": ["workspace"]},
	{"required": ["project"]}],
	"properties": {
	"package": {"type": "object", "required": ["name"], "properties": {
		"name": STRING, "version": STRING_OR_OBJECT, "edition": STRING_OR_OBJECT,
		"rust-version": STRING_OR_OBJECT, "description": STRING_OR_OBJECT,
		"license": STRING_OR_OBJECT, "authors": OBJECT_OR_LIST, "keywords": OBJECT_OR_LIST,
		"categories": OBJECT_OR_LIST, "default-run": STRING, "autobins": BOOLEAN}},
	"workspace": {"type": "object", "properties": {
		"members": STRINGS, "exclude": STRINGS, "default-members": STRINGS,
		"resolver": STRING, "dependencies": {"$ref": "#/definitions/dependencies"}}},
	"dependencies": {"$ref": "#/definitions/dependencies"},
	"dev-dependencies": {"$ref": "#/definitions/dependencies"},
	"build-dependencies": {"$ref": "#/definitions/dependencies"},
	"target": OBJECT, "profile": OBJECT, "patch": OBJECT, "lib": OBJECT,
	"bin": {"type": "array", "items": OBJECT}, "example": {"type": "array", "items": OBJECT},
	"test": {"type": "array", "items": OBJECT}, "bench": {"type": "array", "items": OBJECT},
	"features": {"type": "object", "additionalProperties": STRINGS}},
	"definitions": {"dependencies": {"type": "object", "additionalProperties": {
		"type": ["string", "object"], "properties": {
		"version": STRING, "path": STRING, "git": STRING, "branch": STRING, "tag": STRING,
		"rev": STRING, "package": STRING, "optional": BOOLEAN, "workspace": BOOLEAN,
		"default-features": BOOLEAN, "features": STRINGS}}}}});

static const char renovate_schema[] = JSON_TEXT({"type": "object", "properties": {
	"extends": STRINGS, "enabled": BOOLEAN, "automerge": BOOLEAN, "labels": STRINGS,
	"ignoreDeps": STRINGS, "ignorePaths": STRINGS, "schedule": STRING_OR_STRINGS,
	"timezone": STRING, "prConcurrentLimit": {"type": ["integer", "null"]},
	"prHourlyLimit": {"type": ["integer", "null"]},
	"packageRules": {"type": "array", "items": {"type": "object", "properties": {
		"enabled": BOOLEAN, "automerge": BOOLEAN, "groupName": TEXT_OR_NULL}}}}});

static const char prettier_schema[] = JSON_TEXT({"type": ["object", "string"], "properties": {
	"printWidth": {"type": "integer", "minimum": 0}, "tabWidth": {"type": "integer",
	"minimum": 0},
	"useTabs": BOOLEAN, "semi": BOOLEAN, "singleQuote": BOOLEAN, "jsxSingleQuote": BOOLEAN,
	"bracketSpacing": BOOLEAN, "bracketSameLine": BOOLEAN, "plugins": {"type": "array"},
	"trailingComma": {"enum": ["none", "es5", "all"]},
	"arrowParens": {"enum": ["always", "avoid"]},
	"endOfLine": {"enum": ["lf", "crlf", "cr", "auto"]},
	"proseWrap": {"enum": ["always", "never", "preserve"]},
	"quoteProps": {"enum": ["as-needed", "consistent", "preserve"]},
	"overrides": {"type": "array", "items": {"type": "object", "required": ["files"],
		"properties": {"files": STRING_OR_STRINGS, "options": OBJECT}}}}});

static const char babel_schema[] = JSON_TEXT({"type": "object", "properties": {
	"presets": {"type": "array", "items": {"type": ["string", "array"]}},
	"plugins": {"type": "array", "items": {"type": ["string", "array"]}},
	"env": OBJECT, "overrides": {"type": "array", "items": OBJECT},
	"comments": BOOLEAN, "compact": {"anyOf": [BOOLEAN, {"const": "auto"}]},
	"sourceType": {"enum": ["module", "commonjs", "script", "unambiguous"]}}});

static const char composer_schema[] = JSON_TEXT({"type": "object", "properties": {
	"name": {"type": "string", "pattern": "^[^/]+/[^/]+$"}, "description": STRING,
	"type": STRING, "keywords": STRINGS, "license": STRING_OR_STRINGS,
	"require": TEXTS_BY_NAME, "require-dev": TEXTS_BY_NAME, "conflict": TEXTS_BY_NAME,
	"replace": TEXTS_BY_NAME, "suggest": TEXTS_BY_NAME, "autoload": OBJECT,
	"autoload-dev": OBJECT, "repositories": OBJECT_OR_LIST, "config": OBJECT,
	"scripts": OBJECT, "prefer-stable": BOOLEAN,
	"minimum-stability": {"enum": ["dev", "alpha", "beta", "RC", "rc", "stable"]}}});

static const char gitlab_schema[] = JSON_TEXT({"type": "object", "properties": {
	"stages": {"type": "array", "items": {"type": ["string", "array"]}},
	"variables": OBJECT, "default": OBJECT, "workflow": OBJECT, "image": STRING_OR_OBJECT,
	"include": {"type": ["string", "array", "object"]},
	"before_script": {"type": ["string", "array"]},
	"after_script": {"type": ["string", "array"]}}});

static const char tasks_schema[] = JSON_TEXT({"type": "object", "properties": {
	"version": STRING, "inputs": {"type": "array", "items": OBJECT},
	"tasks": {"type": "array", "items": {"type": "object", "properties": {
		"label": STRING, "type": STRING, "args": {"type": "array"}, "options": OBJECT,
		"dependsOn": {"type": ["string", "array", "object"]},
		"dependsOrder": {"enum": ["parallel", "sequence"]}, "isBackground": BOOLEAN}}}}});

static const char launch_schema[] = JSON_TEXT({"type": "object", "properties": {
	"version": STRING, "inputs": {"type": "array", "items": OBJECT},
	"compounds": {"type": "array", "items": OBJECT},
	"configurations": {"type": "array", "items": {"type": "object",
		"required": ["type", "request", "name"], "properties": {
		"type": STRING, "name": STRING, "request": {"enum": ["launch", "attach"]}}}}}});

static const char devcontainer_schema[] = JSON_TEXT({"type": "object", "properties": {
	"name": STRING, "image": STRING, "build": OBJECT, "dockerComposeFile": STRING_OR_STRINGS,
	"service": STRING, "workspaceFolder": STRING, "features": OBJECT, "customizations": OBJECT,
	"remoteUser": STRING, "containerUser": STRING, "containerEnv": TEXTS_BY_NAME,
	"runArgs": STRINGS, "forwardPorts": {"type": "array", "items": {"type": ["integer",
	"string"]}},
	"mounts": {"type": "array", "items": STRING_OR_OBJECT},
	"postCreateCommand": {"type": ["string", "array", "object"]},
	"postStartCommand": {"type": ["string", "array", "object"]},
	"onCreateCommand": {"type": ["string", "array", "object"]}}});

static const char chart_schema[] = JSON_TEXT({"type": "object",
	"required": ["apiVersion", "name", "version"], "properties": {
	"apiVersion": {"enum": ["v1", "v2"]}, "name": STRING, "version": STRING,
	"kubeVersion": STRING, "description": STRING, "keywords": STRINGS, "sources": STRINGS,
	"type": {"enum": ["application", "library"]},
	"dependencies": {"type": "array", "items": {"type": "object", "required": ["name"],
		"properties": {"name": STRING, "version": STRING, "repository": STRING}}},
	"maintainers": {"type": "array", "items": OBJECT}}});

static const char pre_commit_schema[] = JSON_TEXT({"type": "object", "required": ["repos"],
	"properties": {
	"default_language_version": OBJECT, "default_stages": STRINGS, "fail_fast": BOOLEAN,
	"files": STRING, "exclude": STRING, "ci": OBJECT,
	"repos": {"type": "array", "items": {"type": "object", "required": ["repo", "hooks"],
		"properties": {"repo": STRING, "rev": STRING,
		"hooks": {"type": "array", "items": {"type": "object", "required": ["id"],
			"properties": {"id": STRING, "args": STRINGS, "types": STRINGS,
			"files": STRING,
			"exclude": STRING, "stages": STRINGS}}}}}}}});

static const char deno_schema[] = JSON_TEXT({"type": "object", "properties": {
	"name": STRING, "version": STRING, "tasks": OBJECT, "imports": TEXTS_BY_NAME,
	"scopes": OBJECT, "compilerOptions": OBJECT, "importMap": STRING, "exclude": STRINGS,
	"lint": OBJECT, "fmt": OBJECT, "test": OBJECT, "unstable": STRINGS,
	"lock": {"type": ["boolean", "string", "object"]}}});

static const struct schema_known rows[] = {
	{ "package.json", "package.json", "/package|/package.json", NULL, package_schema },
	{ "tsconfig.json", "tsconfig.json|tsconfig.*.json|jsconfig.json",
	  "/tsconfig|/tsconfig.json|/jsconfig|/jsconfig.json", NULL, tsconfig_schema },
	{ "ESLint's configuration", ".eslintrc|.eslintrc.json|.eslintrc.yaml|.eslintrc.yml",
	  "/eslintrc|/eslintrc.json", NULL, eslint_schema },
	{ "Compose", "compose.yaml|compose.yml|docker-compose.yaml|docker-compose.yml|"
	             "compose.*.yaml|compose.*.yml|docker-compose.*.yaml|docker-compose.*.yml",
	  "*/compose-spec.json|/docker-compose.json", NULL, compose_schema },
	{ "GitHub's workflows", ".github/workflows/*.yml|.github/workflows/*.yaml",
	  "/github-workflow|/github-workflow.json", NULL, workflow_schema },
	{ "GitHub's actions", "action.yml|action.yaml", "/github-action|/github-action.json", NULL,
	  action_schema },
	{ "Dependabot", ".github/dependabot.yml|.github/dependabot.yaml",
	  "/dependabot-2.0|/dependabot-2.0.json", NULL, dependabot_schema },
	{ "pyproject.toml", "pyproject.toml", "/pyproject|/pyproject.json", NULL,
	pyproject_schema },
	{ "Cargo.toml", "Cargo.toml", "/cargo|/cargo.json", NULL, cargo_schema },
	{ "Renovate", "renovate.json|renovate.json5|.renovaterc|.renovaterc.json",
	  "docs.renovatebot.com/renovate-schema.json|/renovate|/renovate.json", NULL,
	renovate_schema },
	{ "Prettier's configuration",
	".prettierrc|.prettierrc.json|.prettierrc.yaml|.prettierrc.yml",
	  "/prettierrc|/prettierrc.json", NULL, prettier_schema },
	{ "Babel's configuration", ".babelrc|.babelrc.json|babel.config.json",
	  "/babelrc|/babelrc.json", NULL, babel_schema },
	{ "composer.json", "composer.json", "/composer|/composer.json|getcomposer.org/schema.json",
	NULL,
	  composer_schema },
	{ ".gitlab-ci.yml", ".gitlab-ci.yml", "/gitlab-ci|/gitlab-ci.json", NULL,
	  gitlab_schema },
	{ "VS Code's tasks", ".vscode/tasks.json", "vscode://schemas/tasks", NULL, tasks_schema },
	{ "VS Code's launch.json", ".vscode/launch.json", "vscode://schemas/launch", NULL,
	  launch_schema },
	{ "devcontainer.json", "devcontainer.json|.devcontainer.json",
	  "*/devcontainers/spec/*/devContainer*.schema.json", NULL, devcontainer_schema },
	{ "Helm's Chart.yaml", "Chart.yaml", "/chart|/chart.json", NULL, chart_schema },
	{ "pre-commit", ".pre-commit-config.yaml", "/pre-commit-config|/pre-commit-config.json",
	NULL,
	  pre_commit_schema },
	{ "deno.json", "deno.json|deno.jsonc",
	"deno.land/*/config-file.v1.json|*/deno/schemas/config-file.v1.json", NULL, deno_schema },
	/* Programs that come with their own. */
	{ "Biome", "biome.json|biome.jsonc", "biomejs.dev/schemas/*",
	  "@biomejs/biome/configuration_schema.json", NULL },
	{ "Angular", "angular.json", NULL, "@angular/cli/lib/config/schema.json", NULL },
	{ "Nx", "nx.json", NULL, "nx/schemas/nx-schema.json", NULL },
	{ "Lerna", "lerna.json", NULL, "lerna/schemas/lerna-schema.json", NULL },
	{ "Turborepo", "turbo.json|turbo.jsonc",
	  "turbo.build/schema*|turborepo.com/schema*|turborepo.dev/schema*",
	  "turbo/schema.json", NULL },
	{ "Knip", "knip.json|knip.jsonc",
	"unpkg.com/knip*/schema.json|unpkg.com/knip*/schema-jsonc.json",
	  "knip/schema.json", NULL },
	{ "Oxlint", ".oxlintrc.json", NULL, "oxlint/configuration_schema.json", NULL },
	{ "Wrangler", "wrangler.json|wrangler.jsonc", NULL, "wrangler/config-schema.json", NULL },
};

/* clang-format on */

enum { PATTERN_BYTES = 256 };

/* The next of the patterns between '|', with `before` put before it if it begins with a slash;
 * false: there is none. */
static bool next_pattern(const char **patterns, const char *before, char *out)
{
	const char *at = *patterns;
	const size_t len = at ? strcspn(at, "|") : 0;

	if (!len)
		return false;
	snprintf(out, PATTERN_BYTES, "%s%.*s", at[0] == '/' ? before : "", (int)len, at);
	*patterns = at + len + (at[len] == '|');
	return true;
}

/* Whole parts of the path. */
static bool path_ends_with(const char *path, const char *patterns)
{
	char pattern[PATTERN_BYTES];

	while (next_pattern(&patterns, "", pattern))
		for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
			if (fnmatch(pattern, at, FNM_PATHNAME) == 0)
				return true;
	return false;
}

static bool address_is(const char *address, const char *patterns)
{
	const char *host = strstr(address, "://");
	char pattern[PATTERN_BYTES];

	while (next_pattern(&patterns, "schemastore.org", pattern))
		if (fnmatch(pattern, address, 0) == 0 || (host && fnmatch(pattern, host + 3,
		0) == 0) ||
		    (host && strchr(host, '.') && fnmatch(pattern, strchr(host, '.') + 1, 0) == 0))
			return true;
	return false;
}

const struct schema_known *schema_known_file(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (path_ends_with(path, rows[i].names))
			return &rows[i];
	return NULL;
}

const struct schema_known *schema_known_address(const char *address)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].addresses && address_is(address, rows[i].addresses))
			return &rows[i];
	return NULL;
}

struct span schema_named_in_comment(struct span text)
{
	static const char *const marks[] = { "# yaml-language-server: $schema=", "#:schema " };
	struct span line;

	while (line_next(&text, &line)) {
		const struct span body = span_trim(line_body(line));

		if (body.len && body.data[0] != '#')
			break;
		for (size_t i = 0; i < ARRAY_LEN(marks); i++)
			if (span_starts(body, span_str(marks[i])))
				return span_trim(span_skip(body, strlen(marks[i])));
	}
	return span_of("", 0);
}
