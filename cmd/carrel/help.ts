/** Help text that says which installation a command works on. */
export const WHERE =
  'Run it where the operator runs (kubectl exec). Without CARREL_SHARDS_DIR it works on the platform on this machine.';

/** Help text that also says when a command about a job or a webhook fails. */
export const WHERE_HELP = `
${WHERE}
Exit code 1: the tenant, job or webhook does not exist, or is not in a state for this; the message says why.`;
