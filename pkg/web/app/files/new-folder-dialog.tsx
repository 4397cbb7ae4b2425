import { useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/files.ts';
import { problemText } from '../problem-text.ts';
import { useClient } from '../services.ts';

interface Made {
  readonly id: string;
  readonly name: string;
}

interface Props {
  /** null: one's own root. */
  readonly parentId: string | null;
  readonly onDone: (folder: Made) => void;
}

function useNewFolder({ parentId, onDone }: Props) {
  const client = useClient();
  const [name, setName] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const make = (): void => {
    if (isBusy) return;
    setBusy(true);
    client
      .post('/folders', { body: { name: name.trim() || t('newFolder'), parent_id: parentId } })
      .then(onDone, (error: unknown) => setProblem(problemOf(error)))
      .finally(() => setBusy(false));
  };
  const change = (value: string): void => {
    setProblem(undefined);
    setName(value);
  };
  const error = problem && (problem.ofField('name') ?? problem.inWords(problemText(problem)));
  const field = (
    <TextField label={t('folderName')} value={name} onValue={change} error={error} autofocus autocomplete="off" maxLength={255} />
  );
  return { field, make, isBusy };
}

/** A line in another dialog that makes a folder. */
export function NewFolderForm(props: Props) {
  const { field, make, isBusy } = useNewFolder(props);
  return (
    <form
      class="files-new-folder"
      onSubmit={(event) => {
        event.preventDefault();
        make();
      }}
    >
      {field}
      <Button type="submit" isBusy={isBusy}>
        {t('create')}
      </Button>
    </form>
  );
}

/** Asks for the name of a new folder. */
export function NewFolderDialog({ onClose, ...props }: Props & { readonly onClose: () => void }) {
  const { field, make, isBusy } = useNewFolder(props);
  return (
    <Dialog
      title={t('newFolder')}
      closeLabel={t('close')}
      size="s"
      onClose={onClose}
      onSubmit={make}
      actions={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t('create')}
          </Button>
        </>
      }
    >
      {field}
    </Dialog>
  );
}
