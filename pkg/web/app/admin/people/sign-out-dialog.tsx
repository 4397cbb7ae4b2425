import type { User } from '../../../api/operations.generated.ts';
import { Confirm } from '../../../design/confirm.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t } from '../../../text/person.ts';
import { failureToast } from '../../failure-toast.ts';
import { useClient, useMe } from '../../services.ts';
import { nameOf } from '../person-name.ts';

/** Ends all sessions of a person: after a device was lost, say. */
export function SignOutDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const client = useClient();
  const me = useMe();
  const name = nameOf(user);
  const signOut = async (): Promise<void> => {
    try {
      await client.delete('/users/{id}/sessions', { path: { id: user.id } });
      toasts.show({ text: t('signedOut', { name }), tone: 'success' });
    } catch (error) {
      failureToast(error);
    }
    onClose();
  };
  return (
    <Confirm
      title={t('signOutTitle', { name })}
      confirmLabel={t('signOut')}
      cancelLabel={t('cancel')}
      onConfirm={signOut}
      onCancel={onClose}
    >
      {user.id === me.user.id ? t('signOutOwn') : t('signOutText')}
    </Confirm>
  );
}
