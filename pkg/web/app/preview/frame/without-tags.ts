/**
 * Returns a piece of HTML without its tags and comments, as text. It takes one pass: a text may begin a tag or a comment a
 * hundred thousand times and end none.
 */
export const withoutTags = (html: string): string => html.replaceAll(/<!--[^]*?(?:-->|$)|<[^<>]*>/g, '');
