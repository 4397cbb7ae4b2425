import { useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/admin.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { type Role, RolesField } from './roles-field.tsx';
import { useSubmit } from '../use-submit.ts';

/** Adds a person without a password: they set it at the address that is shown next. */
export function NewPersonDialog({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (user: User) => void }) {
  const client = useClient();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [username, setUsername] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>(['member']);
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const display_name = name.trim() === '' ? null : name.trim();
    const body = { email: email.trim(), username: username.trim(), display_name, roles };
    onMade(await client.post('/users', { body, idempotencyKey }));
  });
  const missing = (value: string): string | undefined => (isTried && value.trim() === '' ? t('required') : undefined);
  const isComplete = email.trim() !== '' && username.trim() !== '' && roles.length > 0;
  const fields = ['email', 'username', 'display_name', 'roles'];
  const isOfField = problem?.fields.some(({ field }) => fields.includes(field)) ?? false;

  return (
    <Dialog
      title={t('people.add')}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={() => {
        setTried(true);
        if (isComplete) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t('people.add')}
          </Button>
        </>
      }
    >
      {problem && !isOfField && <ProblemNote problem={problem} />}
      <TextField
        label={t('people.email')}
        type="email"
        autocomplete="off"
        autofocus
        value={email}
        onValue={setEmail}
        error={missing(email) ?? problem?.ofField('email')}
      />
      <TextField
        label={t('people.username')}
        autocomplete="off"
        value={username}
        onValue={setUsername}
        hint={t('people.usernameHint')}
        error={missing(username) ?? problem?.ofField('username')}
      />
      <TextField
        label={t('people.displayName')}
        autocomplete="off"
        value={name}
        onValue={setName}
        error={problem?.ofField('display_name')}
      />
      <RolesField roles={roles} onRoles={setRoles} />
      {isTried && roles.length === 0 && <p role="alert">{t('people.roleMissing')}</p>}
    </Dialog>
  );
}
