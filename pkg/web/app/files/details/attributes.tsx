import { useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';

/** The attributes of a file: names with values, which lists and searches of programs go by. `isFixed`: they are only shown. */
export function Attributes({ id, isFixed }: { readonly id: string; readonly isFixed: boolean }) {
  const client = useClient();
  const [isAdding, setAdding] = useState(false);
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<ApiProblem>();
  const { value, reload } = useLoaded(
    (signal) => client.get('/files/{id}/metadata', { path: { id }, query: { sort: 'key', limit: 200 }, signal }),
    [id],
  );
  const done = (): void => {
    setAdding(false);
    setProblem(undefined);
    setName('');
    setText('');
    reload();
  };
  const failed = (error: unknown): void => setProblem(problemOf(error));
  const add = (event: Event): void => {
    event.preventDefault();
    client.put('/files/{id}/metadata/{key}', { path: { id, key: name.trim() }, body: { value: text } }).then(done, failed);
  };
  const remove = (key: string): void =>
    void client.delete('/files/{id}/metadata/{key}', { path: { id, key } }).then(done, failed);

  return (
    <section class="files-section" aria-label={t('attributes')}>
      <h3>{t('attributes')}</h3>
      {problem && <ProblemNote problem={problem} />}
      {value && value.data.length > 0 && (
        <dl class="files-facts-list">
          {value.data.map(({ key, value: each }) => [
            <dt key={key}>{key}</dt>,
            <dd key={`${key} value`} class="files-attribute">
              {typeof each === 'string' ? each : JSON.stringify(each)}
              {!isFixed && (
                <IconButton icon="close" size="s" label={t('removeAttribute', { name: key })} onClick={() => remove(key)} />
              )}
            </dd>,
          ])}
        </dl>
      )}
      {isFixed ? null : isAdding ? (
        <form class="files-attribute-form" onSubmit={add}>
          <TextField
            label={t('attributeName')}
            value={name}
            onValue={setName}
            autocomplete="off"
            maxLength={100}
            autofocus
            required
          />
          <TextField label={t('attributeValue')} value={text} onValue={setText} autocomplete="off" />
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
