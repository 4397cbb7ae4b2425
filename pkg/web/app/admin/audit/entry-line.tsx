import type { AuditEntry } from '../../../api/operations.generated.ts';
import { classes } from '../../../design/classes.ts';
import { Icon, type IconName } from '../../../design/icon.tsx';
import { t } from '../../../text/audit.ts';
import { locale, timeInWords } from '../../../text/language.ts';
import { kindInWords } from '../../jobs/job-in-words.ts';
import { Changes } from './changes.tsx';
import type { Filter } from './filter.ts';

interface Props {
  readonly entry: AuditEntry;
  readonly onFilter: (filter: Filter) => void;
}

/** The sign of an action, by its last word. */
const SIGNS: Readonly<Record<string, readonly [IconName, string]>> = {
  create: ['add', 'success'],
  upload: ['upload', 'success'],
  add_member: ['add', 'success'],
  admit: ['check', 'success'],
  restore: ['restore', 'info'],
  update: ['edit', 'info'],
  download: ['download', 'info'],
  delete: ['trash', 'warning'],
  purge: ['trash', 'danger'],
  fail: ['alert', 'danger'],
  refuse: ['close', 'warning'],
  cancel: ['close', 'warning'],
  remove_member: ['close', 'warning'],
  password_reset: ['key', 'warning'],
  end: ['sign-out', 'neutral'],
  run: ['play', 'neutral'],
  retry: ['refresh', 'neutral'],
  use: ['link', 'info'],
  adopt: ['copy', 'info'],
};

/** One entry: what was done, by whom and when. It opens to what changed and where the request came from. */
export function EntryLine({ entry, onFilter }: Props) {
  const { action, actor, target, at, ip } = entry;
  const [sign, tone] = action === 'session.create' ? (['key', 'neutral'] as const) : (SIGNS[action.split('.')[1] ?? ''] ?? OTHER);
  const who = nameOfActor(actor);
  // Of a session it is the browser, which has a long name and says little.
  const isNamed = target.name !== null && target.name !== who && target.type !== 'session';
  const time = new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(new Date(at));
  return (
    <li>
      <details class="audit-entry">
        <summary>
          <span class={classes('audit-sign', `c-tone-${tone}`)}>
            <Icon name={sign} size="s" />
          </span>
          <span class="audit-what">
            <span>
              {t(`action.${action}`)} {isNamed && <b class="audit-target">{nameOfTarget(target)}</b>}
            </span>
            <span class="admin-quiet">{who}</span>
          </span>
          <span class="audit-from admin-quiet">{ip}</span>
          <time class="admin-quiet" dateTime={at} title={timeInWords(at)}>
            {time}
          </time>
          <Icon name="chevron-down" size="s" />
        </summary>
        <Details entry={entry} who={who} onFilter={onFilter} />
      </details>
    </li>
  );
}

/** A job has no name but its kind. */
const nameOfTarget = ({ type, name }: AuditEntry['target']): string =>
  type === 'job' && name !== null ? kindInWords(name) : (name ?? '');

const OTHER = ['info', 'neutral'] as const;

function nameOfActor(actor: AuditEntry['actor']): string {
  if (!actor) return t('nobody');
  return 'system' in actor ? t('system') : actor.name || t('unnamed');
}

function Details({ entry, who, onFilter }: Props & { readonly who: string }) {
  const { actor, target, at, ip, request_id: request, changes } = entry;
  const about = (target.type === 'session' ? '' : nameOfTarget(target)) || target.id || '';
  return (
    <div class="audit-details">
      <dl class="audit-facts">
        <dt>{t('when')}</dt>
        <dd>{timeInWords(at)}</dd>
        {target.id !== null && (
          <>
            <dt>{t('id')}</dt>
            <dd>
              <code>{target.id}</code>
            </dd>
          </>
        )}
        {target.type === 'session' && target.name !== null && (
          <>
            <dt>{t('browser')}</dt>
            <dd>{target.name}</dd>
          </>
        )}
        {ip !== null && (
          <>
            <dt>{t('address')}</dt>
            <dd>{ip}</dd>
          </>
        )}
        {request !== null && (
          <>
            <dt>{t('request')}</dt>
            <dd>
              <code>{request}</code>
            </dd>
          </>
        )}
      </dl>
      {Object.keys(changes).length > 0 && <Changes changes={changes} />}
      <p class="audit-links">
        {actor && 'id' in actor && (
          <button type="button" class="admin-link" onClick={() => onFilter({ who: actor.id, whoName: actor.name })}>
            {t('allBy', { name: who })}
          </button>
        )}
        {target.id !== null && (
          <button
            type="button"
            class="admin-link"
            onClick={() => onFilter({ about: target.id ?? '', aboutName: about, aboutType: target.type })}
          >
            {t('allAbout', { name: about })}
          </button>
        )}
      </p>
    </div>
  );
}
