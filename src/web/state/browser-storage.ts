/** Texts by name. What cannot be stored lasts as long as the page. */
export interface TextStorage {
  get(name: string): string | undefined
  set(name: string, text: string | undefined): void
}

/** Servers below other paths of the same address have texts of their own. */
function keyOf(name: string): string {
  const path = new URL('.', globalThis.location?.href ?? 'http://localhost/').pathname
  return `troupe${path === '/' ? '' : path}.${name}`
}

const browserStorage = (kind: 'localStorage' | 'sessionStorage'): TextStorage => ({
  get(name) {
    try {
      return globalThis[kind].getItem(keyOf(name)) ?? undefined
    } catch {
      return undefined
    }
  },
  set(name, text) {
    try {
      if (text === this.get(name)) return
      // An older text must not come back if the new one does not fit.
      globalThis[kind].removeItem(keyOf(name))
      if (text !== undefined) globalThis[kind].setItem(keyOf(name), text)
    } catch {
      // It is too large, or the browser stores nothing.
    }
  },
})

/** Kept by this browser. */
export const localTexts = browserStorage('localStorage')
/** Kept by this tab. */
export const tabTexts = browserStorage('sessionStorage')

/** Another tab has stored this text. */
export function onStored(name: string, take: (text: string) => void): void {
  addEventListener('storage', ({ storageArea, key, newValue }) => {
    if (storageArea === globalThis.localStorage && key === keyOf(name) && newValue !== null) take(newValue)
  })
}

export function readJson(storage: TextStorage, name: string): unknown {
  try {
    return JSON.parse(storage.get(name) ?? 'null')
  } catch {
    return null
  }
}
