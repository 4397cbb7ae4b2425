import type { LtiContext } from '../../api/operations.generated.ts';
import { Badge } from '../../design/badge.tsx';
import { t } from '../../text/courses.ts';

/** What the LMS offers in a course. */
export function Services({ course: { services } }: { readonly course: LtiContext }) {
  const offered = [
    services.roster && t('service.roster'),
    services.line_items !== null && t('service.lineItems'),
    services.scores && t('service.scores'),
  ].filter((name) => name !== false);
  if (offered.length === 0) return null;
  return (
    <ul role="list" class="courses-services" aria-label={t('offers')}>
      {offered.map((name) => (
        <li key={name}>
          <Badge>{name}</Badge>
        </li>
      ))}
    </ul>
  );
}
