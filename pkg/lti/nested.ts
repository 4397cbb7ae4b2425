/** Deeper than anything that an LMS has to say. What writes JSON again overflows the stack at some thousand levels. */
const LEVELS_MAX = 100;

/** Whether a value of JSON has lists or objects within each other more than `levels` deep. */
export const isNestedTooDeep = (value: unknown, levels = LEVELS_MAX): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isNestedTooDeep(part, levels - 1)));
