import { useState } from 'preact/hooks';
import type { User } from '../../api/operations.generated.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../text/admin.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { nameOf } from './person-name.ts';
import { type Role, RolesField } from './roles-field.tsx';
import { useSubmit } from '../use-submit.ts';

interface Props {
  readonly user: User;
  readonly onClose: () => void;
  readonly onChanged: (user: User) => void;
}

/** Changes what a person may do. A change that somebody else made meanwhile is not overwritten. */
export function RolesDialog({ user, onClose, onChanged }: Props) {
  const client = useClient();
  const me = useMe();
  const [roles, setRoles] = useState<readonly Role[]>(user.roles);
  const losesOwnRight = user.id === me.user.id && !roles.includes('admin');
  const { isBusy, problem, submit } = useSubmit(async () =>
    onChanged(await client.patch('/users/{id}', { path: { id: user.id }, body: { roles }, ifMatch: user.etag })),
  );
  return (
    <Dialog
      title={t('people.rolesOf', { name: nameOf(user) })}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      size="s"
      onSubmit={() => {
        if (roles.length > 0) submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={roles.length === 0}>
            {t('save')}
          </Button>
        </>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      <RolesField roles={roles} onRoles={setRoles} />
      {losesOwnRight && <p role="alert">{t('people.ownRight')}</p>}
    </Dialog>
  );
}
