// Keys are written as `Mod+K`, `Alt+Enter`, `?` or `N`. `Mod` is ⌘ on a Mac and Ctrl elsewhere.

export type PressedKey = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

/** Shift is ignored without Mod: some layouts need it for `?`. */
export function matchesKeys(keys: string, pressed: PressedKey, mac = isMac): boolean {
  const hasMod = keys.startsWith('Mod+')
  const key = hasMod ? keys.slice(4) : keys
  if (pressed.key.toLowerCase() !== key.toLowerCase() || pressed.altKey) return false
  const [mod, other] = mac ? [pressed.metaKey, pressed.ctrlKey] : [pressed.ctrlKey, pressed.metaKey]
  return mod === hasMod && !other && !(hasMod && pressed.shiftKey)
}

/** Whether keys may be used while a person types. */
export const worksInText = (keys: string): boolean => keys.startsWith('Mod+')

const macKeys: { readonly [key: string]: string } = { 'Mod+': '⌘', 'Alt+': '⌥', 'Shift+': '⇧', Enter: '⏎' }

/** As they are shown: `⌘K` and `⌥⏎` on a Mac, `Ctrl+K` and `Alt+Enter` elsewhere. */
export const keysText = (keys: string, mac = isMac): string =>
  mac ? keys.replaceAll(/(?:Mod|Alt|Shift)\+|Enter/g, (key) => macKeys[key] ?? key) : keys.replace('Mod+', 'Ctrl+')
