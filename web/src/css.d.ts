// SPDX-License-Identifier: Apache-2.0
// Style sheets that esbuild puts into the script as texts (diff/diff.css: of a shadow root).
declare module "*.css" {
	const text: string;
	export default text;
}
