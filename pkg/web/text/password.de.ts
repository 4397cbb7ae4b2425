import type { Texts } from './language.ts';
import type { en } from './password.en.ts';

/** The German texts of changing one's own password. */
export const de: Texts<typeof en> = {
  title: 'Passwort ändern',
  text: 'Hier bleiben Sie angemeldet. Ihre anderen Geräte werden abgemeldet.',
  current: 'Bisheriges Passwort',
  missing: 'Geben Sie Ihr bisheriges Passwort ein.',
  wrong: 'Das ist nicht Ihr Passwort.',
  cancel: 'Abbrechen',
  do: 'Passwort ändern',
  changed: 'Ihr Passwort ist geändert.',
};
