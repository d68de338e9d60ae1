import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatCommand } from './chat-commands.ts'

/** What can be inserted at the cursor. */
export interface Completion {
  /** The part of the text that it replaces. */
  readonly from: number
  readonly to: number
  readonly choices: readonly Choice[]
}
export interface Choice {
  readonly text: string
  readonly about: string
}

interface CompletionPlace {
  /** Paths are relative to it. */
  readonly folder: string | undefined
  readonly commands: readonly ChatCommand[]
  /** Values of the argument of a command. */
  values(command: ChatCommand): readonly Choice[]
}

const maxChoices = 50

/** Commands and their arguments at the beginning of the text, and paths after `@`. */
export function completeText(text: string, cursor: number, place: CompletionPlace): Completion | undefined {
  const before = text.slice(0, cursor)
  const [, path] = /(?:^|\s)@(\S*)$/.exec(before) ?? []
  const choices = path !== undefined && place.folder !== undefined ? pathsLike(path, place.folder) : commandsLike(before, place)
  const word = path ?? /\S*$/.exec(before)?.[0] ?? ''
  // What is there already is no choice.
  const open = choices.filter((choice) => choice.text !== word).slice(0, maxChoices)
  return open.length === 0 ? undefined : { from: cursor - word.length, to: cursor, choices: open }
}

function commandsLike(before: string, { commands, values }: CompletionPlace): readonly Choice[] {
  const [, name, argument] = /^\/(\S*)(?:\s+(\S*))?$/.exec(before) ?? []
  if (name === undefined) return []
  if (argument === undefined)
    return commands.filter((each) => each.name.startsWith(name)).map((each) => ({ text: `/${each.name}`, about: each.summary }))
  const command = commands.find((each) => each.name === name)
  const known = command ? values(command) : []
  return known.filter(({ text }) => text.startsWith(argument))
}

/** Entries of one folder. Hidden ones only if the name begins with a dot. */
function pathsLike(written: string, folder: string): readonly Choice[] {
  const slash = written.lastIndexOf('/') + 1
  const [above, start] = [written.slice(0, slash), written.slice(slash).toLowerCase()]
  return entriesOf(join(folder, above))
    .filter(({ name }) => name.toLowerCase().startsWith(start) && (start.startsWith('.') || !name.startsWith('.')) && !/\s/.test(name))
    .sort((one, other) => Number(other.isDirectory()) - Number(one.isDirectory()) || one.name.localeCompare(other.name))
    .map((entry) => ({ text: `${above}${entry.name}${entry.isDirectory() ? '/' : ''}`, about: '' }))
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
