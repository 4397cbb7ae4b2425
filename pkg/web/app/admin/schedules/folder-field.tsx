import { useState } from 'preact/hooks';
import { Button } from '../../../design/button.tsx';
import { t } from '../../../text/schedules.ts';
import { DestinationDialog } from '../../files/destination-dialog.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';

export interface Folder {
  readonly id: string;
}

interface Props {
  readonly folder: Folder | undefined;
  readonly onFolder: (folder: Folder) => void;
  readonly error: string | undefined;
}

/** The folder that is archived, by its path. */
export function FolderField({ folder, onFolder, error }: Props) {
  const client = useClient();
  const [isChoosing, setChoosing] = useState(false);
  const { value } = useLoaded(
    async (signal) => (folder ? await client.get('/folders/{id}', { path: { id: folder.id }, signal }) : undefined),
    [folder?.id],
  );
  return (
    <div class="schedules-folder">
      <p>
        <span class="c-field-label">{t('folder')}</span> {value?.path ?? folder?.id ?? '–'}
      </p>
      <Button icon="folder" onClick={() => setChoosing(true)}>
        {t('chooseFolder')}
      </Button>
      {error !== undefined && (
        <p role="alert" class="c-field-error">
          {error}
        </p>
      )}
      {isChoosing && (
        <DestinationDialog
          kind="choose"
          entries={[]}
          onClose={() => setChoosing(false)}
          onChoose={(id) => {
            setChoosing(false);
            if (id !== null) onFolder({ id });
          }}
        />
      )}
    </div>
  );
}
