import type { VNode } from 'preact';
import { classes } from './classes.ts';
import { fileKind, type FileKind } from './file-kind.ts';
import './file-icon.css';

/** What is drawn on the sheet of each kind, in the lower two thirds of 32 units. */
const SIGNS: Readonly<Record<FileKind, VNode>> = {
  image: (
    <>
      <circle cx="12.5" cy="15.5" r="1.6" class="c-file-solid" />
      <path d="M9.5 24.5l4.5-5 3 3 2.5-2.8 3.5 4.8z" class="c-file-solid" />
    </>
  ),
  video: <path d="M13.5 15.2v7.6l6.2-3.8z" class="c-file-solid" />,
  audio: <path d="M13.5 23v-7.5l6-1.5v7.5M13.5 23a1.7 1.7 0 1 1-1.7-1.7h1.7M19.5 21.5a1.7 1.7 0 1 1-1.7-1.7h1.7" />,
  pdf: <path d="M10.5 23.5c2.5-1 4.5-4 5-8.5.2 4.5 2.5 6.5 6 6-4.5-.5-8 .5-11 2.5z" />,
  text: <path d="M11 15.5h10M11 19h10M11 22.5h6" />,
  document: <path d="M10.5 15.5l2 8 3.5-6.5 3.5 6.5 2-8" />,
  sheet: <path d="M10.5 14.5h11v9.5h-11zM10.5 19.2h11M15 14.5v9.5" />,
  slides: <path d="M10 14.5h12v7.5h-12zM16 22v2.5M13 24.5h6" />,
  archive: <path d="M16 4.5v2M16 8.5v2M16 12.5v2M14.3 17h3.4v5h-3.4zM16 19.8v.01" />,
  code: <path d="M13.5 16l-3.5 3.5 3.5 3.5M18.5 16l3.5 3.5-3.5 3.5" />,
  data: (
    <path d="M13.5 15c-1.5 0-2 .7-2 2v1c0 1-.5 1.5-1.5 1.5 1 0 1.5.5 1.5 1.5v1c0 1.3.5 2 2 2M18.5 15c1.5 0 2 .7 2 2v1c0 1 .5 1.5 1.5 1.5-1 0-1.5.5-1.5 1.5v1c0 1.3-.5 2-2 2" />
  ),
  book: (
    <path d="M16 16c-1.5-1.2-3.5-1.5-5.5-1.3v8.3c2-.2 4 .1 5.5 1.3 1.5-1.2 3.5-1.5 5.5-1.3v-8.3c-2-.2-4 .1-5.5 1.3zM16 16v8.3" />
  ),
  font: <path d="M11 24l5-10 5 10M12.8 20.5h6.4" />,
  other: <path d="M13.8 17a2.3 2.3 0 1 1 3.3 2.1c-.7.3-1.1.8-1.1 1.5M16 23.5v.01" />,
};

interface Props {
  readonly kind: FileKind | 'folder';
  /** Says the kind where no word beside it does: the name of a folder has no ending. Without it the icon is decoration. */
  readonly label?: string | undefined;
  readonly size?: 'm' | 'l' | 'xl' | undefined;
}

/** A folder, or a sheet with the sign of its kind. */
export const KindIcon = ({ kind, label, size = 'm' }: Props) => (
  <svg
    class={classes('c-file-icon', `c-file-icon-${size}`, `c-kind-${kind}`)}
    viewBox="0 0 32 32"
    {...(label === undefined ? { 'aria-hidden': 'true' as const } : { role: 'img' as const, 'aria-label': label })}
  >
    {kind === 'folder' ? (
      <>
        <path
          d="M3.5 25V8a1.5 1.5 0 0 1 1.5-1.5h7.5l3 3.5H27a1.5 1.5 0 0 1 1.5 1.5V25a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 25z"
          class="c-file-sheet"
        />
        <path d="M3.5 14h25" class="c-file-fold" />
      </>
    ) : (
      <>
        <path
          d="M8 3.5h11.5L25.5 9.5V27a1.5 1.5 0 0 1-1.5 1.5H8A1.5 1.5 0 0 1 6.5 27V5A1.5 1.5 0 0 1 8 3.5z"
          class="c-file-sheet"
        />
        <path d="M19.5 3.5V9.5h6" class="c-file-fold" />
        {SIGNS[kind]}
      </>
    )}
  </svg>
);

/** The icon of a file by its type and name. */
export const FileIcon = ({
  mimeType,
  name,
  size,
}: {
  mimeType: string | null | undefined;
  name: string;
  size?: Props['size'];
}) => <KindIcon kind={fileKind(mimeType, name)} size={size} />;
