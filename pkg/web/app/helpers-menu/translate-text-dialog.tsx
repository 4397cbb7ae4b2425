import { useState } from 'preact/hooks';
import { Notice } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Progress } from '../../design/progress.tsx';
import { TextArea } from '../../design/text-field.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/helpers.ts';
import { useSubmit } from '../use-submit.ts';
import { type Entry, stemLength } from '../files/entry.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { HelperDialog } from './helper-dialog.tsx';
import { LanguageField } from './language-field.tsx';
import { piecesOf } from './pieces.ts';
import { useLanguages } from './use-languages.ts';

interface Props {
  readonly entry: Entry;
  readonly onClose: () => void;
}

interface Part {
  readonly part: number;
  readonly parts: number;
}

/** Translates a text piece by piece, shows it, and saves it beside the file: a translation by a machine is to be read first. */
export function TranslateTextDialog({ entry, onClose }: Props) {
  const client = useClient();
  const { isAvailable, languages, isLoading, target, setTarget } = useLanguages('translate');
  const [isTried, setTried] = useState(false);
  const [isText, setText] = useState(true);
  const [part, setPart] = useState<Part>();
  const [translation, setTranslation] = useState<string>();
  const tag = target.trim();

  const translating = useSubmit(async () => {
    setText(true);
    const reply = await client.send('GET', '/files/{id}/download', { path: { id: entry.id } });
    const text = textIn(await reply.arrayBuffer());
    if (text === undefined) return setText(false);
    const pieces = piecesOf(text);
    let translated = '';
    for (const [at, piece] of pieces.entries()) {
      setPart({ part: at + 1, parts: pieces.length });
      const isBlank = piece.trim() === '';
      translated += isBlank ? piece : (await client.post('/translate', { body: { text: piece, target_language: tag } })).text;
    }
    setTranslation(translated);
  });
  const saving = useSubmit(async (keyOf) => {
    const stem = stemLength(entry);
    const form = new FormData();
    if (entry.parentId != null) form.append('folder_id', entry.parentId);
    form.append('on_conflict', 'rename');
    const name = `${entry.name.slice(0, stem)} (${tag})${entry.name.slice(stem)}`;
    form.append('file', new Blob([translation ?? ''], { type: entry.mimeType ?? 'text/plain' }), name);
    const idempotencyKey = keyOf(JSON.stringify([name, translation]));
    await client.send('POST', '/files', { body: form, idempotencyKey });
    toasts.show({ text: t('saved', { name }), tone: 'success' });
    onClose();
  });

  const title = t('translateTitle', { name: entry.name });
  if (translation !== undefined)
    return (
      <Dialog
        title={title}
        closeLabel={t('close')}
        size="l"
        onClose={onClose}
        isHeld={saving.isBusy}
        onSubmit={saving.submit}
        actions={
          <Button kind="primary" type="submit" isBusy={saving.isBusy}>
            {t('save')}
          </Button>
        }
      >
        {saving.problem && <ProblemNote problem={saving.problem} />}
        <TextArea
          label={t('translation')}
          hint={t('translationHint')}
          value={translation}
          onValue={setTranslation}
          rows={14}
          lang={tag}
          autofocus
        />
      </Dialog>
    );
  const ofTarget = translating.problem?.ofField('target_language');
  return (
    <HelperDialog
      title={title}
      doLabel={t('translateDo')}
      isBusy={translating.isBusy}
      problem={ofTarget === undefined ? translating.problem : undefined}
      onSubmit={() => {
        setTried(true);
        if (tag !== '') translating.submit();
      }}
      onClose={onClose}
    >
      {isAvailable === false && <Notice tone="warning">{t('unavailableText')}</Notice>}
      {!isText && <Notice tone="danger">{t('notText')}</Notice>}
      <LanguageField
        value={target}
        onValue={setTarget}
        languages={languages}
        isLoading={isLoading}
        error={isTried && tag === '' ? t('targetMissing') : ofTarget}
      />
      {translating.isBusy && part && part.parts > 1 && (
        <Progress label={t('translation')} value={part.part - 1} max={part.parts} valueText={t('translating', { ...part })} />
      )}
    </HelperDialog>
  );
}

function textIn(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
