/**
 * Words that this repository does not use, since the field has terms for what they named. Names, comments, logs, messages and
 * docs are searched. Pure; the files come in as text. To retire a word, rename what has it and add a line.
 */

/** What must not occur, and what to say. A pattern names whole words; `i` where the case does not matter. */
export const RETIRED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  // Documents that are not in the repository.
  [
    /\b[Dd]esign(: [A-Z`]|(:|,)? section\b| \d)|\bspecification(\.md\b|: )|\bthe specification\b/,
    'the page of docs/design/ that has the rule, and its section',
  ],
  [/\b(the|this|that|each|every|other|of our|one) (house|rooms?|floors?)\b(?! for)/i, 'repository, package, layer'],
  [/belongings/i, 'offboarding'],
  [/\b(doors?|entrance|doorkeeper)\b/i, 'admission, request admission, tenant guard'],
  [/\b(Sliding|Local)Windows\b/, 'SlidingLogLimiter'],
  [/\bGenerationCache\b|\brenewGenerations\b|\brestsOn\b/, 'TaggedCache, invalidateTags, tags'],
  [/\bnew Attempts\b/, 'LoginThrottle'],
  [/\barrows? (between|of|goes)\b/i, 'import rule'],
  [/\bGather\b/, 'Batcher'],
  [/\bPlaces\b(?! that)|\b[Pp]laces\.(take|leave|window|free)\b/, 'concurrency limiter, slots'],
  [/\b[Ff]eeders?\b/, 'dispatcher'],
  [/\b([Ll]edgers?|\w+Ledger|ledgerPools)\b/, 'job store, delivery store'],
  [/\b[Bb]ur(y|ied|ies)\b/, 'dead-letter'],
  [/\b[Hh]eld-?[Ll]eases?\b/, 'lease renewer'],
  [/\b(JobTicket|TicketQueue|ticketsOf|perTicket|TICKET_LEASE\w*)\b/, 'tenant job, tenant queue'],
  [/\b(Work|Delivery)Bench\b|\bBench<|\bbench\.(attempt|ledger|store|wake)\b/, 'job handler'],
  [/\b(startLine|WorkLine|LineDeps|[Jj]ob lines?|worker.s lines?|line of (its|their) own)\b/, 'job queue'],
  [/\b(NotYet|isStuck)\b/, 'ConditionError, isTerminal'],
  [/\b(News<|followNews\b|async hear\b)/, 'ShardChanges, watchShards, onChange'],
  [/\bLinked(Reconciler|Kind|Deps)\b/, 'tenant-scoped'],
  [/\bmoved-storage\b/, 'storage migration'],
  [
    /\b(resolvePart|PartName|PARTS_OF|startParts|(find|link|ControlPlane)Parts|(real|missing) parts|(hack|support)\/parts|(carrel|main\.ts|CARREL\)) parts|CARREL_(TEST_)?PARTS)\b/,
    'binaries, back ends (of tests)',
  ],
  [/\bNotThisWay\b/, 'SourceUnavailable'],
  [/inward/i, 'private address'],
  [/\b(privateKeyPlace|#place\(|another place, or changed)/, 'associated data'],
  [/\b([wW]akeUps|wake-ups\.ts)\b/, 'worker notifier'],
  [/\b(WorkRequests|requestWork(Of)?|WorkItem|UnprocessableWork)\b/, 'job requests, insertJob, JobRow, UnprocessableJob'],
  [/\bSetAside\b/, 'unclaimed'],
  [
    /\b(openHome|isHome|existingHome|homePath|newHome|upHome|HomeProcess)\b|\bhomes? of (Carrel|the|its|their)\b|\bhome: (Home|string)\b|local\/home\b/,
    'state directory',
  ],
  [/\bwritesOf\b|#writes\b/, 'AuthorizedTransactions'],
  [
    /\b(Tickets|ticketEndpoints|ticketOf|TICKET_SECONDS)\b|\b([Aa]|[Tt]he|by|no|such|[Tt]okens? (and|or)) tickets?\b/,
    'download link',
  ],
  [/\b(permissionEndpoints|presentPermission|PermissionView)\b|content\/permissions/, 'grants'],
  [/\b(LtiRefusal(Code)?|LTI_REFUSALS)\b/, 'LaunchError'],
  [
    /\b(told\(error|interface Told)\b|\b(const|let) (told|kept|standing|place|places|room)\b/,
    'the name of the value: reply, event, cached, present, key, slots …',
  ],
  [/\bPlaced?\b|\b[a-z]\w*Place\b|\bplace(Of)?[(:]/, 'location, destination, key, slot, parameter … whichever it is'],
  [/\bRoom\b|\broomOf\b|\broom: \w/, 'quota, remaining bytes, free slots'],
  [
    /\b([vV]erdict(Of\w*)?|Guess|\w+Guess|[sS]eat(Of\w*)?|heir|requireHeir)\b/,
    'result, decision, login attempt, run as, new owner',
  ],
  [/\b(letGo|\w+\.forget\()/, 'release, remove, discard, reset'],
  [/\b(findKnown|lti-known|unprovenClaims|StoragePlace)\b/, 'LaunchContext, unverifiedClaims, StorageSlot'],
  [/\btold\b/i, 'reported, sent, shown … whichever it is'],
  [/\b(is|are|was|were|means) away\b(?! from)|Error\('away'\)/, 'unavailable'],
  [/\b(let go|\w+OfHeir)\b/, 'released, new owner'],
  [/carrel\.dev\/parts/, 'binaries'],
  [/\b(class People \{|(stands|standing)\(known|settle\(tx)/, 'UserSync, CourseSync, isUnchanged, sync'],
];

export interface RetiredWord {
  readonly line: number;
  readonly message: string;
}

/** Every retired word in `text`, with its line (from 1). */
export function retiredWords(text: string): RetiredWord[] {
  return text.split('\n').flatMap((content, index) =>
    RETIRED.flatMap(([pattern, instead]) => {
      const found = pattern.exec(content)?.[0];
      return found === undefined ? [] : [{ line: index + 1, message: `"${found}" is a retired word; use: ${instead}` }];
    }),
  );
}
