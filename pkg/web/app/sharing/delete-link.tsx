import { useState } from 'preact/hooks';
import type { Share } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Confirm } from '../../design/confirm.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/sharing.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';

interface Props {
  readonly link: Share;
  /** Of the file or folder. */
  readonly name: string;
  readonly onCancel: () => void;
  readonly onDone: () => void;
}

/** Asks before a link is deleted, which nobody can undo. One that is gone already counts as deleted. */
export function DeleteLink({ link, name, onCancel, onDone }: Props) {
  const client = useClient();
  const [problem, setProblem] = useState<ApiProblem>();
  const remove = async (): Promise<void> => {
    setProblem(undefined);
    try {
      await client.delete('/shares/{id}', { path: { id: link.id } });
    } catch (error) {
      const refused = problemOf(error);
      if (refused.code !== 'not_found') return setProblem(refused);
    }
    toasts.show({ text: t('deleted'), tone: 'success' });
    onDone();
  };
  return (
    <Confirm
      title={t('deleteTitle')}
      confirmLabel={t('deleteLink')}
      cancelLabel={t('cancel')}
      isDanger
      onConfirm={remove}
      onCancel={onCancel}
    >
      <p>{t('deleteText', { name })}</p>
      {problem && <ProblemNote problem={problem} />}
    </Confirm>
  );
}
