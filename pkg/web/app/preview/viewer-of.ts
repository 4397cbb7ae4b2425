import { fileKind } from '../../design/file-kind.ts';
import { t } from '../../text/preview.ts';
import type { Entry } from '../files/entry.ts';
import { sizeInWords } from '../size-in-words.ts';

/** How a file is shown. `card`: by what it is, not by what is in it. */
export type Viewer = 'image' | 'text' | 'markdown' | 'pdf' | 'audio' | 'video' | 'card';

/** Media types that every current browser draws. TIFF and HEIC are not among them. */
const PICTURES = /^image\/(png|apng|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/;
const MARKDOWN_NAME = /\.(md|markdown)$/iu;

/** Returns how a file is shown, by its media type, and by its name where the type says too little. */
export function viewerOf({ mimeType, name }: Pick<Entry, 'mimeType' | 'name'>): Viewer {
  const type = (mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const kind = fileKind(mimeType, name);
  if (kind === 'image') return PICTURES.test(type) ? 'image' : 'card';
  if (kind === 'text') return type === 'text/markdown' || MARKDOWN_NAME.test(name) ? 'markdown' : 'text';
  if (kind === 'code' || kind === 'data') return 'text';
  return kind === 'pdf' || kind === 'audio' || kind === 'video' ? kind : 'card';
}

const MIB = 1024 * 1024;
/** Bytes of what a frame shows: it gets the whole file. */
const FRAME_MAX = { pdf: 64 * MIB, markdown: MIB } as const;

/** A Markdown file of this size is drawn; a larger one is shown as text. */
export const isInFrame = ({ size }: Entry): boolean => (size ?? 0) <= FRAME_MAX.markdown;

/** Returns how a file is shown at first: what is too large for its viewer is shown as text, or by its card. */
export function firstViewer(entry: Entry, best: Viewer): Viewer {
  const size = entry.size ?? 0;
  if (size === 0 || (best === 'pdf' && size > FRAME_MAX.pdf)) return 'card';
  return best === 'markdown' && !isInFrame(entry) ? 'text' : best;
}

/** Why the card is shown, if it is what is shown first. */
export const whyNot = ({ size }: Entry, best: Viewer): string =>
  size === 0 ? t('empty') : best === 'pdf' ? t('tooLarge', { size: sizeInWords(FRAME_MAX.pdf) }) : t('noPreview');
