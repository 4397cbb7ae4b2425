import type { AuditEntry } from '../../../api/operations.generated.ts';
import { t } from '../../../text/audit.ts';
import { inDigits, timeInWords } from '../../../text/language.ts';
import { sizeInWords } from '../../size-in-words.ts';

/** The fields that an entry changed, with their old and new values. Of a secret the log says only that it changed. */
export const Changes = ({ changes }: Pick<AuditEntry, 'changes'>) => (
  <div class="admin-scroll">
    <table class="admin-table admin-table-text audit-changes" aria-label={t('changes')}>
      <thead>
        <tr>
          <th scope="col">{t('field')}</th>
          <th scope="col">{t('before')}</th>
          <th scope="col">{t('after')}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(changes).map(([field, { from, to }]) => (
          <tr key={field}>
            <th scope="row">
              <code>{field}</code>
            </th>
            {from === null && to === null ? (
              <td colSpan={2} class="admin-quiet">
                {t('secret')}
              </td>
            ) : (
              <>
                <td>{inWords(field, from)}</td>
                <td>{inWords(field, to)}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const IS_BYTES = /(^|_)(size|quota|bytes|used)$/;
const IS_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/;

/** Returns a value of any JSON as people read it. */
function inWords(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (typeof value === 'number') return IS_BYTES.test(field) ? sizeInWords(value) : inDigits(value);
  if (typeof value === 'string') return IS_TIME.test(value) ? timeInWords(value) : value;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || '–';
  return JSON.stringify(value);
}
