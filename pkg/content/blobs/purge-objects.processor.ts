import { processor } from '../../events/processor.ts';
import { PURGE_OBJECTS } from './objects.jobs.ts';

/** Deletes the objects of rows that are gone. An object that does not exist counts as deleted. */
export const purgeObjects = processor({
  job: PURGE_OBJECTS,
  create:
    () =>
    async ({ storage }, { keys }) => {
      const { objects } = await storage();
      await objects.delete(keys);
    },
});
