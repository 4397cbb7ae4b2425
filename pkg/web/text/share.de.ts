import type { Texts } from './language.ts';
import type { en } from './share.en.ts';

/** German texts of the page of a share link. */
export const de: Texts<typeof en> = {
  dead: 'Dieser Link funktioniert nicht',
  whyDead:
    'Er ist abgelaufen oder aufgebraucht, oder die Adresse ist unvollständig. Bitten Sie die Person, von der Sie ihn haben, ' +
    'um einen neuen.',
  failed: 'Diese Seite konnte nicht geladen werden',
  retry: 'Erneut versuchen',
  requestId: 'Anfrage {id}',

  locked: 'Dieser Link hat ein Passwort',
  lockedText: 'Geben Sie das Passwort ein, das Sie zu dem Link bekommen haben.',
  password: 'Passwort',
  showPassword: 'Passwort zeigen',
  hidePassword: 'Passwort verbergen',
  open: 'Öffnen',
  passwordMissing: 'Geben Sie das Passwort ein.',
  wrongPassword: 'Dieses Passwort ist falsch.',
  'tooManyAttempts.one': 'Zu viele falsche Passwörter. Versuchen Sie es in einer Minute erneut.',
  'tooManyAttempts.other': 'Zu viele falsche Passwörter. Versuchen Sie es in {count} Minuten erneut.',

  download: 'Herunterladen',
  downloadAll: 'Alles als ZIP herunterladen',
  started: 'Der Download von {name} hat begonnen.',
  preview: 'Vorschau von {name}',
  ends: 'Der Link gilt bis {when}.',
  'left.one': 'Er kann noch einmal verwendet werden.',
  'left.other': 'Er kann noch {count} Mal verwendet werden.',
  usedUp: 'Der Link ist aufgebraucht. Ein begonnener Download läuft weiter.',

  path: 'Pfad',
  morePath: 'Weitere Ordner des Pfads',
  search: 'In diesem Ordner suchen',
  clearSearch: 'Suche leeren',
  loading: 'Dateien werden geladen',
  loadMore: 'Mehr anzeigen',
  name: 'Name',
  size: 'Größe',
  changed: 'Geändert',
  emptyTitle: 'Dieser Ordner ist leer',
  emptyText: 'Dateien, die dazukommen, erscheinen hier.',
  nothingFound: 'Nichts gefunden',
  nothingFoundText: 'Kein Name in diesem Ordner enthält diese Buchstaben.',
};
