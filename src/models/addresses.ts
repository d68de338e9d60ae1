export const isLoopback = (baseURL: string): boolean =>
  /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:\/|$)/i.test(baseURL)

interface WrongAddress {
  /** Goes behind the name of what has the address. */
  readonly message: string
  readonly remedy: string
}

/** What is wrong with the base URL of a server. Never repeats it: a key may stand in it. */
export function wrongAddress(baseURL: string, example = 'https://models.example.org/v1'): WrongAddress | undefined {
  const url = URL.parse(baseURL)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    return { message: 'is no http: or https: address.', remedy: `Write it like ${example}.` }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return { message: 'must have no user, query or fragment.', remedy: 'Give credentials as the key or as headers.' }
  return undefined
}
