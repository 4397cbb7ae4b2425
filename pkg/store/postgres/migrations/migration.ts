/**
 * One ordered change of a schema, with its way back: the statements of each, separated by semicolons. Names sort in the order
 * they run. Nobody edits one that is merged (migrations.test.ts): what it got wrong, a later one corrects.
 */
export interface Migration<Context> {
  readonly name: string;
  /**
   * What `down` deletes for good, in words; docs/operate/upgrade.md lists it. Left out: after `down` and `up` every row is as it
   * was. The tests of the migrations take both with rows in every table and fail where this is wrong.
   */
  readonly loses?: string;
  up(context: Context): string;
  down(context: Context): string;
}
