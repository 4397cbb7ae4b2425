/** For the help of commands about an installation: which one it is. */
export const WHERE =
  'Run it where the operator runs (kubectl exec); without CARREL_SHARDS_DIR it is the platform on this machine.';

/** The same, and when a command about a job or a webhook fails. */
export const WHERE_HELP = `
${WHERE}
Exit code 1: there is no such tenant, job or webhook, or it is not in a state for that; the line says which.`;
