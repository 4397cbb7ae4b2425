import type { Texts } from './language.ts';
import type { en } from './preview.en.ts';

/** The German texts of the preview. */
export const de: Texts<typeof en> = {
  title: 'Vorschau',
  loading: 'Wird geladen …',
  close: 'Vorschau schließen',
  download: 'Herunterladen',
  former: 'Vorige Datei',
  next: 'Nächste Datei',
  position: '{number} von {total}',
  type: 'Typ',
  unknownType: 'Unbekannt',
  size: 'Größe',
  changed: 'Geändert',
  owner: 'Eigentümer',

  noPreview: 'Für diese Art von Datei gibt es keine Vorschau.',
  noText: 'Diese Datei ist kein Text.',
  empty: 'Diese Datei ist leer.',
  brokenImage: 'Der Browser kann dieses Bild nicht anzeigen: es ist beschädigt oder zu groß.',
  hugeImage: 'Dieses Bild ist zu groß, um es hier anzuzeigen: {width} × {height} Punkte.',
  brokenRecording: 'Der Browser kann diese Datei nicht abspielen.',
  asText: 'Als Text anzeigen',

  zoom: 'Zoom',
  zoomIn: 'Größer',
  zoomOut: 'Kleiner',
  fit: 'An Fenster anpassen',
  fullSize: 'Volle Größe',
  wrap: 'Zeilen umbrechen',
  content: 'Inhalt von {name}',
  moreText: 'Mehr anzeigen',
  shownText: '{shown} von {total} angezeigt',
};
