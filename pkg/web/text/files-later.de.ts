import type { en } from './files-later.en.ts';
import type { Texts } from './language.ts';

/** The German texts of what the pages of files load when somebody asks for it. */
export const de: Texts<typeof en> = {
  close: 'Schließen',
  puttingBack: 'Wird zurückverschoben …',
  'putBack.one': '{count} Element ist wieder, wo es war',
  'putBack.other': '{count} Elemente sind wieder, wo sie waren',
  'notPutBack.one': '{count} Element ließ sich nicht zurückverschieben.',
  'notPutBack.other': '{count} Elemente ließen sich nicht zurückverschieben.',
  'putBackCanceled.one': 'Abgebrochen; {count} Element ist wieder, wo es war',
  'putBackCanceled.other': 'Abgebrochen; {count} Elemente sind wieder, wo sie waren',
  reason: '„{name}“: {reason}',
  'andMore.one': 'Und {count} weiteres.',
  'andMore.other': 'Und {count} weitere.',
  'peopleLoaded.one': '{count} Person ist geladen, weitere folgen',
  'peopleLoaded.other': '{count} Personen sind geladen, weitere folgen',
  'versionsLoaded.one': '{count} Version ist geladen, weitere folgen',
  'versionsLoaded.other': '{count} Versionen sind geladen, weitere folgen',
  originUnknown: 'Es ist nicht bekannt, in welchem Ordner es war.',
  'packing.one': '{count} Element wird gepackt …',
  'packing.other': '{count} Elemente werden gepackt …',
  packed: '„{name}“ ist fertig',
  'packedWithout.one': '„{name}“ ist fertig. {count} Element fehlt: Es ist gelöscht, oder Sie dürfen es nicht lesen.',
  'packedWithout.other': '„{name}“ ist fertig. {count} Elemente fehlen: Sie sind gelöscht, oder Sie dürfen sie nicht lesen.',
  packingCanceled: 'Abgebrochen; nichts wird heruntergeladen',
  tooManyToPack: 'In einen Download passen höchstens {max} Elemente. Wählen Sie weniger, oder laden Sie deren Ordner herunter.',
  archivesFull:
    'Sie haben so viele Archive oder Jobs, wie eine Person haben darf. Warten Sie, bis einer endet: Ein Archiv verfällt nach ' +
    'einem Tag. Eine Datei oder ein Ordner allein lässt sich jederzeit herunterladen.',
  downloadAgain: 'Noch einmal herunterladen',
  ownerTitle: 'Wem gehören die Dateien?',
  ownerSearch: 'Person suchen',
  searchFolders: 'In allen Ordnern suchen',
  clearSearch: 'Suche leeren',
  readOnlyFolder: 'Diesen Ordner dürfen Sie lesen, aber nichts hineinlegen.',
  noFoldersFound: 'Kein Ordner hat diesen Namen.',
  'foldersFound.one': '{count} Ordner gefunden',
  'foldersFound.other': '{count} Ordner gefunden',
  foldersMore: 'Die ersten {count} gefundenen Ordner, weitere folgen',
};
