/**
 * Returns the number of a text that somebody typed, with the decimal sign of the language or the other one; undefined if it is
 * none, or may have separators of thousands: "1,000" is a thousand in English and one in German.
 */
export function typedNumber(text: string, locale: string): number | undefined {
  const typed = text.trim();
  const isPoint = new Intl.NumberFormat(locale).format(1.5).includes('.');
  const isGrouped = isPoint ? /^\d{1,3}(,\d{3})+(\.|$)/ : /^\d{1,3}(\.\d{3})+(,|$)/;
  if (!/^\d*[.,]?\d+$|^\d+[.,]$/.test(typed) || isGrouped.test(typed)) return undefined;
  return Number(typed.replace(',', '.'));
}

/** Returns a number with three decimal places at most, as `typedNumber` reads it. */
export const numberToType = (number: number, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 3, useGrouping: false }).format(number);
