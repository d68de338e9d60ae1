const place = 'troupe.token'

/** Takes the token out of `#token=…`, so that it is not in the history, or returns the one that was stored. */
export function findToken(): string {
  const given = /^#token=([\w.~-]+)$/.exec(location.hash)?.[1]
  if (given === undefined) return read()
  history.replaceState(null, '', `${location.pathname}#/`)
  storeToken(given)
  return given
}

export function storeToken(token: string): void {
  try {
    localStorage.setItem(place, token)
  } catch {
    // It lasts as long as the page.
  }
}

function read(): string {
  try {
    return localStorage.getItem(place) ?? ''
  } catch {
    return ''
  }
}
