import type { Texts } from './language.ts';
import type { en } from './usage.en.ts';

/** The German texts of the usage of the tenant. */
export const de: Texts<typeof en> = {
  title: 'Nutzung',
  loading: 'Wird gezählt …',
  counted: 'Gezählt',
  table: 'Als Tabelle zeigen',
  stored: 'Gespeichert',
  files: 'Dateien',
  people: 'Personen, die sich anmelden können',
  active: 'Die meisten Aktiven an einem Tag',

  parts: 'Woraus es besteht',
  current: 'Aktuelle Versionen',
  versions: 'Ältere Versionen',
  trash: 'Papierkorb',
  metadata: 'Attribute von Dateien',

  byPerson: 'Wer am meisten speichert',
  person: 'Person',
  bytes: 'Speicherplatz',
  ofQuota: 'Vom Kontingent',
  others: 'Alle anderen und Kurse',
  nothing: 'Noch hat niemand etwas gespeichert.',

  byType: 'Nach Art',
  type: 'Art',
  'kind.image': 'Bilder',
  'kind.video': 'Videos',
  'kind.audio': 'Audio',
  'kind.pdf': 'PDF',
  'kind.text': 'Text',
  'kind.document': 'Dokumente',
  'kind.sheet': 'Tabellen',
  'kind.slides': 'Präsentationen',
  'kind.archive': 'Archive',
  'kind.code': 'Code',
  'kind.data': 'Daten',
  'kind.book': 'Bücher',
  'kind.font': 'Schriften',
  'kind.other': 'Andere Dateien',
  'count.one': '{count} Datei',
  'count.other': '{count} Dateien',

  byMonth: 'Hochgeladen und noch gespeichert, nach Monat',
  byDay: 'Aktivität in den letzten 30 Tagen',
  uploads: 'Uploads',
  signIns: 'Anmeldungen',
  activePeople: 'Aktive Personen',

  byRequest: 'Anfragen in den letzten 30 Tagen',
  refused: 'Abgelehnt',

  byDelivery: 'Aufrufe von Webhooks in den letzten 7 Tagen',
  answered: 'Erfolgreich beantwortet',
  failed: 'Fehlgeschlagen',
};
