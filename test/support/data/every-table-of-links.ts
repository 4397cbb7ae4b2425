import { EARLIER, LATER, type Rows, uuid } from './row-values.ts';

/**
 * Links in courses, notices and what is handed in, and the links by which LMSs register themselves; in their place among the
 * tenant's tables.
 */
export const ROWS_OF_LINKS: Rows = {
  lti_link_keys: [{ id: 'a1b2c3', secret: 'sealed' }],
  lti_resource_links: [
    {
      tool_id: 1,
      deployment_id: 'deployment',
      context_id: 'course',
      resource_link_id: 'link',
      title: 'Week 1',
      target: 'v1.a1b2c3.payload.mac',
      fault: 'target_altered',
      key_id: 'a1b2c3',
      file_uuid: uuid(46),
      maker_uuid: uuid(2),
      course_uuid: uuid(20),
      updated_at: EARLIER,
    },
  ],
  lti_course_copies: [{ platform_id: 1, context_id: 'course', origin_id: 'course of last year', adopted_by: 3 }],
  lti_notices: [
    {
      tool_id: 1,
      notice_id: 'notice',
      type: 'LtiContextCopyNotice',
      deployment_id: 'deployment',
      context_id: 'course',
      origin_ids: ['course of last year'],
      noticed_at: EARLIER,
      processed_at: EARLIER,
    },
  ],
  lti_notice_handlers: [
    {
      tool_id: 1,
      deployment_id: 'deployment',
      service_url: 'https://lms.example.org/notices',
      registered_at: EARLIER,
      reason: 'busy',
      attempts: 1,
      hello_at: EARLIER,
    },
  ],
  lti_hand_ins: [
    {
      uuid: uuid(47),
      tool_id: 1,
      platform_id: 1,
      deployment_id: 'deployment',
      context_id: 'course',
      resource_link_id: 'link',
      line_item: 'https://lms.example.org/items/1',
      user_id: 3,
      file_uuid: uuid(46),
      version: 2,
      handed_in_at: EARLIER,
    },
  ],
  lti_deployment_requests: [
    { tool_id: 1, platform_id: 1, deployment_id: 'waiting', launches: 2, first_seen_at: EARLIER, last_seen_at: LATER },
    { tool_id: 1, platform_id: 1, deployment_id: 'refused', status: 'refused', decided_at: EARLIER },
  ],
  lti_registration_links: [
    {
      uuid: uuid(46),
      token_hash: 'c'.repeat(64),
      platform_name: 'LMS',
      created_by: 2,
      expires_at: LATER,
      attempt: uuid(47),
      attempt_until: LATER,
    },
    {
      uuid: uuid(48),
      token_hash: 'd'.repeat(64),
      expires_at: LATER,
      used_at: EARLIER,
      issuer: 'https://lms.example.org',
      jwks_endpoint: 'j',
      client_id: 'client',
      registered: { product: 'moodle', scopes_asked: [], scopes_granted: [], placements: [], has_deployment: true },
    },
  ],
};
