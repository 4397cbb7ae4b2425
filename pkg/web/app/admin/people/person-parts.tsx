import type { User } from '../../../api/operations.generated.ts';
import { Icon } from '../../../design/icon.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t as audit } from '../../../text/audit.ts';
import { t } from '../../../text/person.ts';
import { useClient, useMay } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { PageProblem } from '../page-problem.tsx';
import { nameOf } from '../person-name.ts';

const GROUPS = 50;
const ACTIONS = 8;

/** The groups that a person is in. */
export function PersonGroups({ user }: { readonly user: User }) {
  const client = useClient();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/groups', { query: { member: user.id, sort: 'name', limit: GROUPS }, signal }),
    [user.id],
  );
  return (
    <section class="person-part" aria-labelledby="person-groups">
      <h2 id="person-groups">{t('groups')}</h2>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton label={t('loading')} />}
      {value?.data.length === 0 && <p class="admin-quiet">{t('noGroups')}</p>}
      {value && value.data.length > 0 && (
        <ul role="list" class="person-lines">
          {value.data.map(({ id, name, kind }) => (
            <li key={id}>
              <Icon name={kind === 'course' ? 'course' : 'people'} />
              <a class="c-name" href={`/admin/groups/${id}`}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What a person did last, for those who may read the audit log. */
export function PersonActivity({ user }: { readonly user: User }) {
  const client = useClient();
  const mayRead = useMay('read:audit');
  const { value, problem, reload } = useLoaded(
    async (signal) => (mayRead ? client.get('/audit', { query: { actor: user.id, limit: ACTIONS }, signal }) : undefined),
    [user.id, mayRead],
  );
  if (!mayRead) return null;
  return (
    <section class="person-part" aria-labelledby="person-activity">
      <h2 id="person-activity">{t('activity')}</h2>
      {problem && <PageProblem problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton label={t('loading')} />}
      {value?.data.length === 0 && <p class="admin-quiet">{t('noActivity')}</p>}
      {value && value.data.length > 0 && (
        <>
          <ol role="list" class="person-lines">
            {value.data.map(({ id, at, action, target }) => (
              <li key={id} class="person-action">
                <span>
                  {audit(`action.${action}`)} {target.name !== null && target.name !== nameOf(user) && <b>{target.name}</b>}
                </span>
                <span class="admin-quiet">
                  <DateTime value={at} />
                </span>
              </li>
            ))}
          </ol>
          <p>
            <a href={`/admin/audit?${new URLSearchParams({ who: user.id, whoName: nameOf(user) })}`}>{t('allActivity')}</a>
          </p>
        </>
      )}
    </section>
  );
}
