import { useEffect, useRef, useState } from 'preact/hooks';
import { newId } from '../../api/new-id.ts';
import type { LtiContext, LtiMember } from '../../api/operations.generated.ts';
import { isAbort } from '../../api/problem.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { announce } from '../../design/live-region.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { TextField } from '../../design/text-field.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/courses.ts';
import { failureToast } from '../failure-toast.ts';
import { followJob } from '../jobs/follow-job.ts';
import { ProblemNote } from '../problem-note.tsx';
import { errorText } from '../problem-text.ts';
import { useClient } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useSettled } from '../use-settled.ts';

const ROLES = ['instructor', 'learner'] as const;

interface Props {
  readonly course: LtiContext;
  readonly onChange: () => void;
}

/** The people of a course, whether they have launched or not. */
export function Roster({ course, onChange }: Props) {
  const client = useClient();
  const [query, setQuery] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number] | ''>('');
  const asked = useSettled(query.trim());
  const path = { id: course.id };
  const list = usePages(
    (cursor, signal) =>
      client.get('/lti/contexts/{id}/members', {
        path,
        query: { limit: 100, sort: 'name', cursor, role: role || undefined, q: asked || undefined },
        signal,
      }),
    [course.id, role, asked],
  );
  const { isBusy, sync } = useSync(course.id, () => {
    list.reload();
    onChange();
  });
  return (
    <div class="courses-section">
      <div class="courses-tools">
        <TextField
          label={t('search')}
          type="search"
          icon="search"
          isLabelHidden
          placeholder={t('search')}
          value={query}
          onValue={setQuery}
        />
        <Select
          label={t('role')}
          isLabelHidden
          value={role}
          onValue={setRole}
          options={[{ value: '', label: t('role.all') }, ...ROLES.map((value) => ({ value, label: t(`role.${value}`) }))]}
        />
        {course.services.roster && (
          <Button icon="refresh" isBusy={isBusy} onClick={sync}>
            {t('sync')}
          </Button>
        )}
      </div>
      {!course.services.roster && <p class="courses-quiet">{t('noRoster')}</p>}
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('peopleNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <div class="courses-scroll" role="region" aria-label={t('tab.people')} tabIndex={0}>
            <table class="courses-table" aria-label={t('tab.people')}>
              <thead>
                <tr>
                  <th scope="col">{t('name')}</th>
                  <th scope="col">{t('role')}</th>
                  <th scope="col">{t('source')}</th>
                  <th scope="col">{t('lastLaunch')}</th>
                </tr>
              </thead>
              <tbody>
                {list.items.map((member) => (
                  <Person key={member.lms_user_id} member={member} />
                ))}
              </tbody>
            </table>
          </div>
        </EndlessList>
      )}
    </div>
  );
}

function Person({ member }: { readonly member: LtiMember }) {
  const { user, name, email, lms_user_id, role, status, source, last_launch_at } = member;
  const shown = name ?? user?.name;
  return (
    <tr>
      <th scope="row">
        <div class="courses-person">
          <Avatar name={shown ?? lms_user_id} />
          <div>
            <div>{shown ?? t('nameless')}</div>
            <div class="courses-quiet">{email ?? lms_user_id}</div>
          </div>
        </div>
      </th>
      <td>
        <span class="courses-services">
          <Badge tone={role === 'instructor' ? 'accent' : 'neutral'}>{t(`role.${role}`)}</Badge>
          {status === 'inactive' && <Badge tone="warning">{t('left')}</Badge>}
        </span>
      </td>
      <td data-label={t('source')}>{t(`source.${source}`)}</td>
      <td data-label={t('lastLaunch')}>{last_launch_at === null ? t('never') : <DateTime value={last_launch_at} />}</td>
    </tr>
  );
}

/** Has the roster read by the server, and says what came of it. */
function useSync(id: string, onDone: () => void): { readonly isBusy: boolean; readonly sync: () => void } {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  const sync = async (): Promise<void> => {
    setBusy(true);
    announce(t('syncing'));
    try {
      const job = await client.post('/lti/contexts/{id}/members/sync', { path: { id }, idempotencyKey: newId() });
      const ended = await followJob(client, job.id, () => undefined, gone.current.signal);
      if (ended.error) toasts.show({ text: t('syncFailed', { reason: errorText(ended.error) }), tone: 'danger' });
      else if (ended.kind === 'sync_roster' && ended.result) {
        const { members, added, changed, removed } = ended.result;
        toasts.show({ text: t('rosterRead', { members, added, changed, removed }), tone: 'success' });
      }
      onDone();
    } catch (error) {
      if (gone.current.signal.aborted || isAbort(error)) return;
      failureToast(error);
    }
    setBusy(false);
  };
  return { isBusy, sync: () => void sync() };
}
