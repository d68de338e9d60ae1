import { parseHttpAddress } from '../util/read-address.ts'

export const isLoopback = (baseURL: string): boolean =>
  /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:\/|$)/i.test(baseURL)

interface WrongAddress {
  /** Goes behind the name of what has the address. */
  readonly message: string
  readonly remedy: string
}

/** What is wrong with the base URL of a server. Never repeats its path: a key may stand in it. */
export function wrongAddress(baseURL: string, example = 'https://models.example.org/v1'): WrongAddress | undefined {
  const read = parseHttpAddress(baseURL)
  if (!read) return { message: 'is no http: or https: address.', remedy: `Write it like ${example}.` }
  const { url, isAsWritten } = read
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return { message: 'must have no user, query or fragment.', remedy: 'Give credentials as the key or as headers.' }
  if (!isAsWritten)
    return {
      message: `is read otherwise than it is written: requests would go to ${url.origin}.`,
      remedy: `Write it like ${example}, without blanks.`,
    }
  return undefined
}
