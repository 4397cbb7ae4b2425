import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../text/helpers.ts';
import { ProblemNote } from '../problem-note.tsx';

interface Props {
  readonly title: string;
  readonly doLabel: string;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | undefined;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly size?: 'm' | 'l';
}

/** Asks how something is done with a file, then does it. */
export const HelperDialog = ({ title, doLabel, isBusy, problem, onSubmit, onClose, children, size = 'm' }: Props) => (
  <Dialog
    title={title}
    closeLabel={t('cancel')}
    size={size}
    onClose={onClose}
    isHeld={isBusy}
    onSubmit={onSubmit}
    actions={
      <>
        <Button onClick={onClose} disabled={isBusy}>
          {t('cancel')}
        </Button>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {doLabel}
        </Button>
      </>
    }
  >
    {problem && <ProblemNote problem={problem} />}
    {children}
  </Dialog>
);
