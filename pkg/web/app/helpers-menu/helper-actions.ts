import type { Welcome } from '../../api/operations.generated.ts';
import { t } from '../../text/helpers.ts';
import type { Entry } from '../files/entry.ts';
import type { EntryAction } from '../files/entry-actions.ts';

/** What can be asked of a helper, or of the server, for one file. */
export type Helper = 'translate-text' | 'translate-pdf' | 'optimize' | 'unpack';

export interface Asked {
  readonly helper: Helper;
  readonly entry: Entry;
}

/** A larger text would need many requests to the translator. Bytes. */
export const TEXT_MAX = 200 * 1024;

const isFile = ({ type }: Entry): boolean => type === 'file';
const isPdf = ({ mimeType, name }: Entry): boolean => mimeType === 'application/pdf' || /\.pdf$/i.test(name);
const isZip = ({ mimeType, name }: Entry): boolean =>
  /^application\/(?:zip|x-zip-compressed)$/.test(mimeType ?? '') || /\.zip$/i.test(name);
const isText = ({ mimeType, name, size }: Entry): boolean =>
  (size ?? Infinity) <= TEXT_MAX && (/^text\/(?:plain|markdown)\b/.test(mimeType ?? '') || /\.(?:txt|md|markdown)$/i.test(name));

/** The actions that this tenant offers to this person. What is not configured is not shown. */
export function helperActions({ permissions, features }: Pick<Welcome, 'permissions' | 'features'>, ask: (asked: Asked) => void) {
  if (!permissions.includes('write:files')) return [];
  const { translate, pdf_translate, pdf_optimize } = features.helpers;
  const actions: (EntryAction | false)[] = [
    translate && {
      id: 'translate-text',
      label: () => t('translate'),
      icon: 'translate',
      appliesTo: (entry) => isFile(entry) && isText(entry),
      run: (entry) => ask({ helper: 'translate-text', entry }),
    },
    pdf_translate && {
      id: 'translate-pdf',
      label: () => t('translate'),
      icon: 'translate',
      appliesTo: (entry) => isFile(entry) && isPdf(entry),
      run: (entry) => ask({ helper: 'translate-pdf', entry }),
    },
    pdf_optimize && {
      id: 'optimize',
      label: () => t('optimize'),
      icon: 'settings',
      appliesTo: (entry) => isFile(entry) && isPdf(entry),
      run: (entry) => ask({ helper: 'optimize', entry }),
    },
    permissions.includes('write:folders') && {
      id: 'unpack',
      label: () => t('unpack'),
      icon: 'unpack',
      appliesTo: (entry) => isFile(entry) && isZip(entry),
      run: (entry) => ask({ helper: 'unpack', entry }),
    },
  ];
  return actions.filter((action) => action !== false);
}
