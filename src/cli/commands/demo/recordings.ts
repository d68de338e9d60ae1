import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Message } from '../../../contracts/index.ts'

// What was recorded for the agents of the demonstration, and the copies of the shop that they work in.
//
// 1. A recording answers one message to one agent, word by word. Any other message gets no recorded answer.
// 2. Runs that change files have a copy of the shop of their own: `shop-1`, `shop-2`. So they can be repeated and can overlap. All others
//    read `shop`. Scripts say `shop/`; the number is in what a session has said so far.
// 3. Tools and people are real. If a call is declined or fails, or tests end otherwise than they did, what was recorded would be untrue:
//    another script ends the turn. An answer that begins with `Not done` ends the turn of the agent that asked, too.

export interface Recording {
  readonly agent: string
  readonly message: string
  /** The name of the script in the folder `recorded`. */
  readonly script: string
  /** The script that ends a turn in which something went otherwise. Default: failures are part of the recording. */
  readonly otherwise?: string
  /** How each run of the tests ended. */
  readonly exitCode?: number
  /** It begins a run that changes files. */
  readonly changesFiles?: boolean
}

export function readRecordings(agents: string): readonly Recording[] {
  return JSON.parse(readFileSync(join(agents, 'recorded', 'index.json'), 'utf8')) as readonly Recording[]
}

/** Whether these are not the results that the answers were recorded for. */
export function wentOtherwise({ otherwise, exitCode }: Recording, messages: readonly Message[]): boolean {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.results : []))
  return (
    otherwise !== undefined &&
    results.some(({ ok, name, content }) => {
      const hasOtherExit = name === 'run_tests' && exitCode !== undefined && !content.startsWith(`Exit code ${exitCode}\n`)
      return !ok || hasOtherExit || content.startsWith('Not done')
    })
  )
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
