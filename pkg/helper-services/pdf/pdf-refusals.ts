import { Problem } from '../../api/problem.ts';
import type { PdfMarks } from './pdf-scan.ts';

/** Throws `pdf_encrypted`, and `pdf_signed` unless it is forced. */
export function requireConvertible({ isSigned, isEncrypted }: PdfMarks, force: boolean): void {
  if (isEncrypted) throw new Problem('pdf_encrypted');
  if (isSigned && !force) throw new Problem('pdf_signed');
}
