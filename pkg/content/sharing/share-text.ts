import type { PageLanguage } from '../../api/page-language.ts';

const en = {
  dead: 'This link does not work',
  whyDead:
    'It may have ended, it may have been used up, or the address may be incomplete. Ask whoever sent it to you for a new one.',
  request: 'Request',
  password: 'Password',
  locked: 'This link has a password',
  download: 'Download',
  downloadAll: 'Download all as ZIP',
  needsScript: 'This page needs JavaScript. Allow it for this address, then load the page again.',
  listNeedsScript: 'Without JavaScript this page cannot list the files. You can download all of them at once.',
  enterPassword: 'Enter the password.',
  wrongPassword: 'This password is wrong.',
  tooManyAttempts: (minutes: number): string =>
    `Too many wrong passwords. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
  ends: (when: string): string => `The link ends on ${when}.`,
  left: (downloads: number): string =>
    downloads === 1 ? 'It can be used once more.' : `It can be used ${downloads} more times.`,
};

const de: typeof en = {
  dead: 'Dieser Link funktioniert nicht',
  whyDead:
    'Er ist abgelaufen oder aufgebraucht, oder die Adresse ist unvollständig. Bitten Sie die Person, von der Sie ihn ' +
    'haben, um einen neuen.',
  request: 'Anfrage',
  password: 'Passwort',
  locked: 'Dieser Link hat ein Passwort',
  download: 'Herunterladen',
  downloadAll: 'Alles als ZIP herunterladen',
  needsScript: 'Diese Seite braucht JavaScript. Erlauben Sie es für diese Adresse, und laden Sie die Seite neu.',
  listNeedsScript: 'Ohne JavaScript kann diese Seite die Dateien nicht auflisten. Sie können alle zusammen herunterladen.',
  enterPassword: 'Geben Sie das Passwort ein.',
  wrongPassword: 'Dieses Passwort ist falsch.',
  tooManyAttempts: (minutes) =>
    `Zu viele falsche Passwörter. Versuchen Sie es in ${minutes === 1 ? 'einer Minute' : `${minutes} Minuten`} erneut.`,
  ends: (when) => `Der Link gilt bis ${when}.`,
  left: (downloads) =>
    downloads === 1 ? 'Er kann noch einmal verwendet werden.' : `Er kann noch ${downloads} Mal verwendet werden.`,
};

/** Texts of the page of a share link before its script runs, or without it. */
export const SHARE_TEXT: Readonly<Record<PageLanguage, typeof en>> = { en, de };

const UNITS = { en: ['bytes', 'KB', 'MB', 'GB', 'TB'], de: ['Byte', 'KB', 'MB', 'GB', 'TB'] } as const;
const ONE_BYTE = { en: '1 byte', de: '1 Byte' } as const;
/** British English writes the day before the month, as German does. */
const LOCALES = { en: 'en-GB', de: 'de-DE' } as const;

/** Formats a size for people, in powers of 1000: `1 byte`, `12 KB`, `3.4 MB`. */
export function sizeOf(bytes: number, language: PageLanguage): string {
  if (bytes === 1) return ONE_BYTE[language];
  const power = bytes < 1000 ? 0 : Math.min(UNITS.en.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  const digits = power === 0 || value >= 10 ? 0 : 1;
  const format = new Intl.NumberFormat(LOCALES[language], {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });
  return `${format.format(value)} ${UNITS[language][power]}`;
}

/** Formats a time in UTC, without the name of the zone. */
export const whenOf = (time: string, language: PageLanguage): string =>
  new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(time));
