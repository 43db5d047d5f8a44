// SPDX-License-Identifier: Apache-2.0
// Which class a token of code gets; app.css has the colours, for light and dark.

import { tagHighlighter, tags as t } from "@lezer/highlight";

export const COLOURS = tagHighlighter([
	{ tag: [t.comment, t.lineComment, t.blockComment, t.docComment], class: "tok-comment" },
	{ tag: [t.keyword, t.controlKeyword, t.operatorKeyword, t.modifier, t.definitionKeyword, t.moduleKeyword,
		t.processingInstruction], class: "tok-keyword" },
	{ tag: [t.string, t.special(t.string), t.regexp, t.character, t.attributeValue, t.url], class: "tok-string" },
	{ tag: [t.number, t.bool, t.null, t.atom, t.unit, t.color], class: "tok-number" },
	{ tag: [t.typeName, t.className, t.namespace, t.tagName, t.standard(t.typeName)], class: "tok-type" },
	{ tag: [t.propertyName, t.attributeName, t.labelName, t.definition(t.propertyName)], class: "tok-property" },
	{ tag: [t.function(t.variableName), t.definition(t.variableName), t.standard(t.variableName), t.macroName],
		class: "tok-name" },
	{ tag: [t.meta, t.annotation, t.documentMeta], class: "tok-meta" },
	{ tag: [t.heading, t.strong], class: "tok-strong" },
	{ tag: t.inserted, class: "tok-inserted" },
	{ tag: t.deleted, class: "tok-deleted" },
	{ tag: t.invalid, class: "tok-invalid" },
]);
