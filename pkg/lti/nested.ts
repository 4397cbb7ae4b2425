/** Deeper than any legitimate message of an LMS. Serializing JSON again overflows the stack at some thousand levels. */
const LEVELS_MAX = 100;

/** Returns whether a JSON value nests lists or objects more than `levels` deep. */
export const isNestedTooDeep = (value: unknown, levels = LEVELS_MAX): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isNestedTooDeep(part, levels - 1)));
