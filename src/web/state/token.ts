const place = 'troupe.token'

/** Takes the token out of `#token=…`, so that it is not in the history. `instead`: the fragment that stays. */
export function takeToken(instead: string): string | undefined {
  const given = /^#token=(.*)$/.exec(location.hash)?.[1]
  if (given === undefined) return undefined
  history.replaceState(null, '', `${location.pathname}${instead}`)
  return /^[\w.~-]+$/.test(given) ? given : undefined
}

export function storeToken(token: string): void {
  try {
    localStorage.setItem(place, token)
  } catch {
    // It lasts as long as the page.
  }
}

export function storedToken(): string {
  try {
    return localStorage.getItem(place) ?? ''
  } catch {
    return ''
  }
}
