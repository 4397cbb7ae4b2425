import { useState } from 'preact/hooks';
import type { User } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t as admin } from '../../../text/admin.ts';
import { t } from '../../../text/person.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { nameOf } from '../person-name.ts';
import { useSubmit } from '../../use-submit.ts';
import { QuotaField } from './quota-field.tsx';
import './person.css';

interface Props {
  readonly user: User;
  readonly onClose: () => void;
  readonly onChanged: (user: User) => void;
}

/** Names, address and quota of a person. Fields that stay as they are are not sent. */
export function EditPersonDialog({ user, onClose, onChanged }: Props) {
  const client = useClient();
  const [email, setEmail] = useState(user.email);
  const [username, setUsername] = useState(user.username);
  const [name, setName] = useState(user.display_name ?? '');
  const [quota, setQuota] = useState<number | undefined>(user.storage_quota);
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async () => {
    const display_name = name.trim() === '' ? null : name.trim();
    const body = {
      ...(email.trim() === user.email ? {} : { email: email.trim() }),
      ...(username.trim() === user.username ? {} : { username: username.trim() }),
      ...(display_name === user.display_name ? {} : { display_name }),
      ...(quota === undefined || quota === user.storage_quota ? {} : { storage_quota: quota }),
    };
    // The API refuses a change of nothing.
    if (Object.keys(body).length === 0) return onClose();
    onChanged(await client.patch('/users/{id}', { path: { id: user.id }, body, ifMatch: user.etag }));
  });
  const missing = (value: string): string | undefined => (isTried && value.trim() === '' ? t('required') : undefined);
  const fields = ['email', 'username', 'display_name', 'storage_quota'];
  const isOfField = problem?.fields.some(({ field }) => fields.includes(field)) ?? false;
  return (
    <Dialog
      title={t('editTitle', { name: nameOf(user) })}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={() => {
        setTried(true);
        if (email.trim() !== '' && username.trim() !== '' && quota !== undefined) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t('save')}
          </Button>
        </>
      }
    >
      {problem && !isOfField && <ProblemNote problem={problem} />}
      <TextField
        label={admin('people.displayName')}
        autocomplete="off"
        autofocus
        value={name}
        onValue={setName}
        error={problem?.ofField('display_name')}
      />
      <TextField
        label={t('email')}
        type="email"
        autocomplete="off"
        value={email}
        onValue={setEmail}
        error={missing(email) ?? problem?.ofField('email')}
      />
      <TextField
        label={t('username')}
        autocomplete="off"
        value={username}
        onValue={setUsername}
        error={missing(username) ?? problem?.ofField('username')}
      />
      <QuotaField
        bytes={user.storage_quota}
        onBytes={setQuota}
        error={quota === undefined ? t('quotaWrong') : problem?.ofField('storage_quota')}
      />
    </Dialog>
  );
}
