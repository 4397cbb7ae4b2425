import type { Feature } from '../feature/feature.ts';
import { granteeEndpoints } from './grantees.endpoints.ts';
import { Grantees } from './grantees.service.ts';
import { groupEndpoints } from './groups.endpoints.ts';
import { Groups } from './groups.service.ts';
import { memberEndpoints } from './members.endpoints.ts';
import { Members } from './members.service.ts';

/**
 * Groups of people, to whom files and folders can be granted. Launches make the groups of courses
 * (pkg/lti/launch/course-sync.ts).
 */
export const groups: Feature = {
  name: 'groups',
  create: (services) => ({
    endpoints: [
      ...groupEndpoints(new Groups(services)),
      ...memberEndpoints(new Members(services)),
      ...granteeEndpoints(new Grantees(services)),
    ],
  }),
};
