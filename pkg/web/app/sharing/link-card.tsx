import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Share } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { IconButton } from '../../design/icon-button.tsx';
import { Menu } from '../../design/menu.tsx';
import { QrCode } from '../../design/qr-code.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/sharing.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { copyLink } from './copy-link.ts';
import { DeleteLink } from './delete-link.tsx';
import { DeadNote, downloadsInWords, endInWords, modeInWords } from './link-facts.tsx';
import { LinkForm } from './link-form.tsx';
import { linkMenu } from './link-menu.ts';
import { nameOf, resourceOf } from './link-resource.ts';

interface Props {
  readonly link: Share;
  /** It was just made: its button to copy gets the focus. */
  readonly isNew: boolean;
  readonly onChange: (link: Share) => void;
  readonly onDelete: () => void;
}

/** A link of a file or folder: its address, its terms, and what can be done with it. */
export function LinkCard({ link, isNew, onChange, onDelete }: Props) {
  const client = useClient();
  const [shown, setShown] = useState<'form' | 'qr' | 'delete'>();
  const [problem, setProblem] = useState<ApiProblem>();
  const now = new Date();
  const card = useRef<HTMLLIElement>(null);
  /** The focus returns to the menu, from which the form came. */
  const hide = (): void => {
    card.current?.querySelector<HTMLElement>('[aria-haspopup]')?.focus();
    setShown(undefined);
  };
  const setActive = (is_active: boolean): void => {
    setProblem(undefined);
    client
      .patch('/shares/{id}', { path: { id: link.id }, body: { is_active } })
      .then(onChange, (error: unknown) => setProblem(problemOf(error)));
  };
  return (
    <li ref={card} class="share-link">
      <div class="share-link-head">
        <Icon name="link" />
        <span class="share-link-what">{modeInWords(link)}</span>
        <Menu
          label={t('linkActions')}
          align="end"
          items={linkMenu({
            link,
            isQrShown: shown === 'qr',
            onChange: () => setShown('form'),
            onQr: () => setShown(shown === 'qr' ? undefined : 'qr'),
            onActive: setActive,
            onDelete: () => setShown('delete'),
          })}
          trigger={(props) => <IconButton icon="more" label={t('linkActions')} {...props} />}
        />
      </div>
      {link.url !== null && <Address url={link.url} isNew={isNew} />}
      {problem && <ProblemNote problem={problem} />}
      <ul role="list" class="share-terms">
        {link.has_password && (
          <li>
            <Icon name="lock" size="s" />
            {t('terms.password')}
          </li>
        )}
        <li>{endInWords(link.expires_at, now)}</li>
        {link.mode !== 'upload' && <li>{downloadsInWords(link)}</li>}
      </ul>
      <DeadNote link={link} now={now} />
      {shown === 'qr' && link.url !== null && <QrCode text={link.url} label={t('qrLabel')} />}
      {shown === 'form' && (
        <LinkForm
          of={resourceOf(link)}
          link={link}
          onCancel={hide}
          onDone={(changed) => {
            hide();
            onChange(changed);
          }}
        />
      )}
      {shown === 'delete' && (
        <DeleteLink link={link} name={nameOf(link)} onCancel={() => setShown(undefined)} onDone={onDelete} />
      )}
    </li>
  );
}

/** Where the browser does not let the page copy, the address is selected for Ctrl+C. */
function Address({ url, isNew }: { readonly url: string; readonly isNew: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isNew) box.current?.querySelector('button')?.focus();
  }, []);
  const [result, setResult] = useState<'copied' | 'failed'>();
  const copy = async (): Promise<void> => {
    const isCopied = await copyLink(url);
    setResult(isCopied ? 'copied' : 'failed');
    if (!isCopied) field.current?.select();
  };
  return (
    <div ref={box} class="share-address">
      <TextField
        label={t('linkAddress')}
        isLabelHidden
        value={url}
        onValue={() => undefined}
        readOnly
        inputRef={field}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button icon={result === 'copied' ? 'check' : 'copy'} onClick={() => void copy()}>
        {result === 'copied' ? t('copied') : t('copy')}
      </Button>
      {/* A toast says what was copied. */}
      <p role="status" class={result === 'failed' ? 'share-quiet' : 'c-hidden'}>
        {result === 'failed' && t('copyFailed')}
      </p>
    </div>
  );
}
