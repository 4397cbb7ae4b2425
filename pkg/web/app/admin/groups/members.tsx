import { useRef, useState } from 'preact/hooks';
import type { Group, GroupMember } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Avatar } from '../../../design/avatar.tsx';
import { Button } from '../../../design/button.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toasts.ts';
import { count, t } from '../../../text/groups.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { type Person, PersonPicker } from '../person-picker.tsx';

interface Props {
  readonly group: Group;
  readonly mayChange: boolean;
  readonly onChanged: () => void;
}

interface FailedChange {
  readonly problem: ApiProblem;
  /** Sends it once more. */
  readonly again: () => void;
}

/** Who is in a group. Somebody who was removed comes back by "Undo". */
export function Members({ group, mayChange, onChanged }: Props) {
  const client = useClient();
  const section = useRef<HTMLElement>(null);
  const [failed, setFailed] = useState<FailedChange>();
  const members = usePages(
    (cursor, signal) =>
      client.get('/groups/{id}/members', { path: { id: group.id }, query: { limit: 50, sort: 'name', cursor }, signal }),
    [group.id],
  );
  const change = async (work: () => Promise<unknown>, done: () => void): Promise<void> => {
    setFailed(undefined);
    try {
      await work();
      done();
    } catch (error) {
      setFailed({ problem: problemOf(error), again: () => void change(work, done) });
    }
    members.reload();
    onChanged();
  };
  const pathOf = (person: Person) => ({ path: { id: group.id, user_id: person.id } });
  const repeat = (): void => {
    // The button goes with its note.
    section.current?.querySelector('input')?.focus();
    failed?.again();
  };
  const add = (person: Person | undefined): void => {
    if (!person) return;
    void change(
      () => client.put('/groups/{id}/members/{user_id}', pathOf(person)),
      () => toasts.show({ text: t('added', { name: person.name }), tone: 'success' }),
    );
  };
  const remove = (person: Person): void =>
    void change(
      () => client.delete('/groups/{id}/members/{user_id}', pathOf(person)),
      () =>
        toasts.show({
          text: t('removed', { name: person.name }),
          action: { label: t('undo'), onSelect: () => add(person) },
        }),
    );
  return (
    <section ref={section} class="group-part" aria-labelledby="group-members">
      <header class="admin-head">
        <h2 id="group-members">{t('membersTitle')}</h2>
        <span class="admin-quiet">{count('members', group.member_count)}</span>
      </header>
      {mayChange && (
        <PersonPicker
          class="admin-search"
          label={t('addMember')}
          placeholder={t('addMemberHint')}
          isActiveOnly
          chosen={undefined}
          onChoose={add}
        />
      )}
      {failed && <ProblemNote problem={failed.problem} onRetry={repeat} />}
      {!failed && members.problem && <ProblemNote problem={members.problem} onRetry={members.more} />}
      {!members.items && !members.problem && <Skeleton kind="rows" label={t('loading')} />}
      {members.items?.length === 0 && <p role="status">{t('noMembers')}</p>}
      {members.items && members.items.length > 0 && (
        <EndlessList
          isMore={members.isMore}
          isLoading={members.isLoading}
          hasFailed={members.problem !== undefined}
          moreLabel={t('more')}
          onMore={members.more}
        >
          <ul role="list" class="admin-list">
            {members.items.map((member) => (
              <MemberLine key={member.user.id} member={member} onRemove={mayChange ? () => remove(member.user) : undefined} />
            ))}
          </ul>
        </EndlessList>
      )}
    </section>
  );
}

interface LineProps {
  readonly member: GroupMember;
  readonly onRemove: (() => void) | undefined;
}

const MemberLine = ({ member: { user, added_at }, onRemove }: LineProps) => (
  <li class="admin-line">
    <Avatar name={user.name} />
    <span class="admin-line-text">
      <span>{user.name}</span>
      <span class="admin-quiet">{user.email}</span>
    </span>
    <span class="admin-line-more admin-quiet">
      {t('since')} <DateTime value={added_at} />
    </span>
    {onRemove && (
      <Button kind="quiet" size="s" aria-label={t('removeOf', { name: user.name })} onClick={onRemove}>
        {t('remove')}
      </Button>
    )}
  </li>
);
