import type { Texts } from './language.ts';
import type { en } from './problems.en.ts';

/** The German texts for the codes of the API, for two codes of the page itself, and for the id of a request. */
export const de: Texts<typeof en> = {
  request: 'Anfrage',
  'request.copy': 'Kopieren',
  'request.copyLabel': 'Kopieren: Kennung der Anfrage',
  'request.copied': 'Kopiert',
  'request.selected': 'Ausgewählt: Drücken Sie Strg+C, auf einem Mac ⌘C',

  'problem.unknown':
    'Die Anfrage ist fehlgeschlagen. Versuchen Sie es erneut; hilft das nicht, nennen Sie der Administration die Kennung unten.',
  'problem.page_failed': 'Die Seite ist durch einen internen Fehler ausgefallen. Laden Sie sie neu.',
  'problem.unreachable': 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung, und versuchen Sie es erneut.',
  'problem.validation_failed': 'Der Dienst nimmt das nicht an. Prüfen Sie Ihre Eingaben.',
  'problem.unauthenticated': 'Ihre Sitzung ist beendet. Melden Sie sich erneut an.',
  'problem.invalid_credentials': 'E-Mail-Adresse oder Passwort ist falsch.',
  'problem.invalid_reset_token':
    'Dieser Link funktioniert nicht mehr: Er wurde benutzt oder ist älter als 24 Stunden. Bitten Sie um einen neuen.',
  'problem.session_expired': 'Ihre Sitzung ist beendet. Melden Sie sich erneut an.',
  'problem.forbidden': 'Dazu fehlt Ihnen die Berechtigung. Fragen Sie die Person, der es gehört, oder die Administration.',
  'problem.managed': 'Eine Kubernetes-Ressource oder ein LMS verwaltet dies. Ändern Sie es dort.',
  'problem.share_policy': 'Die Regeln dieses Dienstes lassen das für Links nicht zu. Fragen Sie die Administration.',
  'problem.not_found': 'Das gibt es nicht mehr, oder es ist für Sie nicht zugänglich.',
  'problem.request_timeout': 'Die Anfrage kam zu langsam an. Prüfen Sie Ihre Verbindung, und versuchen Sie es erneut.',
  'problem.name_conflict': 'Diesen Namen gibt es schon. Wählen Sie einen anderen.',
  'problem.conflict': 'Inzwischen wurde dies anderswo geändert. Versuchen Sie es erneut.',
  'problem.precondition_failed': 'Inzwischen wurde dies anderswo geändert. Laden Sie es neu, bevor Sie es ändern.',
  'problem.payload_too_large': 'Das ist größer, als dieser Dienst zulässt.',
  'problem.idempotency_key_reused':
    'Dies wurde schon mit anderem Inhalt gesendet. Sehen Sie nach, was das geändert hat, und versuchen Sie es dann erneut.',
  'problem.quota_exceeded': 'Der Speicherplatz ist belegt. Löschen Sie Dateien, oder bitten Sie die Administration um mehr.',
  'problem.rate_limit_exceeded': 'Zu viele Anfragen. Versuchen Sie es in {seconds} s erneut.',
  'problem.too_many_attempts': 'Zu viele falsche Passwörter. Versuchen Sie es in {seconds} s erneut.',
  'problem.too_many_transfers': 'Es sind zu viele Dateien unterwegs. Versuchen Sie es gleich noch einmal.',
  'problem.upload_expired': 'Dieser Upload wurde vor zu langer Zeit begonnen. Wählen Sie die Datei erneut aus.',
  'problem.archive_too_large': 'Dieser Ordner ist zu groß für ein Archiv. Laden Sie seine Ordner einzeln herunter.',
  'problem.archive_refused': 'Dieses Archiv ist beschädigt, feindselig oder zu groß. Nichts davon wurde gespeichert.',
  'problem.pdf_signed': 'Diese PDF-Datei ist signiert. Die Änderung würde ihre Signaturen ungültig machen.',
  'problem.pdf_encrypted': 'Diese PDF-Datei ist verschlüsselt. Entfernen Sie ihr Passwort, und laden Sie sie erneut hoch.',
  'problem.unsupported_media_type': 'Mit dieser Art von Datei geht das nicht.',
  'problem.value_type_mismatch': 'Der Wert hat einen anderen Typ als erwartet.',
  'problem.address_refused':
    'Diese Adresse liegt in einem privaten Netz. Geben Sie eine an, die aus dem Internet erreichbar ist.',
  'problem.registration_inactive': 'Die Registrierung dieses LMS ist nicht aktiv. Fragen Sie die Administration.',
  'problem.lms_service_missing': 'Das LMS bietet dies in diesem Kurs nicht an.',
  'problem.lms_refused': 'Das LMS hat dies abgelehnt.',
  'problem.lms_failed': 'Das LMS hat einen Fehler gemeldet oder unbrauchbar geantwortet. Versuchen Sie es später erneut.',
  'problem.lms_unavailable': 'Das LMS ist nicht erreichbar. Versuchen Sie es später erneut.',
  'problem.lms_timeout': 'Das LMS hat nicht rechtzeitig geantwortet. Sehen Sie dort nach, ob es etwas geändert hat.',
  'problem.helper_not_configured': 'Diesen Hilfsdienst gibt es hier nicht.',
  'problem.helper_rejected': 'Der Hilfsdienst nimmt diese Datei nicht an.',
  'problem.helper_unavailable': 'Der Hilfsdienst antwortet nicht. Versuchen Sie es später erneut.',
  'problem.unavailable': 'Der Dienst ist ausgelastet oder wird gerade erneuert. Versuchen Sie es gleich noch einmal.',
  'problem.suspended': 'Dieser Dienst ist vorübergehend gesperrt. Fragen Sie seine Administration.',
  'problem.internal': 'Im Dienst ist ein interner Fehler aufgetreten. Versuchen Sie es erneut.',
};
