import type { SandboxPolicy } from '../../../contracts/index.ts'

const mostNamed = 10

/** For the tool description. Single agents may have a stricter policy. */
export function describeSandbox({ mode, hosts, writable }: Pick<SandboxPolicy, 'mode' | 'hosts' | 'writable'>): string {
  if (mode === 'off') return 'By default it runs without a sandbox, with all permissions of the user.'
  const folders = listed(['the workspace', ...writable])
  const network = hosts.length === 0 ? 'has no network' : `can reach only ${listed(hosts)}, over HTTP or HTTPS`
  return `By default it runs in a sandbox: it can write only to ${folders}, and ${network}. Files in /tmp and the home folder are deleted when it ends.`
}

function listed(names: readonly string[]): string {
  const left = names.length - mostNamed
  const [last = '', ...before] = (left > 1 ? [...names.slice(0, mostNamed), `${left} more`] : names).toReversed()
  return before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`
}
