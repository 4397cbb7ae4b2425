import * as documents from './documents.ts';
import { leafCells, photo, PHOTOS, routeMap } from './pictures.ts';
import type { Answer, TenantClient } from './tenant-client.ts';
import { bells } from './tone.ts';

/** The folders and files that other sample data refer to. */
export interface SampleFiles {
  readonly course: Answer;
  readonly handIn: Answer;
  readonly thesis: Answer;
  readonly lectures: readonly Answer[];
  readonly photos: readonly Answer[];
  readonly thesisText: Answer;
}

/** Gives the administrator folders and files of many kinds. */
export async function addFiles(admin: TenantClient): Promise<SampleFiles> {
  const folder = (name: string, parent?: Answer): Promise<Answer> =>
    admin.post('/folders', { name, ...(parent === undefined ? {} : { parent_id: parent.id }) });
  const [course, thesis, plans] = await Promise.all([folder('Field course'), folder('Thesis'), folder('Plans and letters')]);
  const [photosFolder, lecturesFolder, handIn] = await Promise.all([
    folder('Photos', course),
    folder('Lectures', course),
    folder('Hand in here', course),
    folder('Figures', thesis),
  ]);

  const photos = addPhotos(admin, photosFolder.id);
  const lectures = addLectures(admin, lecturesFolder.id);
  const texts: readonly [string, string | Buffer, string | undefined][] = [
    ['Read me first.md', documents.README, course.id],
    ['Packing list.md', documents.PACKING, course.id],
    ['Timetable.csv', documents.TIMETABLE, course.id],
    ['Species of the shore.csv', documents.SPECIES, course.id],
    ['Groups.md', documents.GROUPS, course.id],
    ['Hostel and bus.pdf', documents.hostel(), course.id],
    ['Safety at the shore.pdf', documents.safety(), course.id],
    ['Bells of the harbour.wav', bells(), course.id],
    ['analysis.py', documents.ANALYSIS, thesis.id],
    ['measurements.csv', documents.measurements(), thesis.id],
    ['references.bib', documents.REFERENCES, thesis.id],
    ['Figure 1.svg', documents.figure(), thesis.id],
    ['Budget 2027.csv', documents.budget(), plans.id],
    ['Letter to the families.pdf', documents.letter(), undefined],
    ['Ideas for next year.txt', 'More boats. Fewer sandwiches.\n', undefined],
    ['Old timetable.txt', 'Replaced by the field course.\n', undefined],
  ];
  const uploaded = await Promise.all(texts.map(([name, content, folderId]) => admin.upload(name, content, folderId)));
  const old = uploaded.at(-1);
  await admin.delete(`/files/${old.id}`);
  // Each text is the next version of the same file.
  let thesisText: Answer;
  for (const text of documents.THESIS) thesisText = await admin.upload('Salt, wind and light.md', text, thesis.id);
  return { course, handIn, thesis, thesisText, photos: await photos, lectures: await lectures };
}

async function addPhotos(admin: TenantClient, folderId: string): Promise<readonly Answer[]> {
  const sent: Promise<Answer>[] = [];
  const drawings: Readonly<Record<string, () => Promise<Buffer>>> = {
    'Route of the week.png': routeMap,
    'Leaf under the microscope.png': leafCells,
    ...Object.fromEntries(PHOTOS.map((name) => [name, () => photo(name)])),
  };
  // One is drawn while the ones before are sent.
  for (const [name, draw] of Object.entries(drawings)) {
    const upload = admin.upload(name, await draw(), folderId);
    upload.catch(() => undefined); // It may fail before the end of the drawings; what waits for all of them throws then.
    sent.push(upload);
  }
  return Promise.all(sent);
}

async function addLectures(admin: TenantClient, folderId: string): Promise<readonly Answer[]> {
  const pdfs = await documents.lectures(photo);
  return Promise.all(pdfs.map(([name, pdf]) => admin.upload(name, pdf, folderId)));
}
