import { etagOf } from '../../api/etag.ts';
import type { GradeView } from './grades.schema.ts';
import type { GradeRow } from './grades.sql.ts';

export const presentGrade = (grade: GradeRow): GradeView => ({
  id: grade.uuid,
  launch_id: grade.lineItemId === null ? grade.launchId : null,
  line_item_id: grade.lineItemId,
  user_id: grade.userId,
  score: grade.score,
  score_maximum: grade.scoreMaximum,
  comment: grade.comment,
  timestamp: grade.timestamp.toISOString(),
  status: grade.status,
  reason: grade.reason,
  attempts: grade.attempts,
  submitted_at: grade.submittedAt?.toISOString() ?? null,
  updated_at: grade.updatedAt.toISOString(),
  etag: etagOf('grade', grade.uuid, grade.revision),
});
