export interface PdfOptions {
  readonly text?: string;
  /** Bytes of padding, in a stream. */
  readonly padding?: number;
  readonly isSigned?: boolean;
  readonly isEncrypted?: boolean;
}

/**
 * A PDF of one page with its cross-reference table. Signed or encrypted ones have what says so, and no true signature or cipher.
 */
export function pdf({ text = 'hello', padding = 0, isSigned = false, isEncrypted = false }: PdfOptions = {}): Buffer {
  const content = `BT /F1 24 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R${isSigned ? ' /AcroForm << /SigFlags 3 /Fields [6 0 R] >>' : ''} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...(isSigned
      ? [`<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /ByteRange [0 100 200 50] /Contents <00> >>`]
      : []),
    ...(isEncrypted ? ['<< /Filter /Standard /V 2 /R 3 /O (o) /U (u) /P -4 >>'] : []),
    ...(padding > 0 ? [`<< /Length ${padding} >>\nstream\n${' '.repeat(padding)}\nendstream`] : []),
  ];
  let body = '%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n';
  const offsets = objects.map((object, at) => {
    const offset = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const encrypt = isEncrypted ? ` /Encrypt ${6 + Number(isSigned)} 0 R /ID [<00> <00>]` : '';
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R${encrypt} >>`;
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  return Buffer.from(`${body}${table}trailer\n${trailer}\nstartxref\n${body.length}\n%%EOF\n`, 'latin1');
}
