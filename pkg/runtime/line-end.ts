/**
 * A value without the line end that editors, `echo` and here-documents put behind it. One only, and nothing else: what else stands there, a person meant.
 */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');
