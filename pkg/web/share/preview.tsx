import { useState } from 'preact/hooks';
import { t } from '../text/share.ts';
import type { SharedFile } from './link.ts';

type Kind = 'image' | 'audio' | 'video';

/** Bytes of the largest picture that is shown before somebody asks for it. */
const PICTURE_MAX = 12 * 1024 * 1024;
/** What browsers draw and play, and what runs nothing: SVG is left out. */
const TYPES: Readonly<Record<Kind, RegExp>> = {
  image: /^image\/(png|jpeg|gif|webp|avif|bmp)$/,
  audio: /^audio\/(mpeg|mp4|aac|ogg|wav|x-wav|webm|flac)$/,
  video: /^video\/(mp4|webm|ogg)$/,
};

/** Returns how a file is shown; undefined: not at all. It counts as a download, so a link with a limit of them shows none. */
export function previewOf({ mime_type: type, size, downloads_left: left }: SharedFile): Kind | undefined {
  if (type === null || size === null || left !== null) return undefined;
  const kind = (Object.keys(TYPES) as Kind[]).find((one) => TYPES[one].test(type));
  return kind === 'image' && size > PICTURE_MAX ? undefined : kind;
}

interface Props {
  readonly kind: Kind;
  readonly name: string;
  readonly address: string;
}

/** The picture, or the browser's own player, which reads nothing before it is started. */
export function Preview({ kind, name, address }: Props) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return null;
  const shared = { src: address, class: `share-preview share-preview-${kind}`, onError: () => setBroken(true) };
  const label = t('preview', { name });
  if (kind === 'image') return <img {...shared} alt={label} decoding="async" />;
  if (kind === 'audio') return <audio {...shared} aria-label={label} controls preload="none" />;
  return <video {...shared} aria-label={label} controls preload="none" playsInline />;
}
