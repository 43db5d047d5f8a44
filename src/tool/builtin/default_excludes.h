/* SPDX-License-Identifier: Apache-2.0 */
/* What folders and globs leave out of read_many_files unless asked for: other people's
 * code, build products, archives, and files that hold secrets. Globs as in walk.h. */
#ifndef HASP_TOOL_BUILTIN_DEFAULT_EXCLUDES_H
#define HASP_TOOL_BUILTIN_DEFAULT_EXCLUDES_H

static const char *const default_excludes[] = {
	"node_modules", ".git", ".svn", ".hg", "bower_components", ".vscode", ".idea", "dist",
	"build", "coverage", "__pycache__",
	"*.pyc", "*.pyo", "*.o", "*.a", "*.so", "*.so.*", "*.dylib", "*.dll", "*.exe", "*.bin",
	"*.class", "*.jar", "*.war", "*.wasm",
	"*.zip", "*.tar", "*.gz", "*.bz2", "*.xz", "*.zst", "*.rar", "*.7z", "*.tgz",
	"*.doc", "*.docx", "*.xls", "*.xlsx", "*.ppt", "*.pptx", "*.odt", "*.ods", "*.odp",
	".DS_Store", ".env", ".env.*",
};

#endif
