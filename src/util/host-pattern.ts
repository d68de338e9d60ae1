import { isAddress } from './private-address.ts'

/** A host for comparison: lower case, without brackets and final dot. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** Whether a pattern covers a host or a narrower pattern: `*.example.com` covers `api.example.com` and `*.api.example.com`. */
export function coversHost(pattern: string, host: string): boolean {
  const [wide, name] = [plainHost(pattern), plainHost(host)]
  if (!wide.startsWith('*.')) return name !== '' && wide === name
  // An IP address has no subdomains.
  return !isAddress(name) && name.endsWith(wide.slice(1)) && name.length > wide.length - 1
}
