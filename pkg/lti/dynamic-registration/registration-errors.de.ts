/** The German sentence for each code, for an administrator of the LMS. */
export const REGISTRATION_ERRORS_DE = {
  link_unknown: 'Diesen Registrierungslink gibt es nicht. Bitten Sie um einen neuen.',
  link_expired: 'Dieser Registrierungslink ist abgelaufen. Bitten Sie um einen neuen.',
  link_used: 'Mit diesem Link wurde schon ein LMS registriert. Jedes LMS braucht einen eigenen.',
  link_busy: 'Mit diesem Link wird gerade ein LMS registriert. Sehen Sie in einer Minute noch einmal nach.',
  start_at_lms:
    'Diese Adresse registriert ein LMS. Fügen Sie sie im LMS dort ein, wo Tools dynamisch registriert werden; ' +
    'von Hand geöffnet bewirkt sie nichts.',
  form_invalid: 'Dieses Formular stammt nicht von dieser Seite oder ist älter als eine Stunde. Beginnen Sie im LMS neu.',
  registration_token_invalid: 'Das LMS hat ein Registrierungstoken gesendet, das nicht verwendbar ist.',
  configuration_address_refused: 'Die Adresse der Konfiguration des LMS ist keine, die dieser Dienst aufruft.',
  configuration_unreachable: 'Das LMS ist unter der Adresse seiner Konfiguration nicht erreichbar.',
  configuration_timeout: 'Das LMS hat seine Konfiguration nicht rechtzeitig gesendet.',
  configuration_redirected: 'Das LMS leitet die Adresse seiner Konfiguration weiter; Weiterleitungen wird nicht gefolgt.',
  configuration_refused: 'Das LMS hat seine Konfiguration nicht herausgegeben.',
  configuration_invalid: 'Was das LMS als Konfiguration gesendet hat, ist keine.',
  issuer_foreign: 'Der Aussteller, den die Konfiguration nennt, gehört nicht zu dem Host, der sie gesendet hat.',
  endpoint_refused: 'Die Konfiguration des LMS nennt eine Adresse, die dieser Dienst nicht aufruft.',
  platform_unsupported: 'Das LMS bietet nicht an, was dieser Dienst braucht.',
  issuer_conflict: 'Dieser Aussteller ist mit diesem Schlüsselsatz schon registriert, und mit anderen Adressen.',
  too_many_registrations: 'Zu viele Registrierungen warten auf den Betreiber dieses Dienstes.',
  registration_unreachable: 'Das LMS ist unter seiner Registrierungsadresse nicht erreichbar. Es wurde nichts registriert.',
  registration_unanswered:
    'Das LMS hat nicht geantwortet. Vielleicht hat es das Tool angelegt, das dann nicht nutzbar ist: ' +
    'Löschen Sie es dort, und registrieren Sie neu.',
  registration_token_refused: 'Das LMS hat sein Registrierungstoken nicht angenommen. Beginnen Sie im LMS neu.',
  registration_refused: 'Das LMS hat die Registrierung abgelehnt.',
  registration_answer_invalid:
    'Was das LMS geantwortet hat, ist keine Registrierung. Wird das Tool dort angezeigt, löschen Sie es, ' +
    'und registrieren Sie neu.',
  client_id_taken: 'Das LMS hat eine Client-ID vergeben, die für dieses LMS schon registriert ist.',
} as const;
