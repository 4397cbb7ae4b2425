/**
 * The condition that a folded name has this part, without regard to case and accents. Folds before it escapes: folding turns the full-width forms of
 * wildcards (％, ＿) into wildcards.
 */
export const nameContains = (folded: string, parameter: string): string =>
  String.raw`${folded} LIKE '%' || regexp_replace(carrel.fold(${parameter}), '[\\%_]', '\\\&', 'g') || '%'`;
