import { useState } from 'preact/hooks';
import { IconButton } from '../../design/icon-button.tsx';
import { t } from '../../text/admin.ts';
import './kubectl.css';

/** A line for a shell, by which somebody changes what Kubernetes manages. */
export function Kubectl({ line }: { readonly line: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => void navigator.clipboard?.writeText(line).then(() => setCopied(true));
  return (
    <span class="kubectl">
      <code>{line}</code>
      <IconButton icon={isCopied ? 'check' : 'copy'} size="s" label={t('kubectlCopy')} onClick={copy} />
    </span>
  );
}
