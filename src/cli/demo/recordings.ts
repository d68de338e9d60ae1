import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// What was recorded for the agents of the demonstration, and the copies of the shop that they work in.
//
// 1. A recording answers one message to one agent, word by word. Any other message gets no recorded answer.
// 2. Runs that change files have a copy of the shop of their own: `shop-1`, `shop-2`. So they can be repeated and can overlap. All others
//    read `shop`. Scripts say `shop/`; the number is in what a session has said so far.

export interface Recording {
  readonly agent: string
  readonly message: string
  /** The name of the script in the folder `recorded`. */
  readonly script: string
  /** It begins a run that changes files. */
  readonly changesFiles?: boolean
}

export function readRecordings(agents: string): readonly Recording[] {
  return JSON.parse(readFileSync(join(agents, 'recorded', 'index.json'), 'utf8')) as readonly Recording[]
}

const anyCopy = /\bshop(?:-(\d+))?\//

/** The copy that a text names: 0 for `shop/`. */
export function copyIn(text: string): number | undefined {
  const found = anyCopy.exec(text)
  return found ? Number(found[1] ?? 0) : undefined
}

const copyName = (copy: number): string => (copy === 0 ? 'shop' : `shop-${copy}`)

/** A text of a script, about a copy. */
export const aboutCopy = (text: string, copy: number): string => text.replaceAll('shop/', `${copyName(copy)}/`)

/** As the scripts say it. */
export const asRecorded = (text: string): string => text.trim().replaceAll(/\bshop-\d+\//g, 'shop/')

interface Copying {
  readonly workspace: string
  /** The shop as it was. */
  readonly shop: string
}

/** Copies the shop for a run, and returns the number of the copy. */
export function copyFor({ changesFiles = false }: Pick<Recording, 'changesFiles'>, { workspace, shop }: Copying): number {
  const last = Math.max(0, ...readdirSync(workspace).map((name) => copyIn(`${name}/`) ?? 0))
  const copy = changesFiles ? last + 1 : 0
  const place = join(workspace, copyName(copy))
  if (!existsSync(place)) cpSync(shop, place, { recursive: true })
  return copy
}
