import type { Texts } from './language.ts';
import type { en } from './fields.en.ts';

/** The German texts for what the API refuses at a field. */
export const de: Texts<typeof en> = {
  empty: 'Füllen Sie dieses Feld aus.',
  short: 'Verwenden Sie mindestens {count} Zeichen.',
  long: 'Verwenden Sie höchstens {count} Zeichen.',
  common: 'Dieses Passwort probieren Angreifer als eines der ersten aus. Wählen Sie ein anderes.',
  dots: 'Ein Name kann nicht „.“ oder „..“ sein.',
  slash: 'Ein Name darf keinen Schrägstrich enthalten: „/“ oder „\\“.',
  control: 'Das enthält unsichtbare Zeichen, die in Namen nicht erlaubt sind. Tippen Sie es, statt es einzufügen.',
  invisible: 'Verwenden Sie mindestens ein sichtbares Zeichen.',
  path: 'Mit diesem Namen wird der Pfad zu lang. Wählen Sie einen kürzeren.',
  value: 'Dieser Wert wird nicht angenommen.',
};
