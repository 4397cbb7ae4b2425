import type { ProblemCode } from '../api/error-catalogue.ts';

/** The German messages of a page for codes of the API, instead of the English sentences. */
export const PAGE_ERRORS_DE: Readonly<Partial<Record<ProblemCode, string>>> = {
  validation_failed: 'Die Anfrage ist ungültig.',
  not_found: 'Diese Seite gibt es nicht, oder sie ist für Sie nicht zugänglich.',
  request_timeout: 'Die Anfrage kam zu langsam an. Versuchen Sie es erneut.',
  payload_too_large: 'Die Anfrage ist größer, als dieser Dienst zulässt.',
  unsupported_media_type: 'Diese Adresse nimmt keine Inhalte dieses Typs an.',
  rate_limit_exceeded: 'Zu viele Anfragen. Versuchen Sie es gleich noch einmal.',
  too_many_transfers: 'Es sind zu viele Dateien unterwegs. Versuchen Sie es gleich noch einmal.',
  too_many_attempts: 'Zu viele falsche Passwörter. Versuchen Sie es später erneut.',
  internal: 'Im Dienst ist ein interner Fehler aufgetreten. Versuchen Sie es erneut.',
  unavailable: 'Der Dienst ist ausgelastet oder wird gerade erneuert. Versuchen Sie es gleich noch einmal.',
  suspended: 'Dieser Dienst ist vorübergehend gesperrt. Fragen Sie seine Administration.',
  quota_exceeded: 'Das ist mehr, als dieser Dienst zulässt. Fragen Sie seine Administration.',
};
