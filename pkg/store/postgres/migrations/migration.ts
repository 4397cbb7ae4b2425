/**
 * One ordered change of a schema, with its way back: the statements of each, separated by semicolons. Names sort in the order
 * they run. Nobody edits a merged one (migrations.test.ts): a later one corrects its mistakes.
 */
export interface Migration<Context> {
  readonly name: string;
  /**
   * Says in words which data `down` deletes for good; docs/operate/upgrade.md lists them. Left out: after `down` and `up` every
   * row is as it was. The tests run both with rows in every table and fail where this is wrong.
   */
  readonly loses?: string;
  up(context: Context): string;
  down(context: Context): string;
}
