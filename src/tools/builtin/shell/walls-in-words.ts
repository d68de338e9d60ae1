import type { SandboxPolicy } from '../../../contracts/index.ts'

/** A model is told of these one by one; of more it is told how many. */
const mostNamed = 10

/** What the model is told of the walls around its commands. One of its agents may want more of them than others. */
export function wallsInWords({ mode, hosts, writable }: Pick<SandboxPolicy, 'mode' | 'hosts' | 'writable'>): string {
  if (mode === 'off') return 'Usually it runs without a sandbox, with all rights of the user who started this.'
  const folders = listed(['the workspace', ...writable])
  const network = hosts.length === 0 ? 'has no network' : `reaches no host but ${listed(hosts)}, over HTTP or HTTPS`
  return `Usually it runs in a sandbox: it can write to ${folders} only and ${network}. What it writes to /tmp or to the home folder is gone when it ends.`
}

function listed(names: readonly string[]): string {
  const left = names.length - mostNamed
  const [last = '', ...before] = (left > 1 ? [...names.slice(0, mostNamed), `${left} more`] : names).toReversed()
  return before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`
}
