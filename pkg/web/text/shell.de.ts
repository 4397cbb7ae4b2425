import type { Texts } from './language.ts';
import type { en } from './shell.en.ts';

/** The German texts of what surrounds each route. */
export const de: Texts<typeof en> = {
  loading: 'Wird geladen …',
  copy: 'Kopieren',
  copied: 'Kopiert',
  close: 'Schließen',
  skip: 'Zum Inhalt springen',
  menu: 'Menü',
  closeMenu: 'Menü schließen',
  navigation: 'Hauptmenü',
  connection: 'Verbindung',
  notifications: 'Meldungen',
  share: 'Freigeben …',

  'nav.files': 'Dateien',
  'nav.recent': 'Zuletzt geändert',
  'nav.shared': 'Für mich freigegeben',
  'nav.links': 'Links',
  'nav.trash': 'Papierkorb',
  'nav.courses': 'Kurse',
  'nav.jobs': 'Aufträge',
  'nav.admin': 'Administration',

  'quota.label': 'Speicherplatz',
  'quota.used': '{used} von {limit} belegt',

  'account.menu': 'Konto: {name}',
  'account.shortcuts': 'Tastenkürzel',
  'account.reference': 'API-Referenz',
  'account.password': 'Passwort ändern …',
  'account.signOut': 'Abmelden',
  'theme.system': 'Wie das System',
  'theme.light': 'Hell',
  'theme.dark': 'Dunkel',
  'theme.contrast': 'Hoher Kontrast',

  'shortcuts.title': 'Tastenkürzel',
  'shortcuts.everywhere': 'Überall',
  'shortcuts.show': 'Diese Liste zeigen',
  'shortcuts.menu': 'Zum Hauptmenü',

  offline: 'Sie sind offline. Was auf dieser Seite steht, bleibt; es geht weiter, sobald die Verbindung wieder da ist.',
  online: 'Sie sind wieder online.',
  slow: 'Das Netz oder der Server ist langsam; die Antwort steht noch aus.',

  'ended.title': 'Erneut anmelden',
  'ended.text':
    'Ihre Sitzung ist beendet. Auf dieser Seite geht nichts verloren: Nach der Anmeldung geht es weiter, wo Sie aufgehört haben.',
  'ended.signIn': 'Anmelden und fortfahren',
  'ended.leave': 'Stattdessen abmelden',

  'failure.title': 'Das hat nicht funktioniert',
  'failure.retry': 'Erneut versuchen',
  'failure.loadAgain': 'Neu laden',
  'failure.reloading':
    'Inzwischen wurde dies anderswo geändert und wird neu geladen. Sehen Sie es sich an und versuchen Sie es erneut.',
  'failure.code': 'Code',

  'notFound.title': 'Diese Seite gibt es nicht',
  'notFound.text': 'Vielleicht ist die Adresse falsch geschrieben, oder was hier war, ist nicht mehr da.',
  'notFound.home': 'Zu Ihren Dateien',
};
