/** The notices that Carrel requests and processes (Platform Notification Service 1.0; LTI Context Copy Notice). */
export const HELLO = 'LtiHelloWorldNotice';
export const CONTEXT_COPY = 'LtiContextCopyNotice';
export const NOTICE_TYPES = [HELLO, CONTEXT_COPY] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** The scope that a token needs for registering our address with the platform. */
export const NOTICE_SCOPE = 'https://purl.imsglobal.org/spec/lti/scope/noticehandlers';
