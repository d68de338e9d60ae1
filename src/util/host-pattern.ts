import { isAddress } from './private-address.ts'

/** As hosts are compared: without brackets, and without the dot that may stand at the end. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/**
 * Whether a pattern covers a host, or a narrower pattern: `example.com` itself, `*.example.com` whatever is below it, as
 * `api.example.com` and `*.api.example.com`.
 */
export function coversHost(pattern: string, host: string): boolean {
  const [wide, name] = [plainHost(pattern), plainHost(host)]
  if (!wide.startsWith('*.')) return name !== '' && wide === name
  // An address has no names below it.
  return !isAddress(name) && name.endsWith(wide.slice(1)) && name.length > wide.length - 1
}
