import type { Texts } from './language.ts';
import type { en } from './unsent.en.ts';

/** The German texts of the question before something is lost that somebody has entered. */
export const de: Texts<typeof en> = {
  title: 'Eingaben verwerfen?',
  text: 'Sie sind noch nicht gespeichert.',
  keep: 'Weiter bearbeiten',
  discard: 'Verwerfen',
};
