import { useState } from 'preact/hooks';
import type { Group } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { TextArea, TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/groups.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { problemText } from '../../problem-text.ts';
import { useClient } from '../../services.ts';
import { useSubmit } from '../../use-submit.ts';

interface Props {
  /** Left out: makes a group. */
  readonly group?: Group;
  readonly onClose: () => void;
  readonly onSaved: (group: Group) => void;
}

/** Name and description of a group. A change that somebody else made meanwhile is not overwritten. */
export function GroupDialog({ group, onClose, onSaved }: Props) {
  const client = useClient();
  const [name, setName] = useState(group?.name ?? '');
  const [description, setDescription] = useState(group?.description ?? '');
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { name: name.trim(), description: description.trim() === '' ? null : description.trim() };
    const saved = group
      ? await client.patch('/groups/{id}', { path: { id: group.id }, body, ifMatch: group.etag })
      : await client.post('/groups', { body, idempotencyKey });
    onSaved(saved);
  });
  const isTaken = problem?.code === 'name_conflict';
  const ofName = problem?.ofField('name') ?? (isTaken ? problem.inWords(problemText(problem)) : undefined);
  const ofDescription = problem?.ofField('description');
  return (
    <Dialog
      title={group ? t('editTitle') : t('add')}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      size="s"
      onSubmit={() => {
        setTried(true);
        if (name.trim() !== '') submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {group ? t('save') : t('add')}
          </Button>
        </>
      }
    >
      {problem && ofName === undefined && ofDescription === undefined && <ProblemNote problem={problem} />}
      <TextField
        label={t('name')}
        value={name}
        onValue={setName}
        autocomplete="off"
        autofocus
        error={isTried && name.trim() === '' ? t('required') : ofName}
      />
      <TextArea label={t('description')} value={description} onValue={setDescription} error={ofDescription} />
    </Dialog>
  );
}
