import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Grantee, Permission } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { t } from '../../text/sharing.ts';
import type { Entry } from '../files/entry.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import type { Loaded } from '../use-loaded.ts';
import { accessRows, type Level } from './access-rows.ts';
import { AccessRow } from './access-row.tsx';
import { GrantQueue } from './grant-queue.ts';
import { GranteeSearch } from './grantee-search.tsx';
import { type GrantTerms, grantsOf } from './grants.ts';
import { levelOptions } from './level-options.ts';
import { MorePeople } from './more-people.tsx';
import type { WhoHasAccess } from './read-access.ts';

interface Props {
  readonly entry: Entry;
  readonly access: Loaded<WhoHasAccess>;
  /** Reads more of those who have access. */
  readonly onMore: () => void;
}

/** Who has access and why. Grants are given, changed and taken back here. */
export function PeopleSection({ entry, access: { value, problem: failed, isLoading, reload }, onMore }: Props) {
  const client = useClient();
  const grants = grantsOf(client, entry);
  const [level, setLevel] = useState<Level>('read');
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const [problem, setProblem] = useState<ApiProblem>();
  const [said, setSaid] = useState('');
  const [removed, setRemoved] = useState<{ readonly grant: Permission; readonly name: string }>();

  const [queue] = useState(() => new GrantQueue());
  /** What is being changed of grants, by their ids: the list shows it at once. */
  const [changing, setChanging] = useState<ReadonlyMap<string, GrantTerms>>(new Map());

  const status = useRef<HTMLParagraphElement>(null);
  const section = useRef<HTMLElement>(null);
  // The row of what was removed goes with its menu, which had the focus.
  useLayoutEffect(() => status.current?.querySelector('button')?.focus(), [removed]);

  const change = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    setProblem(undefined);
    setRemoved(undefined);
    setSaid('');
    try {
      await work();
      setSaid(done);
    } catch (error) {
      setSaid('');
      setProblem(problemOf(error));
    }
    reload();
  };
  const changeGrant = async (grant: Permission, wanted: GrantTerms): Promise<void> => {
    const terms = { ...changing.get(grant.id), ...wanted };
    setChanging((before) => new Map([...before, [grant.id, terms]]));
    try {
      await queue.run(grant, (now) => grants.change(now, wanted));
    } finally {
      // A later change shows what it makes of this one.
      setChanging((before) => new Map([...before].filter(([, one]) => one !== terms)));
    }
  };
  const add = ({ type, id, name }: Grantee): void => {
    setNames(new Map([...names, [id, name]]));
    void change(() => grants.give(type === 'user' ? { user_id: id } : { group_id: id }, level), t('given', { name }));
  };
  const remove = async (grant: Permission, name: string): Promise<void> => {
    await change(
      async () => {
        await queue.run(grant, async (now) => {
          await grants.takeBack(now);
          setRemoved({ grant: now, name });
          return undefined;
        });
        setNames(new Map([...names, [grant.user_id ?? grant.group_id ?? '', name]]));
      },
      t('takenBack', { name }),
    );
  };
  const shown = value?.grants.map((grant) => ({ ...queue.latest(grant), ...changing.get(grant.id) }));
  const rows = value && accessRows(value.people, shown ?? [], names);

  return (
    <section ref={section} class="share-section" aria-labelledby="share-people">
      <h3 id="share-people">{t('people')}</h3>
      <div class="share-add">
        <GranteeSearch onChoose={add} taken={new Set(rows?.filter(({ kind }) => kind !== 'inherited').map(({ id }) => id))} />
        <Select label={t('levelOfNew')} isLabelHidden value={level} onValue={setLevel} options={levelOptions()} />
      </div>
      {problem && <ProblemNote problem={problem} />}
      {failed && <ProblemNote problem={failed} onRetry={reload} />}
      {!value && !failed && <Skeleton label={t('loading')} />}
      <p ref={status} role="status" class={removed ? 'share-removed' : 'c-hidden'}>
        {said}
        {removed && (
          <Button
            kind="quiet"
            size="s"
            onClick={() => {
              section.current?.querySelector('input')?.focus();
              void change(() => grants.giveAgain(removed.grant), t('given', { name: removed.name }));
            }}
          >
            {t('undo')}
          </Button>
        )}
      </p>
      {rows && (
        <ul role="list" class="share-people">
          {rows.map((row) => (
            <AccessRow
              key={`${row.kind} ${row.id}`}
              row={row}
              onChange={(grant, terms, name) => change(() => changeGrant(grant, terms), t('changed', { name }))}
              onRemove={remove}
            />
          ))}
        </ul>
      )}
      {rows && <MorePeople loaded={rows.length} isMore={value.isMore} isLoading={isLoading} onMore={onMore} />}
    </section>
  );
}
