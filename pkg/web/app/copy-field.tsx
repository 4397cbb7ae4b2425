import { useRef, useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../text/shell.ts';
import './copy-field.css';

/** An address or a secret to hand on. Where the browser does not let the page copy, it is selected for Ctrl+C. */
export function CopyField({ label, value, hint }: { readonly label: string; readonly value: string; readonly hint?: string }) {
  const [isCopied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
    } catch {
      field.current?.select();
    }
  };
  return (
    <div class="copy-field">
      <TextField
        label={label}
        value={value}
        onValue={() => undefined}
        readOnly
        hint={hint}
        inputRef={field}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button icon={isCopied ? 'check' : 'copy'} title={label} onClick={() => void copy()}>
        {isCopied ? t('copied') : t('copy')}
      </Button>
    </div>
  );
}
