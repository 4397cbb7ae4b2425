/**
 * Returns the result of carrel.fold for a column without an index of folded names. It is written out, because a call of the
 * function takes five times as long.
 */
export const foldedName = (column: string): string => `lower(ext.unaccent('ext.unaccent'::regdictionary, ${column}))`;

/**
 * Returns the condition that a folded name has this part, without regard to case and accents; a part of accents alone, of which
 * folding leaves nothing, is in no name. Folds before it escapes: folding turns the full-width forms of wildcards (％, ＿) into
 * wildcards.
 */
export const nameContains = (folded: string, parameter: string): string =>
  String.raw`carrel.fold(${parameter}) <> ''
    AND ${folded} LIKE '%' || regexp_replace(carrel.fold(${parameter}), '[\\%_]', '\\\&', 'g') || '%'`;
