import type { ComponentChildren } from 'preact';
import { Notice } from '../../design/badge.tsx';
import { kubectlEdit } from './kubectl-line.ts';
import { Kubectl } from './kubectl.tsx';

interface Props {
  /** What manages it, and that it is changed there. */
  readonly children: ComponentChildren;
  /** The resource's kind, as kubectl takes it. */
  readonly kind: string;
  /** `namespace/name` of the resource. */
  readonly reference: string | null;
}

/** Says that Kubernetes manages something, with the command that changes it. */
export function ManagedNote({ children, kind, reference }: Props) {
  return (
    <Notice>
      <p>{children}</p>
      {reference !== null && <Kubectl line={kubectlEdit(kind, reference)} />}
    </Notice>
  );
}
