import sequencer from '@jest/test-sequencer';
import { beginLanes } from './jest/end-of-lanes.ts';

/** The class itself: the package's types describe its CommonJS form. */
const TestSequencer = sequencer as unknown as typeof sequencer.default;
type Sort = InstanceType<typeof TestSequencer>['sort'];

/**
 * The order of jest's test files: the longest begin first, and unit tests, most of which take milliseconds, come last, so that no
 * file runs alone at the end. Files that mostly wait stand between those that mostly compute, so that both CPUs have work. Those
 * of the e2e lane come early: its platform, with a server for each tenant, ends with the last of them (jest/end-of-lanes.ts).
 * Jest itself would go by the size of the files. `make test` prints the slowest files at its end; a new one that takes over 20 s
 * belongs here.
 */
export const LONGEST = [
  'test/e2e/cli.test.ts',
  'test/e2e/folder.test.ts',
  'test/integration/operator/scale.test.ts',
  'test/e2e/browser/every-page.test.ts',
  'test/integration/operator/hostile-stores.test.ts',
  'test/integration/worker/grades.test.ts',
  'pkg/helpers/pdf/optimise/optimiser.test.ts',
  'test/e2e/browser/german-pages.test.ts',
  'test/integration/operator/faults.test.ts',
  'test/e2e/tenant.test.ts',
  'test/integration/operator/neighbours.test.ts',
  'test/integration/operator/backup.test.ts',
  'test/integration/worker/grades-faults.test.ts',
  'test/e2e/browser/hostile-names.test.ts',
  'test/integration/operator/moves.test.ts',
  'test/integration/operator/backup-trust.test.ts',
  'test/e2e/browser/administration-services.test.ts',
  'test/integration/worker/export-attacks.test.ts',
  'test/e2e/browser/uploads-resume.test.ts',
  'test/e2e/browser/uploads-many.test.ts',
  'test/e2e/browser/accessibility.test.ts',
  'test/e2e/browser/accessibility-tree.test.ts',
  'test/e2e/browser/files.test.ts',
  'test/e2e/browser/uploads-answers.test.ts',
  'test/e2e/browser/files-and-jobs.test.ts',
  'test/e2e/browser/arrange-files.test.ts',
  'test/e2e/browser/administration.test.ts',
  'test/e2e/browser/keyboard-tour.test.ts',
  'test/e2e/browser/sharing.test.ts',
  'test/e2e/browser/session.test.ts',
  'test/e2e/browser/by-kubernetes.test.ts',
  'test/e2e/browser/firefox.test.ts',
  'test/e2e/browser/keyboard-administration.test.ts',
  'test/e2e/browser/work-on-files.test.ts',
  'test/integration/content/faults.test.ts',
  'test/integration/worker/exports-interrupted.test.ts',
  'test/e2e/browser/launch.test.ts',
  'test/e2e/isolation.test.ts',
  'test/integration/imports/interrupted.test.ts',
  'test/e2e/browser/lms-course.test.ts',
  'test/e2e/browser/picker.test.ts',
  'test/faults/fairness.test.ts',
  'test/integration/worker/work.test.ts',
  'test/e2e/browser/keyboard-changes.test.ts',
  'test/e2e/browser/grades.test.ts',
  'test/e2e/browser/cookies.test.ts',
  'test/e2e/metrics.test.ts',
  'pkg/helpers/pdf/translate/pdf-translator.test.ts',
  'test/integration/content/races.test.ts',
  'test/integration/worker/webhooks-ours.test.ts',
  'test/integration/chart/install.test.ts',
  'test/integration/worker/outages.test.ts',
  'test/integration/operator/backup-turns.test.ts',
  'test/integration/imports/archives.test.ts',
  'test/integration/web/app-files.test.ts',
  'test/integration/audit/line-items.test.ts',
  'test/integration/operator/registration-requests.test.ts',
  'test/integration/web/reference.test.ts',
  'test/integration/worker/schedules-elsewhere.test.ts',
  'test/integration/operator/reclaim.test.ts',
  'test/faults/changes.test.ts',
  'test/faults/soak.test.ts',
  'test/faults/cancel.test.ts',
  'test/integration/store/outage.test.ts',
  'test/integration/operator/resealing.test.ts',
  'test/integration/worker/exports.test.ts',
  'pkg/helpers/pdf/hostile.test.ts',
  'test/integration/worker/webhooks-receivers.test.ts',
  'test/integration/worker/integrity.test.ts',
  'test/integration/operator/webhook-health.test.ts',
  'test/integration/operator/frozen-move.test.ts',
  'test/integration/worker/webhook-replays.test.ts',
  'test/integration/worker/schedules.test.ts',
  'test/integration/imports/attacks.test.ts',
  'test/integration/content/archive-ranges.test.ts',
  'test/faults/imports.test.ts',
  'test/integration/worker/rosters.test.ts',
  'test/integration/operator/deployment-status.test.ts',
  'test/integration/content/folder-archives.test.ts',
  'test/integration/worker/scheduled-exports.test.ts',
  'test/integration/web/app-preview-leaks.test.ts',
  'test/integration/web/app-session.test.ts',
  'test/integration/web/app-shortcuts.test.ts',
  'test/integration/web/app-batch-progress.test.ts',
  'test/integration/web/app-upload-old-browser.test.ts',
  'test/integration/web/app-session-renewal.test.ts',
  'test/integration/web/app-search-filters.test.ts',
  'test/integration/web/app-path.test.ts',
  'test/integration/web/app-upload-rows.test.ts',
  'test/integration/store/isolation-postgres.test.ts',
  'test/integration/worker/batch-copy.test.ts',
  'test/faults/exports.test.ts',
  'test/integration/kube/reflector.test.ts',
  'test/integration/operator/hosts.test.ts',
  'test/integration/operator/secret-line-ends.test.ts',
  'test/integration/worker/deaf-queues.test.ts',
  'test/integration/operator/operator-settings.test.ts',
  'test/integration/store/objects.test.ts',
  'test/integration/server/fuzz.test.ts',
  'test/integration/content/model.test.ts',
  'test/integration/content/model-jobs.test.ts',
  'test/integration/local/interrupted-run.test.ts',
  'test/integration/server/operations.test.ts',
  'test/integration/operator/deletion.test.ts',
  'test/integration/server/limits.test.ts',
  'test/integration/operator/children.test.ts',
  'test/integration/worker/tasks.test.ts',
  'test/integration/operator/storage-locations.test.ts',
  'test/integration/server/hostile-clients.test.ts',
  'test/integration/content/stalled-uploads.test.ts',
  'test/integration/image.test.ts',
  'test/integration/operator/tenant-scoped.test.ts',
  // The unit tests that take seconds.
  'pkg/kube/leader.test.ts',
  'hack/test-run.test.ts',
];

const LAST_OF_E2E = LONGEST.findLastIndex((file) => file.startsWith('test/e2e/'));

/**
 * The position of a file in LONGEST. Other files of the e2e lane come with its last one there, others on real back ends after
 * LONGEST, and unit tests last.
 */
const rank = (path: string): number => {
  const at = LONGEST.findIndex((file) => path.endsWith(`/${file}`));
  if (at >= 0) return at;
  if (path.includes('/test/e2e/')) return LAST_OF_E2E + 0.5;
  return /\/test\/(faults|integration)\//.test(path) ? LONGEST.length : LONGEST.length + 1;
};

/** The files of LONGEST first, in its order, and unit tests last; within these groups the files keep their order. */
export const longestFirst = <T extends { readonly path: string }>(tests: readonly T[]): T[] =>
  tests.toSorted((a, b) => rank(a.path) - rank(b.path));

export default class LongestFirst extends TestSequencer {
  override async sort(...args: Parameters<Sort>): Promise<Awaited<ReturnType<Sort>>> {
    const tests = longestFirst(await super.sort(...args));
    beginLanes(tests);
    return tests;
  }
}
