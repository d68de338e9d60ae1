import { coversHost, plainHost } from '../../util/host-pattern.ts'
import { isPublicAddress } from '../../util/private-address.ts'

// Which hosts a command may reach. Pure.

/** Whether a policy's hosts name this one: `example.com` itself, `*.example.com` whatever is below it. */
export const isAllowedHost = (hosts: readonly string[], host: string): boolean => hosts.some((pattern) => coversHost(pattern, host))

/**
 * Whether a connection may be made to an address that a name resolves to. The owner of a name can let it resolve to any
 * address, so a private one has to be listed itself, or the name has to be listed among those that may resolve to one.
 */
export function isAllowedAddress(host: string, address: string, privateHosts: readonly string[]): boolean {
  const isSame = plainHost(host) === plainHost(address)
  return isPublicAddress(address) || isSame || plainHost(host) === 'localhost' || isAllowedHost(privateHosts, host)
}
