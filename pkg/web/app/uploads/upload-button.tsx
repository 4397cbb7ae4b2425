import { Button } from '../../design/button.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { t } from '../../text/uploads.ts';
import { useObserved } from '../use-observed.ts';
import { canChooseFolders, chooseFiles, chooseFolder } from '../../uploads/choose.ts';
import { uploads } from './current.ts';

/** Returns the commands of a menu that upload into a folder; null is the person's own root. */
export function useUploadItems(folderId: string | null): readonly MenuItem[] {
  const uploader = useObserved(uploads);
  if (!uploader) return [];
  const item = (label: string, icon: MenuItem['icon'], choose: typeof chooseFiles): MenuItem => ({
    label,
    icon,
    onSelect: () => void choose().then((batch) => uploader.add(folderId, [batch])),
  });
  return [
    item(t('chooseFiles'), 'upload', chooseFiles),
    ...(canChooseFolders() ? [item(t('chooseFolder'), 'folder-add', chooseFolder)] : []),
  ];
}

/** A button that uploads files or a folder into a folder. */
export function UploadButton({ folderId }: { readonly folderId: string | null }) {
  const items = useUploadItems(folderId);
  if (items.length === 0) return null;
  return (
    <Menu
      label={t('upload')}
      items={items}
      trigger={(props) => (
        <Button kind="primary" icon="upload" {...props}>
          {t('upload')}
        </Button>
      )}
    />
  );
}
