import type { ComponentChildren } from 'preact';
import { Notice } from '../../design/badge.tsx';
import './managed-note.css';

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
  const [namespace, name] = reference?.split('/') ?? [];
  return (
    <Notice>
      <p>{children}</p>
      {name !== undefined && (
        <p>
          <code class="managed-command">
            kubectl edit {kind} -n {namespace} {name}
          </code>
        </p>
      )}
    </Notice>
  );
}
