import type { FolderEntry } from './api.ts';
import { t } from '../../text/lti.ts';

/**
 * The current path: the names of the root and of the folders below it. `onGo` gets the number of folders that remain below the
 * root.
 */
export const FolderPath = ({ names, onGo }: { names: readonly string[]; onGo: (depth: number) => void }) => (
  <nav aria-label={t('path')} class="path">
    <ol>
      {names.map((name, depth) => (
        <li key={depth}>
          {depth === names.length - 1 ? (
            <span aria-current="page">{name}</span>
          ) : (
            <button type="button" onClick={() => onGo(depth)}>
              {name}
            </button>
          )}
        </li>
      ))}
    </ol>
  </nav>
);

export const FolderRow = ({ folder, onOpen }: { folder: FolderEntry; onOpen: (folder: FolderEntry) => void }) => (
  <li>
    <span class="name">{folder.name}</span>
    <span class="facts">{t('folder')}</span>
    <button type="button" aria-label={t('openFolder', { name: folder.name })} onClick={() => onOpen(folder)}>
      {t('open')}
    </button>
  </li>
);
