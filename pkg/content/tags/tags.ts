import type { Feature } from '../../feature/feature.ts';
import { Files } from '../model/files/files.service.ts';
import { tagEndpoints } from './tags.endpoints.ts';
import { Tags } from './tags.service.ts';
import { copyTagsOfFiles } from './tags.sql.ts';

/**
 * Tags of people on files. When a user is deleted, the new owner of their files gets the tags that are on them; so it stands
 * before the feature that hands the files over.
 */
export const tags: Feature = {
  name: 'tags',
  create: (services) => ({
    endpoints: tagEndpoints(new Tags({ ...services, files: new Files(services) })),
    onUserRemoved: async (tx, { id, newOwner }) => {
      if (newOwner) await copyTagsOfFiles(tx, id, newOwner.id);
    },
  }),
};
