import type { Migration } from '../migration.ts';

/**
 * The order of names in lists: ICU's root collation with digits by their value, and of names that are equal in it the order of
 * code points (docs/design/lists.md, Names). A text compares equal to itself alone, so it orders and never merges.
 */
export const orderOfNames: Migration<object> = {
  name: '0025-order-of-names',
  up: () => `
      CREATE COLLATION carrel.names (provider = icu, locale = 'und-u-kn-true', deterministic = true);
      COMMENT ON COLLATION carrel.names IS 'The order of names that people expect: file2 before file10, case and accents as later differences';
    `,
  down: () => 'DROP COLLATION carrel.names',
};
