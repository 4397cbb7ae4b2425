import { Button } from '../../design/button.tsx';
import { KindIcon } from '../../design/file-icon.tsx';
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
            <Button kind="quiet" size="s" onClick={() => onGo(depth)}>
              {name}
            </Button>
          )}
        </li>
      ))}
    </ol>
  </nav>
);

export const FolderRow = ({ folder, onOpen }: { folder: FolderEntry; onOpen: (folder: FolderEntry) => void }) => (
  <li>
    <KindIcon kind="folder" />
    <span class="name">{folder.name}</span>
    <span class="facts">{t('folder')}</span>
    <Button size="s" aria-label={t('openFolder', { name: folder.name })} onClick={() => onOpen(folder)}>
      {t('open')}
    </Button>
  </li>
);
