import { lookup as resolveName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { ToolFailure } from '../../../contracts/index.ts'
import { isPublicAddress } from '../../../util/private-address.ts'
import { hostOf, portOf } from './parse-url.ts'

interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export type ResolveName = (host: string) => Promise<readonly ResolvedAddress[]>

export const resolveWithSystem: ResolveName = (host) => resolveName(host, { all: true })

export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
  readonly failure: ToolFailure

  constructor(host: string) {
    super(`${host} is not a public address`)
    const message = `${host} is not a public address.`
    this.failure = { class: 'blocked', message, remedy: 'Use another tool for local services.' }
  }
}

/** The connection uses the address that was checked: a name may resolve differently later. */
export type AddressFilter = (url: URL) => LookupFunction

/**
 * Allows public addresses, and the `allowed` private hosts, each with its port: `127.0.0.1:8080`, `wiki.internal:443`. Throws
 * `PrivateAddressError` if the host of a request is another private IP address.
 */
export function addressFilter(allowed: readonly string[], resolve: ResolveName): AddressFilter {
  const entries = new Set(allowed.map((entry) => entry.toLowerCase()))
  return (url) => {
    const host = hostOf(url)
    const mayBePrivate = entries.has(`${url.hostname}:${portOf(url)}`)
    if (isIP(host) && !mayBePrivate && !isPublicAddress(host)) throw new PrivateAddressError(host)
    const addresses = async (): Promise<readonly ResolvedAddress[]> => {
      const found = await resolve(host)
      if (found.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
      // A private address among public ones may be an attack.
      if (!mayBePrivate && !found.every(({ address }) => isPublicAddress(address))) throw new PrivateAddressError(host)
      return found
    }
    return (_name, options, answer) => {
      addresses().then(
        (found) => {
          if (options.all) answer(null, [...found])
          else answer(null, found[0]?.address ?? '', found[0]?.family)
        },
        (error: NodeJS.ErrnoException) => answer(error, '', 0),
      )
    }
  }
}
