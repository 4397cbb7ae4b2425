import type { en } from './files.en.ts';
import type { Texts } from './language.ts';

/** The German texts of the files. */
export const de: Texts<typeof en> = {
  title: 'Dateien',
  mine: 'Meine Dateien',
  path: 'Pfad',
  more: 'Ordner dazwischen',
  name: 'Name',
  size: 'Größe',
  changed: 'Geändert',
  loading: 'Dateien werden geladen …',
  empty: 'Dieser Ordner ist leer.',
};
