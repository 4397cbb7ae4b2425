const TEXT_MAX = 200;
/** The part of a longer answer that is examined, in characters. */
const LOOKED_AT = 2_000;

/** Returns foreign text as a person may read it: one short line without markup, control characters or our secrets. */
export function shownText(text: string, secrets: readonly string[]): string {
  const clean = secrets
    .reduce((all, secret) => all.replaceAll(secret, '…'), text)
    .slice(0, LOOKED_AT)
    .toWellFormed()
    .replaceAll(/<(script|style)\b.*?(<\/\1>|$)/gis, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s\uFFFD]+/gu, ' ')
    .trim();
  const characters = Array.from(clean);
  return characters.length > TEXT_MAX ? `${characters.slice(0, TEXT_MAX).join('')}…` : clean;
}
