import { t } from '../../text/files-later.ts';
import { type Person, PersonDialog } from '../sharing/person-dialog.tsx';

interface Props {
  readonly onChoose: (person: Person) => void;
  readonly onClose: () => void;
}

/** Asks whose files a search is to find. */
export const OwnerDialog = ({ onChoose, onClose }: Props) => (
  <PersonDialog title={t('ownerTitle')} label={t('ownerSearch')} closeLabel={t('close')} onChoose={onChoose} onClose={onClose} />
);
