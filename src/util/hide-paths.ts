import type { Json } from '../contracts/index.ts'
import { mapJson } from './redact.ts'

export interface PathHider {
  /** Returns the same object if it contains none of the paths. */
  json(value: Json): Json
  /** The opposite, for a text. */
  reveal(text: string): string
}

/** Replaces folders by names: with `{ '<workspace>': '/srv/app' }`, `/srv/app/a.txt` is `<workspace>/a.txt`. A folder `/srv/app2` is another one. */
export function pathHider(folders: { readonly [shown: string]: string }): PathHider {
  const forms = new Map<string, string>()
  for (const [shown, path] of Object.entries(folders)) {
    const plain = path.replace(/[/\\]+$/, '')
    if (plain.length > 1) for (const form of [plain, JSON.stringify(plain).slice(1, -1), encodeURI(plain)]) forms.set(form, shown)
  }
  // The workspace is often inside of the home folder.
  const longestFirst = [...forms.keys()].toSorted((one, other) => other.length - one.length)
  const pattern = new RegExp(`(?:${longestFirst.map(escaped).join('|')})(?![\\w-]|\\.\\w)`, 'g')
  const text = (given: string): string =>
    longestFirst.some((form) => given.includes(form)) ? given.replace(pattern, (found) => forms.get(found) ?? found) : given
  return {
    json: (value) => mapJson(value, { text }),
    reveal: (given) => Object.entries(folders).reduce((revealed, [shown, path]) => revealed.replaceAll(shown, path), given),
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
