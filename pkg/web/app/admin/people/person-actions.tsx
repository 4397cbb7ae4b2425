import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { User } from '../../../api/operations.generated.ts';
import type { MenuItem, MenuItems } from '../../../design/menu.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t as admin } from '../../../text/admin.ts';
import { t } from '../../../text/person.ts';
import { failureToast } from '../../failure-toast.ts';
import { useClient, useMe } from '../../services.ts';
import { Snapshot } from '../../snapshot.tsx';
import { PasswordLinkDialog } from '../password-link-dialog.tsx';
import { nameOf } from '../person-name.ts';
import { RolesDialog } from '../roles-dialog.tsx';
import { DeletePersonDialog } from './delete-person-dialog.tsx';
import { EditPersonDialog } from './edit-person-dialog.tsx';
import { SignOutDialog } from './sign-out-dialog.tsx';

type Kind = 'edit' | 'roles' | 'password' | 'signOut' | 'delete';

interface Actions {
  /** What an administrator can do with a person. */
  readonly itemsOf: (user: User) => MenuItems;
  readonly open: (dialog: Kind, user: User) => void;
  /** The dialog that is open, to be rendered. */
  readonly dialog: ComponentChildren;
}

interface Changes {
  readonly onChanged: (user: User) => void;
  readonly onDeleted: (user: User) => void;
}

/** The actions on people, for their list and for the page of one. Nobody takes their own rights away by a slip. */
export function usePersonActions({ onChanged, onDeleted }: Changes): Actions {
  const client = useClient();
  const me = useMe();
  const [shown, setShown] = useState<{ readonly dialog: Kind; readonly user: User }>();
  const open = (dialog: Kind, user: User): void => setShown({ dialog, user });
  const close = (): void => setShown(undefined);
  const changed = (user: User): void => {
    close();
    onChanged(user);
  };
  const load = ({ id }: User): Promise<User> => client.get('/users/{id}', { path: { id } });
  const refresh = (user: User): void => void load(user).then(onChanged, () => undefined);
  const setActive = async (user: User, is_active: boolean): Promise<void> => {
    try {
      const now = await client.patch('/users/{id}', { path: { id: user.id }, body: { is_active }, ifMatch: user.etag });
      onChanged(now);
      const name = nameOf(user);
      if (is_active) toasts.show({ text: t('activated', { name }), tone: 'success' });
      else {
        const undo = { label: t('undo'), onSelect: () => void setActive(now, true) };
        toasts.show({ text: t('deactivated', { name }), action: undo });
      }
    } catch (error) {
      failureToast(error, () => refresh(user));
    }
  };
  const activation = (user: User): MenuItem =>
    user.is_active
      ? {
          label: admin('people.deactivate'),
          icon: 'lock',
          isDanger: true,
          isDisabled: user.id === me.user.id,
          onSelect: () => void setActive(user, false),
        }
      : { label: admin('people.activate'), icon: 'check', onSelect: () => void setActive(user, true) };
  const itemsOf = (user: User): MenuItems => [
    { label: t('edit'), icon: 'edit', onSelect: () => open('edit', user) },
    { label: admin('people.changeRoles'), icon: 'people', onSelect: () => open('roles', user) },
    { label: admin('people.password'), icon: 'key', isDisabled: !user.is_active, onSelect: () => open('password', user) },
    { label: t('signOut'), icon: 'sign-out', onSelect: () => open('signOut', user) },
    'separator',
    activation(user),
    {
      label: t('delete'),
      icon: 'trash',
      isDanger: true,
      isDisabled: user.id === me.user.id,
      onSelect: () => open('delete', user),
    },
  ];
  const dialog = shown && (
    <Snapshot of={shown.user} load={() => load(shown.user)} onStale={() => refresh(shown.user)}>
      {(user) => (
        <>
          {shown.dialog === 'edit' && <EditPersonDialog user={user} onClose={close} onChanged={changed} />}
          {shown.dialog === 'roles' && <RolesDialog user={user} onClose={close} onChanged={changed} />}
          {shown.dialog === 'password' && <PasswordLinkDialog user={user} onClose={close} />}
          {shown.dialog === 'signOut' && <SignOutDialog user={user} onClose={close} />}
          {shown.dialog === 'delete' && (
            <DeletePersonDialog
              user={user}
              onClose={close}
              onDeleted={() => {
                close();
                onDeleted(user);
              }}
            />
          )}
        </>
      )}
    </Snapshot>
  );
  return { itemsOf, open, dialog };
}
