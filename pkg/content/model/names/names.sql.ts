/**
 * Returns the result of carrel.fold for a column without an index of folded names. It is written out, because a call of the
 * function takes five times as long.
 */
export const foldedName = (column: string): string => `lower(ext.unaccent('ext.unaccent'::regdictionary, ${column}))`;

/**
 * Returns the condition that a folded name has this part, without regard to case and accents; a part of accents alone, of which
 * folding leaves nothing, is in no name.
 */
export const nameContains = (folded: string, parameter: string): string => `${folded} LIKE ${namePattern(parameter)}`;

/**
 * Returns the pattern of folded names that have this part; null for a part of accents alone. Folds before it escapes: folding
 * turns the full-width forms of wildcards (％, ＿) into wildcards.
 */
export const namePattern = (parameter: string): string =>
  String.raw`('%' || regexp_replace(nullif(carrel.fold(${parameter}), ''), '[\\%_]', '\\\&', 'g') || '%')`;
