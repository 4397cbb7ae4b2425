import { degrees, PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from '@cantoo/pdf-lib';

const BLUE = rgb(0.1, 0.2, 0.5);

interface Column {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Breaks lines as a typesetter does, and gives the height that they take. */
function paragraph(page: PDFPage, font: PDFFont, text: string, { x, y, width }: Column, size = 11): number {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && font.widthOfTextAtSize(longer, size) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  for (const [index, line] of lines.entries()) page.drawText(line, { x, y: y - index * size * 1.3, size, font });
  return lines.length * size * 1.3;
}

const LEFT =
  'The teacher reads a book and the students listen. The library is open today, and many people come with their children. ' +
  'Today the school has a new course about history and science.';
const RIGHT =
  'The summary of the course is in the document. The students write a letter to the university and wait for the answer. ' +
  'They find the page with the questions.';
export const TABLE = [
  ['Name', 'Number', 'Price', 'Month'],
  ['Apples', '12', '3.50', 'January'],
  ['Bread', '7', '2.10', 'February'],
  ['Orange', '120', '14.00', 'March'],
] as const;

/**
 * A page of everything: a large heading, two columns, a table with and one without borders, a form; then a page that is turned,
 * and one on its side.
 */
export async function layoutPdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const [regular, bold, serif] = await Promise.all(
    [StandardFonts.Helvetica, StandardFonts.HelveticaBold, StandardFonts.TimesRoman].map((font) => document.embedFont(font)),
  );
  if (!regular || !bold || !serif) throw new Error('no fonts');
  const page = document.addPage([595, 842]);
  page.drawRectangle({ x: 0, y: 752, width: 595, height: 90, color: BLUE });
  page.drawText('The history of science', { x: 50, y: 785, size: 34, font: bold, color: rgb(1, 1, 1) });
  page.drawText('Introduction', { x: 50, y: 715, size: 18, font: bold, color: BLUE });
  paragraph(page, serif, LEFT, { x: 50, y: 690, width: 235 });
  paragraph(page, serif, RIGHT, { x: 310, y: 690, width: 235 });
  table(page, regular, bold, 560, true);
  table(page, regular, bold, 440, false);
  form(document, page, regular);
  const turned = document.addPage([595, 842]);
  turned.setRotation(degrees(90));
  turned.drawText('This page is on its side', { x: 80, y: 60, size: 24, font: bold, rotate: degrees(90) });
  turned.drawText('The students see the results of the exam.', { x: 130, y: 60, size: 12, font: regular, rotate: degrees(90) });
  const upright = document.addPage([595, 842]);
  upright.drawText('Chapter one', { x: 50, y: 760, size: 28, font: bold });
  upright.drawText('The street is long.', { x: 60, y: 400, size: 16, font: regular, rotate: degrees(45), color: rgb(0.8, 0, 0) });
  upright.drawText('2026 - 42 % - 3.14', { x: 50, y: 120, size: 12, font: serif });
  document.setTitle('The history of science');
  return document.save({ useObjectStreams: false });
}

function table(page: PDFPage, font: PDFFont, bold: PDFFont, top: number, hasBorders: boolean): void {
  const widths = [130, 90, 90, 130];
  for (const [row, cells] of TABLE.entries()) {
    let x = 50;
    for (const [column, cell] of cells.entries()) {
      const width = widths[column] ?? 0;
      const y = top - row * 20;
      if (hasBorders) page.drawRectangle({ x, y, width, height: 20, borderWidth: 0.7, borderColor: rgb(0.3, 0.3, 0.3) });
      page.drawText(cell, { x: x + 5, y: y + 6, size: 10, font: row === 0 ? bold : font });
      x += width;
    }
  }
}

function form(document: PDFDocument, page: PDFPage, font: PDFFont): void {
  const fields = document.getForm();
  page.drawText('First name', { x: 50, y: 320, size: 11, font });
  const name = fields.createTextField('name');
  name.setText('the good friend');
  name.addToPage(page, { x: 160, y: 312, width: 200, height: 22, font });
  page.drawText('Language', { x: 50, y: 285, size: 11, font });
  const language = fields.createDropdown('language');
  language.setOptions(['English', 'Spanish']);
  language.select('Spanish');
  language.addToPage(page, { x: 160, y: 277, width: 200, height: 22, font });
  fields.createButton('send').addToPage('Send', page, { x: 160, y: 235, width: 90, height: 26, font });
}
