import { useState } from 'preact/hooks';
import type { Usage, User } from '../../../api/operations.generated.ts';
import { Notice } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { RadioGroup } from '../../../design/checkbox.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { Spinner } from '../../../design/progress.tsx';
import { toasts } from '../../../design/toasts.ts';
import { count, t } from '../../../text/person.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { sizeInWords } from '../../size-in-words.ts';
import { useLoaded } from '../../use-loaded.ts';
import { nameOf } from '../person-name.ts';
import { type Person, PersonPicker } from '../person-picker.tsx';
import { useSubmit } from '../../use-submit.ts';

interface Props {
  readonly user: User;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

const filesOf = ({ files, trashed_files }: Usage): number => files + trashed_files;

/** Deletes a person for ever. Where they have files, somebody else gets them, or they go too: nothing is decided silently. */
export function DeletePersonDialog({ user, onClose, onDeleted }: Props) {
  const client = useClient();
  const name = nameOf(user);
  const path = { id: user.id };
  const { value: first, problem: unknown, reload } = useLoaded((signal) => client.get('/users/{id}/usage', { path, signal }), []);
  /** Counted again at the deletion, after files had come. */
  const [newer, setNewer] = useState<Usage>();
  const usage = newer ?? first;
  const [what, setWhat] = useState<'give' | 'delete'>('give');
  const [heir, setHeir] = useState<Person>();
  const [isTried, setTried] = useState(false);
  const size = sizeInWords(usage?.storage_used ?? 0);
  const has = usage && (filesOf(usage) === 0 ? t('deleteNone') : count('deleteHas', filesOf(usage), { size }));
  const gives = what === 'give' && usage !== undefined && filesOf(usage) > 0;
  const { isBusy, problem, submit } = useSubmit(async () => {
    if (!gives) {
      const counted = await client.get('/users/{id}/usage', { path });
      if (usage && filesOf(counted) > filesOf(usage)) {
        setNewer(counted);
        setTried(false);
        return;
      }
    }
    const query = gives ? { transfer_to: heir?.id } : {};
    await client.delete('/users/{id}', { path, query, ifMatch: user.etag });
    toasts.show({ text: t('deleted', { name }), tone: 'success' });
    onDeleted();
  });
  return (
    <Dialog
      title={t('deleteTitle', { name })}
      closeLabel={t('cancel')}
      role="alertdialog"
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={() => {
        setTried(true);
        if (usage && (!gives || heir)) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy} autofocus>
            {t('cancel')}
          </Button>
          <Button kind="danger" type="submit" isBusy={isBusy} disabled={!usage}>
            {t('delete')}
          </Button>
        </>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {unknown && <ProblemNote problem={unknown} onRetry={reload} />}
      {!usage && !unknown && <Spinner label={t('loading')} />}
      {newer && <Notice tone="danger">{t('deleteMore')}</Notice>}
      {usage && (
        <p>
          {has} {t('deleteText')}
        </p>
      )}
      {usage && filesOf(usage) > 0 && (
        <RadioGroup
          legend={t('whatOfFiles')}
          value={what}
          onValue={setWhat}
          options={[
            { value: 'give', label: t('giveFiles'), hint: t('giveFilesHint') },
            { value: 'delete', label: t('deleteFiles'), hint: t('deleteFilesHint') },
          ]}
        />
      )}
      {gives && (
        <PersonPicker
          label={t('newOwner')}
          placeholder={t('newOwnerHint')}
          isActiveOnly
          except={user.id}
          chosen={heir}
          onChoose={setHeir}
          error={problem?.ofField('transfer_to') ?? (isTried && !heir ? t('newOwnerMissing') : undefined)}
        />
      )}
    </Dialog>
  );
}
