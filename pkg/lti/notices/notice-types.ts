/** The notices that are asked for and processed (Platform Notification Service 1.0; LTI Context Copy Notice). */
export const HELLO = 'LtiHelloWorldNotice';
export const CONTEXT_COPY = 'LtiContextCopyNotice';
export const NOTICE_TYPES = [HELLO, CONTEXT_COPY] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** What a token must allow to leave our address with the platform. */
export const NOTICE_SCOPE = 'https://purl.imsglobal.org/spec/lti/scope/noticehandlers';
