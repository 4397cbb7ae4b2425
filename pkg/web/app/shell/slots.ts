import type { ComponentType } from 'preact';
import { Observed } from '../../api/observed.ts';

/**
 * Places of the shell that other parts of the app fill, so that the shell need not load them:
 * - `search`: the field in the header, filled by the route that searches, while it is shown;
 * - `panel`: what every page shows in its corner, such as the uploads;
 * - `overlays`: what covers any page, such as the preview and the dialog that shares a file.
 */
export const slots = {
  search: new Observed<ComponentType | undefined>(undefined),
  panel: new Observed<ComponentType | undefined>(undefined),
  overlays: new Observed<readonly ComponentType[]>([]),
} as const;
