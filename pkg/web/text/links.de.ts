import type { Texts } from './language.ts';
import type { en } from './links.en.ts';

/** The German texts of the page of links. */
export const de: Texts<typeof en> = {
  title: 'Links',
  which: 'Wessen Links',
  mine: 'Meine Links',
  all: 'Alle Links',
  text: 'Wer einen Link hat, öffnet damit eine Datei oder einen Ordner ohne Konto. Hier stehen alle, die Sie erstellt haben.',
  textAll: 'Alle Links, die jemand erstellt hat. Sie können jeden löschen und die Ihrer eigenen Dateien öffnen.',
  rules: 'Regeln für Links',
  loading: 'Links werden geladen …',
  more: 'Mehr zeigen',
  emptyTitle: 'Sie haben noch keinen Link erstellt',
  emptyText: 'Wählen Sie „Freigeben …“ im Menü einer Datei oder eines Ordners.',
  emptyAllTitle: 'Noch hat niemand einen Link erstellt',
  emptyAllText: 'Die Links, die jemand erstellt, erscheinen hier.',
  madeBy: 'von {name}',
  actionsOf: 'Aktionen des Links von {name}',
  copyOf: 'Link kopieren: {name}',
  showFolder: 'In seinem Ordner zeigen',
  changeOf: 'Link von „{name}“',
  close: 'Schließen',
  switchedOff: 'Der Link ist abgeschaltet',
  switchedOn: 'Der Link ist eingeschaltet',
  saved: 'Der Link ist geändert',
};
