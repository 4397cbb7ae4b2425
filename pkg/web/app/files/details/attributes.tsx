import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../api/client.ts';
import type { NewMetadata } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { toasts } from '../../../design/toasts.ts';
import { t } from '../../../text/files.ts';
import { failureToast } from '../../failure-toast.ts';
import { onLeave } from '../../leaving.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';

type Attribute = ReplyOf<'GET /files/{id}/metadata'>['data'][number];

/** What somebody has begun to add, by file: it stays while they look at another one. */
const drafts = new Map<string, { readonly name: string; readonly text: string }>();
onLeave(() => drafts.clear());

/** The attributes of a file: names with values, which lists and searches of programs go by. `isFixed`: they are only shown. */
export function Attributes({ id, isFixed }: { readonly id: string; readonly isFixed: boolean }) {
  const client = useClient();
  const [{ name, text }, setDraft] = useState(() => drafts.get(id) ?? { name: '', text: '' });
  const [isAdding, setAdding] = useState(drafts.has(id));
  const change = (draft: { readonly name: string; readonly text: string }): void => {
    if (draft.name === '' && draft.text === '') drafts.delete(id);
    else drafts.set(id, draft);
    setDraft(draft);
  };
  const [problem, setProblem] = useState<ApiProblem>();
  const { value, reload } = useLoaded(
    (signal) => client.get('/files/{id}/metadata', { path: { id }, query: { sort: 'key', limit: 200 }, signal }),
    [id],
  );
  const done = (): void => {
    setAdding(false);
    setProblem(undefined);
    change({ name: '', text: '' });
    reload();
  };
  const failed = (error: unknown): void => setProblem(problemOf(error));
  const add = (event: Event): void => {
    event.preventDefault();
    client.put('/files/{id}/metadata/{key}', { path: { id, key: name.trim() }, body: { value: text } }).then(done, failed);
  };
  const remove = ({ key, value: former, value_type }: Attribute): void => {
    const path = { id, key };
    const body = { value: former as NewMetadata['value'], value_type };
    const undo = (): void => void client.put('/files/{id}/metadata/{key}', { path, body }).then(reload, failureToast);
    client.delete('/files/{id}/metadata/{key}', { path }).then(() => {
      toasts.show({ text: t('attributeRemoved', { name: key }), action: { label: t('undo'), onSelect: undo } });
      setProblem(undefined);
      reload();
    }, failed);
  };

  return (
    <section class="files-section" aria-label={t('attributes')}>
      <h3>{t('attributes')}</h3>
      {problem && <ProblemNote problem={problem} />}
      {value && value.data.length > 0 && (
        <dl class="files-facts-list">
          {value.data.map((each) => [
            <dt key={each.key}>{each.key}</dt>,
            <dd key={`${each.key} value`} class="files-attribute">
              {typeof each.value === 'string' ? each.value : JSON.stringify(each.value)}
              {!isFixed && (
                <IconButton icon="close" size="s" label={t('removeAttribute', { name: each.key })} onClick={() => remove(each)} />
              )}
            </dd>,
          ])}
        </dl>
      )}
      {isFixed ? null : isAdding ? (
        <form class="files-attribute-form" onSubmit={add} onReset={() => drafts.delete(id)}>
          <TextField
            label={t('attributeName')}
            value={name}
            onValue={(value) => change({ name: value, text })}
            autocomplete="off"
            maxLength={100}
            autofocus
            required
          />
          <TextField
            label={t('attributeValue')}
            value={text}
            onValue={(value) => change({ name, text: value })}
            autocomplete="off"
          />
          <Button type="submit" size="s" disabled={name.trim() === ''}>
            {t('addAttribute')}
          </Button>
        </form>
      ) : (
        <p>
          <Button size="s" icon="add" onClick={() => setAdding(true)}>
            {t('addAttribute')}
          </Button>
        </p>
      )}
    </section>
  );
}
