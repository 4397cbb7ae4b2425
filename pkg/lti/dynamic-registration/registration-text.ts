import type { PageLanguage } from '../../api/page-language.ts';

const en = {
  offerTitle: 'Register this service at your LMS',
  nothingYet: 'Nothing has been registered yet.',
  lms: 'The LMS',
  tool: 'The tool',
  name: 'Name',
  issuer: 'Issuer',
  signInAt: 'People sign in at',
  product: 'Product',
  willInCourses: 'In courses, people will',
  willAsk: 'The tool will ask to',
  willSend: 'The LMS will send of a person',
  register: 'Register',
  outcomeTitle: 'The LMS is registered',
  registered: '{issuer} is registered. It works here in a few seconds.',
  leftToDo: 'What is left to do at the LMS',
  canInCourses: 'In courses, people can',
  may: 'The tool may',
  mayNot: 'The LMS did not allow the tool to',
  back: 'Back to the LMS',
  noDeployment:
    'The LMS names its deployment at the first launch. That launch is refused as deployment_waiting; ' +
    'an administrator here then admits the deployment.',
  sharedClientId:
    'Another LMS with this issuer gave the same client id. Launches work once an administrator here has listed the ' +
    'deployments of both LMSs (spec.deploymentIds); send them the deployment id that your LMS shows.',
  lineItems: 'make and change columns of the grade book',
  lineItemsRead: 'read the columns of the grade book',
  results: 'read grades',
  scores: 'send grades',
  roster: 'read who is in a course',
  notices: 'receive notices of copied courses',
  links: 'open links in courses',
  picking: 'pick files for a course',
  reviews: 'review what was handed in',
};

/** The texts of the registration pages. */
export type RegistrationText = Readonly<Record<keyof typeof en, string>>;

const de: RegistrationText = {
  offerTitle: 'Diesen Dienst in Ihrem LMS registrieren',
  nothingYet: 'Bisher wurde nichts registriert.',
  lms: 'Das LMS',
  tool: 'Das Tool',
  name: 'Name',
  issuer: 'Aussteller',
  signInAt: 'Anmeldung bei',
  product: 'Produkt',
  willInCourses: 'In Kursen werden Personen',
  willAsk: 'Das Tool bittet um die Erlaubnis,',
  willSend: 'Das LMS sendet über eine Person',
  register: 'Registrieren',
  outcomeTitle: 'Das LMS ist registriert',
  registered: '{issuer} ist registriert und wird hier in wenigen Sekunden nutzbar.',
  leftToDo: 'Was im LMS noch zu tun ist',
  canInCourses: 'In Kursen können Personen',
  may: 'Das Tool darf',
  mayNot: 'Das LMS erlaubt dem Tool nicht,',
  back: 'Zurück zum LMS',
  noDeployment:
    'Das LMS nennt sein Deployment beim ersten Aufruf. Dieser wird mit deployment_waiting abgelehnt; ' +
    'danach lässt jemand aus der hiesigen Administration das Deployment zu.',
  sharedClientId:
    'Ein anderes LMS mit diesem Aussteller hat dieselbe Client-ID vergeben. ' +
    'Aufrufe gelingen, sobald jemand aus der hiesigen Administration die Deployments beider LMS eingetragen hat ' +
    '(spec.deploymentIds); senden Sie die ID des Deployments, die Ihr LMS anzeigt.',
  lineItems: 'Spalten der Bewertungsübersicht anzulegen und zu ändern',
  lineItemsRead: 'die Spalten der Bewertungsübersicht zu lesen',
  results: 'Bewertungen zu lesen',
  scores: 'Bewertungen zu senden',
  roster: 'zu lesen, wer in einem Kurs ist',
  notices: 'Mitteilungen über kopierte Kurse zu empfangen',
  links: 'Links in Kursen öffnen',
  picking: 'Dateien für einen Kurs auswählen',
  reviews: 'Abgaben ansehen',
};

/** „Das Tool darf“ takes the verbs without their „zu“. */
const DE_MAY: Partial<RegistrationText> = {
  lineItems: 'Spalten der Bewertungsübersicht anlegen und ändern',
  lineItemsRead: 'die Spalten der Bewertungsübersicht lesen',
  results: 'Bewertungen lesen',
  scores: 'Bewertungen senden',
  roster: 'lesen, wer in einem Kurs ist',
  notices: 'Mitteilungen über kopierte Kurse empfangen',
};

export const REGISTRATION_TEXT: Readonly<Record<PageLanguage, RegistrationText>> = { en, de };
/** The texts for what the tool may do. */
export const REGISTRATION_TEXT_MAY: Readonly<Record<PageLanguage, RegistrationText>> = { en, de: { ...de, ...DE_MAY } };
