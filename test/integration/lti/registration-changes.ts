import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import type { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { type OtherAnswer, RegistrationDesk } from '../../support/lms/registration-desk.ts';

export const PLATFORM = 'https://purl.imsglobal.org/spec/lti-platform-configuration';
export const TOOL = 'https://purl.imsglobal.org/spec/lti-tool-configuration';

type Json = Record<string, unknown>;
/** Changes a document, or returns what is sent instead of it. */
export type Change = (json: Json) => OtherAnswer | undefined | void;

export const set =
  (name: string, value: unknown): Change =>
  (json) =>
    void (json[name] = value);
export const without =
  (name: string): Change =>
  (json) =>
    void delete json[name];
export const inPlatform =
  (change: (platform: Json) => void): Change =>
  (json) => {
    change(json[PLATFORM] as Json);
  };
export const inTool =
  (change: (tool: Json) => void): Change =>
  (json) => {
    change(json[TOOL] as Json);
  };
export const instead =
  (answer: OtherAnswer): Change =>
  () =>
    answer;

/** The registration of an LMS whose configuration or answer is changed. */
export function changedDesk(
  lms: Lms,
  { configuration, answer }: { configuration?: Change; answer?: Change } = {},
): RegistrationDesk {
  const desk = new RegistrationDesk(lms, FACES.sakai);
  if (configuration) desk.configuration = (json) => configuration(json) || undefined;
  if (answer) desk.answer = (json) => answer(json) || undefined;
  return desk;
}
