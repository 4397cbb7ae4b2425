import type { Texts } from './language.ts';
import type { en } from './welcome.en.ts';

/** The German texts of the welcome. */
export const de: Texts<typeof en> = {
  title: 'Willkommen',
  heading: 'Willkommen bei {tenant}',
  text: 'Ihr Dienst läuft. Dies sind die üblichen nächsten Schritte, in beliebiger Reihenfolge.',
  people: 'Personen hinzufügen',
  'people.text': 'Legen Sie Konten an, und geben Sie Links weiter, mit denen Personen ihr Passwort setzen.',
  password: 'Eigenes Passwort setzen',
  'password.text': 'Ihr jetziges hat die Installation erzeugt. Sie finden dies auch im Menü Ihres Kontos.',
  lms: 'LMS verbinden',
  'lms.text': 'Kurse öffnen sich dann hier ohne Passwort, und Bewertungen kommen in der Bewertungsübersicht an.',
  rules: 'Regeln für Links festlegen',
  'rules.text': 'Entscheiden Sie, ob Links ein Passwort brauchen, wann sie enden und ob sie Uploads annehmen.',
  limits: 'Grenzen ansehen',
  'limits.text': 'Speicherplatz, Anfragen, Adressen und Fristen: was Kubernetes festlegt, und wie es geändert wird.',
  schedules: 'Regelmäßige Arbeit planen',
  'schedules.text': 'Leeren Sie den Papierkorb, archivieren Sie einen Ordner oder prüfen Sie alle Dateien, zu Zeiten Ihrer Wahl.',
  files: 'Dateien hochladen',
  'files.text': 'Legen Sie Dateien oder ganze Ordner ab, und geben Sie sie für Personen und Gruppen frei.',
  done: 'Erledigt',
  leave: 'Zu den Dateien',
};
