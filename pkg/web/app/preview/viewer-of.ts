import { fileKind } from '../../design/file-kind.ts';
import type { Entry } from '../files/entry.ts';

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
