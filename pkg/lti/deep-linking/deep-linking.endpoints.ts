import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { AnswerView, NewAnswer, PickerView } from './deep-linking.schema.ts';
import type { Pickers } from './pickers.service.ts';

const ONE = { tag: 'lti', caller: 'user', params: z.object({ launch_id: Uuid }) } as const;

/** Endpoints for the session of a launch that asks for content. */
export const deepLinkingEndpoints = (pickers: Pickers): Endpoint[] => [
  endpoint({
    ...ONE,
    method: 'get',
    path: '/lti/launches/{launch_id}/picker',
    operationId: 'getPicker',
    summary: 'Show what the LMS asks for in a launch for deep linking; for the session of that launch',
    replies: { 200: PickerView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => reply(200, await pickers.show(actor, params.launch_id)),
  }),
  endpoint({
    ...ONE,
    method: 'post',
    path: '/lti/launches/{launch_id}/picker/answer',
    operationId: 'answerPicker',
    summary: 'Sign the answer that the browser takes to the LMS; an empty list of items means that the person cancelled',
    body: NewAnswer,
    replies: { 201: AnswerView },
    errors: [
      'not_found',
      'forbidden',
      'item_refused',
      'share_policy',
      'answer_too_long',
      'picker_answered',
      'registration_inactive',
    ],
    idempotent: 'sealed',
    handle: async ({ actor, params, body }) => reply(201, await pickers.answer(actor, params.launch_id, body)),
  }),
];
