import { useId, useState } from 'preact/hooks';
import { Button } from '../../../design/button.tsx';
import { t } from '../../../text/schedules.ts';
import { useClient } from '../../services.ts';
import { useLater } from '../../use-later.ts';
import { useLoaded } from '../../use-loaded.ts';

export interface Folder {
  readonly id: string;
}

interface Props {
  readonly label: string;
  readonly folder: Folder | undefined;
  readonly onFolder: (folder: Folder) => void;
  readonly error: string | undefined;
}

/** A folder, shown by its path. */
export function FolderField({ label, folder, onFolder, error }: Props) {
  const note = useId();
  const [isChoosing, setChoosing] = useState(false);
  const [Destination, loadDestination] = useLater(
    async () => (await import('../../files/destination-dialog.tsx')).DestinationDialog,
  );
  return (
    <div class="schedules-folder" role="group" aria-label={label}>
      <p>
        <span class="c-field-label">{label}</span> {folder ? <FolderPath id={folder.id} /> : '–'}
      </p>
      <Button
        icon="folder"
        {...(error === undefined ? {} : { 'data-invalid': '', 'aria-describedby': note })}
        onClick={() => void loadDestination().then(setChoosing)}
      >
        {t('chooseFolder')}
      </Button>
      {error !== undefined && (
        <p id={note} class="c-field-error">
          {error}
        </p>
      )}
      {isChoosing && Destination && (
        <Destination
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

/** The path of a folder; its id if the reader may not see it. */
export function FolderPath({ id }: Folder) {
  const client = useClient();
  const { value } = useLoaded((signal) => client.get('/folders/{id}', { path: { id }, signal }), [id]);
  return <>{value?.path ?? id}</>;
}
