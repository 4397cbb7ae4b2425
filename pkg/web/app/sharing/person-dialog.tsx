import { Dialog } from '../../design/dialog.tsx';
import { GranteeSearch } from './grantee-search.tsx';
import './share-dialog.css';

/** Somebody who is chosen. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

interface Props {
  readonly title: string;
  readonly label: string;
  readonly closeLabel: string;
  readonly onChoose: (person: Person) => void;
  readonly onClose: () => void;
}

const NOBODY: ReadonlySet<string> = new Set();

/** Asks for a person, among those to whom the reader could give access. */
export function PersonDialog({ title, label, closeLabel, onChoose, onClose }: Props) {
  return (
    <Dialog title={title} closeLabel={closeLabel} size="s" onClose={onClose}>
      <GranteeSearch label={label} isPeopleOnly autofocus taken={NOBODY} onChoose={({ id, name }) => onChoose({ id, name })} />
    </Dialog>
  );
}
