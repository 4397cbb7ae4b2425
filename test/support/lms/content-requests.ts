import type { FaceName } from '../../../pkg/local/demo/lms/faces.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';

/** A product's request for content in one of its flows, and the items that a tool may return. */
export interface ContentRequest {
  readonly face: FaceName;
  readonly where: string;
  readonly roles: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Types of items that may be given; whether several, and with a line item. */
  readonly offered: { readonly types: readonly string[]; readonly multiple: boolean; readonly line_items: boolean };
}

const LINK_MEDIA = 'application/vnd.ims.lti.v1.ltilink';
const TARGETS = ['iframe', 'window'];

/**
 * Sources: Moodle's mod/lti (links of tools alone, true and false as text), Canvas' documentation of its placements, Sakai's
 * SakaiBLTIUtil (its flows), ltijs 237 (Blackboard's `data`). What Brightspace sends is assumed.
 */
const REQUESTS: readonly ContentRequest[] = [
  {
    face: 'moodle',
    where: 'the activity chooser',
    roles: [INSTRUCTOR],
    settings: {
      accept_types: ['ltiResourceLink'],
      accept_presentation_document_targets: ['frame', 'iframe', 'window'],
      accept_copy_advice: 'false',
      accept_multiple: 'true',
      accept_unsigned: 'false',
      auto_create: 'false',
      can_confirm: 'false',
      title: '',
      text: '',
      data: undefined,
    },
    offered: { types: ['ltiResourceLink'], multiple: true, line_items: true },
  },
  {
    face: 'moodle',
    where: 'one activity that is edited',
    roles: [INSTRUCTOR],
    settings: { accept_types: ['ltiResourceLink'], accept_presentation_document_targets: ['frame'], accept_multiple: 'false' },
    offered: { types: ['ltiResourceLink'], multiple: false, line_items: true },
  },
  {
    face: 'canvas',
    where: 'assignment_selection',
    roles: [INSTRUCTOR],
    settings: {
      accept_types: ['ltiResourceLink'],
      accept_multiple: false,
      accept_media_types: LINK_MEDIA,
      auto_create: false,
      data: undefined,
    },
    offered: { types: ['ltiResourceLink'], multiple: false, line_items: true },
  },
  {
    face: 'canvas',
    where: 'editor_button',
    roles: [INSTRUCTOR],
    settings: {
      accept_types: ['link', 'file', 'html', 'ltiResourceLink', 'image'],
      accept_presentation_document_targets: ['embed', 'iframe', 'window'],
      accept_media_types: `image/*,text/html,${LINK_MEDIA},*/*`,
      accept_multiple: true,
    },
    offered: { types: ['ltiResourceLink', 'link', 'file', 'image'], multiple: true, line_items: true },
  },
  {
    face: 'canvas',
    where: 'homework_submission',
    roles: [LEARNER],
    settings: { accept_types: ['file'], accept_multiple: false, accept_media_types: '*/*' },
    offered: { types: ['file'], multiple: false, line_items: false },
  },
  {
    face: 'blackboard',
    where: 'the content tool',
    roles: [INSTRUCTOR],
    settings: {
      accept_types: ['link', 'file', 'html', 'ltiResourceLink', 'image'],
      accept_presentation_document_targets: ['iframe', 'window', 'embed'],
      accept_multiple: true,
      accept_lineitem: true,
      auto_create: false,
      data: '_48076_1::false::false::{"a b":"ü"}',
    },
    offered: { types: ['ltiResourceLink', 'link', 'file', 'image'], multiple: true, line_items: true },
  },
  {
    face: 'brightspace',
    where: 'quicklinks',
    roles: [INSTRUCTOR],
    settings: {
      accept_types: ['ltiResourceLink', 'link', 'html', 'image'],
      accept_multiple: true,
      accept_lineitem: true,
      data: 'c6b1'.repeat(200),
    },
    offered: { types: ['ltiResourceLink', 'link', 'image'], multiple: true, line_items: true },
  },
  {
    face: 'sakai',
    where: 'lessons',
    roles: [INSTRUCTOR],
    settings: { accept_types: ['ltiResourceLink'], accept_multiple: true, accept_lineitem: true },
    offered: { types: ['ltiResourceLink'], multiple: true, line_items: true },
  },
  {
    face: 'sakai',
    where: 'the editor',
    roles: [INSTRUCTOR],
    settings: { accept_types: ['link', 'html', 'ltiResourceLink'], accept_multiple: false, accept_lineitem: false },
    offered: { types: ['ltiResourceLink', 'link'], multiple: false, line_items: false },
  },
  {
    face: 'sakai',
    where: 'an import of a cartridge',
    roles: [INSTRUCTOR],
    settings: { accept_types: ['file'], accept_multiple: false, accept_media_types: 'application/vnd.ims.imsccv1p1, text/plain' },
    offered: { types: ['file'], multiple: false, line_items: false },
  },
];

export const CONTENT_REQUESTS = REQUESTS.map((request) => ({
  ...request,
  settings: { accept_presentation_document_targets: TARGETS, ...request.settings },
}));
