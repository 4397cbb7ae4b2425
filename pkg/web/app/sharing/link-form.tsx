import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { KeyOfContent } from '../../api/change-keys.ts';
import type { Share } from '../../api/operations.generated.ts';
import { problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Checkbox, RadioGroup } from '../../design/checkbox.tsx';
import type { FieldProps } from '../../design/field.tsx';
import { hasHalfTyped } from '../../design/half-typed.ts';
import { pageLocale } from '../../design/measures.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../text/sharing.ts';
import { useSubmit } from '../use-submit.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { type LinkDraft, type LinkRules, draftOf, faultsOf, termsOf, underRules } from './link-draft.ts';
import { dayOf, latestEnd } from './link-terms.ts';
import { suggestedPassword } from './suggested-password.ts';
import './link-form.css';

interface Props {
  /** The file or folder that a new link is of. */
  readonly of: { readonly type: 'file' | 'folder'; readonly id: string };
  /** The link that is to be changed; undefined: a new one. */
  readonly link?: Share | undefined;
  readonly onDone: (link: Share) => void;
  readonly onCancel: () => void;
}

/** The terms of a new link, or of one that is changed. What the rules of the tenant demand is said before it is refused. */
export function LinkForm({ of, link, onDone, onCancel }: Props) {
  const client = useClient();
  const me = useMe();
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  const rules = me.limits.share_links;
  const [now] = useState(() => new Date());
  const [typed, setTyped] = useState(() => draftOf(link, rules, now));
  const draft = underRules(typed, link, rules);
  const [isTried, setTried] = useState(false);
  const change = (changes: Partial<LinkDraft>): void => setTyped({ ...typed, ...changes });
  const faults = faultsOf(draft, link, rules, now);
  const { isBusy, problem, submit } = useSubmit((idempotencyKey) =>
    save(idempotencyKey).catch((error: unknown) => {
      // The rules have changed since the page was loaded: the form asks for what they demand now.
      if (problemOf(error).code === 'share_policy') me.reload();
      throw error;
    }),
  );
  const save = async (idempotencyKey: KeyOfContent): Promise<void> => {
    const terms = termsOf(draft, link, rules, now);
    if (link) {
      // Without its entity tag, which changes with each download: only what somebody changed here is sent.
      const isSame = Object.keys(terms).length === 0;
      onDone(isSame ? link : await client.patch('/shares/{id}', { path: { id: link.id }, body: terms }));
      return;
    }
    const { password, ...others } = terms;
    const body = { ...others, ...(password ? { password } : {}) };
    const path = { id: of.id };
    onDone(
      of.type === 'file'
        ? await client.post('/files/{id}/share', { path, body, idempotencyKey })
        : await client.post('/folders/{id}/share', { path, body: { ...body, mode: draft.mode }, idempotencyKey }),
    );
  };
  const isPolicy = problem?.code === 'share_policy';
  const isOfField = ['password', 'expires_at', 'max_downloads'].some((field) => problem?.ofField(field) !== undefined);

  return (
    <form
      ref={form}
      class="share-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!hasHalfTyped(event.currentTarget) && Object.keys(faults).length === 0) submit();
      }}
    >
      {problem && (isPolicy || !isOfField) && <ProblemNote problem={problem} text={isPolicy ? t('policyChanged') : undefined} />}
      {of.type === 'folder' && !link && <ModeField draft={draft} rules={rules} onChange={change} />}
      <PasswordPart
        draft={draft}
        rules={rules}
        isKept={link?.has_password ?? false}
        error={isTried && faults.password ? t(`fault.${faults.password}`) : problem?.ofField('password')}
        onChange={change}
      />
      <div class="share-form-pair">
        <EndField
          draft={draft}
          latest={latestEnd(link ? new Date(link.created_at) : now, rules.max_days)}
          today={dayOf(now)}
          fault={isTried ? faults.day : undefined}
          refused={problem?.ofField('expires_at')}
          onChange={change}
        />
        {draft.mode !== 'upload' && (
          <TextField
            label={t('downloads')}
            type="number"
            min={1}
            inputmode="numeric"
            value={draft.downloads}
            onValue={(downloads) => change({ downloads })}
            hint={t('downloadsHint')}
            error={isTried && faults.downloads ? t(`fault.${faults.downloads}`) : problem?.ofField('max_downloads')}
          />
        )}
      </div>
      <div class="share-form-actions">
        <Button onClick={onCancel} disabled={isBusy}>
          {t('cancel')}
        </Button>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {link ? t('save') : t('makeLink')}
        </Button>
      </div>
    </form>
  );
}

interface PartProps {
  readonly draft: LinkDraft;
  readonly onChange: (changes: Partial<LinkDraft>) => void;
}

function ModeField({ draft, rules, onChange }: PartProps & { readonly rules: LinkRules }) {
  if (!rules.folder_uploads) return <p class="share-quiet">{t('modeNoUploads')}</p>;
  return (
    <RadioGroup
      legend={t('mode')}
      value={draft.mode}
      onValue={(mode) => onChange({ mode })}
      options={[
        { value: 'download', label: t('mode.download') },
        { value: 'upload', label: t('mode.upload'), hint: t('mode.uploadHint') },
        { value: 'both', label: t('mode.both') },
      ]}
    />
  );
}

interface PasswordProps extends PartProps {
  readonly rules: LinkRules;
  /** The link has a password, which stays while the field is empty. */
  readonly isKept: boolean;
  readonly error: FieldProps['error'];
}

/** The password is shown: whoever makes the link has to hand it on. */
function PasswordPart({ draft, rules, isKept, error, onChange }: PasswordProps) {
  const suggest = (): void =>
    onChange({ password: suggestedPassword((length) => crypto.getRandomValues(new Uint8Array(length))) });
  return (
    <div class="share-password">
      {rules.password_required ? (
        <p class="share-quiet">{t('passwordRule')}</p>
      ) : (
        <Checkbox
          label={t('needsPassword')}
          isChecked={draft.hasPassword}
          onChange={(hasPassword) => onChange({ hasPassword })}
        />
      )}
      {draft.hasPassword && (
        <>
          <TextField
            label={t('password')}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={draft.password}
            onValue={(password) => onChange({ password })}
            hint={isKept ? t('passwordKeep') : t('passwordHint')}
            error={error}
          />
          <Button size="s" icon="key" onClick={suggest}>
            {t('suggest')}
          </Button>
        </>
      )}
    </div>
  );
}

interface EndProps extends PartProps {
  readonly latest: Date | null;
  readonly today: string;
  readonly fault: 'endsMissing' | 'endsLate' | 'endsPast' | undefined;
  readonly refused: FieldProps['error'];
}

function EndField({ draft, latest, today, fault, refused, onChange }: EndProps) {
  const date = latest === null ? '' : new Intl.DateTimeFormat(pageLocale(), { dateStyle: 'long' }).format(latest);
  return (
    <TextField
      label={t('ends')}
      type="date"
      min={today}
      {...(latest === null ? {} : { max: dayOf(latest) })}
      value={draft.day}
      onValue={(day) => onChange({ day })}
      hint={latest === null ? t('endsHint') : t('endsRule', { date })}
      error={fault ? t(`fault.${fault}`, { date }) : refused}
    />
  );
}
