/** Returns the class names that are set, with spaces between them; undefined when there are none. */
export const classes = (...names: readonly (string | false | null | undefined)[]): string | undefined =>
  names.filter(Boolean).join(' ') || undefined;
