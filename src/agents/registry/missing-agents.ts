import { basename, dirname, join } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { shellWord } from '../../util/shell-word.ts'
import { listed } from '../values/messages.ts'
import { isOwnFile, neighbours, type Unread } from './agent-paths.ts'
import { type ChildReference, spotOfReference } from './loaded-file.ts'

interface Lookout {
  /** The files of agents that are called like that. */
  readonly called: readonly string[]
  readonly workingDirectory: string
}

/** What to say of an agent that was asked for and is not there. */
export function missingRoot(written: string, path: string, { called, workingDirectory }: Lookout): Problem {
  const [file] = called
  if (file !== undefined)
    return {
      place: written,
      message: 'There is no such file.',
      remedy:
        called.length === 1
          ? `${file} is called so: troupe run ${shellWord(file)}`
          : `These are called so: ${listed(called)}. Name one of them.`,
    }
  const here = basename(written)
  if (here !== written && neighbours(workingDirectory).includes(here))
    return {
      place: written,
      message: `There is no such file in ${dirname(path)}.`,
      remedy: `It is in this folder: troupe run ${shellWord(here)}`,
    }
  const otherwise = agentsIn(workingDirectory) ?? noAgents
  return { place: written, message: 'There is no such file.', remedy: besides(path, { otherwise }) }
}

/** The same of a folder in place of an agent. */
export function folderAsRoot(written: string, path: string): Problem {
  const own = neighbours(path).filter(isOwnFile)
  const remedy = own.length > 0 ? `Name an agent in it: ${listed(own.slice(0, 10).map((name) => join(written, name)))}.` : noAgents
  return { place: written, message: 'It is a folder.', remedy }
}

const noAgents = 'There are no agents in this folder: change to the folder of the agent, or make one with troupe init.'

function agentsIn(folder: string): string | undefined {
  const own = neighbours(folder).filter(isOwnFile)
  return own.length > 0 ? `In ${folder} there are ${listed(own.slice(0, 10))}.` : undefined
}

/** The same of one that another agent names, there or not. */
export function unreadChild(reference: ChildReference, path: string, { kind, why, remedy }: Unread): Problem {
  if (kind === 'missing') return missingChild(reference, path)
  return { ...spotOfReference(reference), message: `the agent \`${reference.written}\` cannot be read: ${why}`, remedy }
}

function missingChild(reference: ChildReference, path: string): Problem {
  const { written } = reference
  const folder = written.slice(0, written.length - basename(written).length)
  return {
    ...spotOfReference(reference),
    message: `there is no agent file \`${written}\``,
    remedy: besides(path, { folder, otherwise: 'Give the path of an agent, relative to this file.' }),
  }
}

interface Words {
  /** What stands before the names in the remedy, so that it can be copied. */
  readonly folder?: string
  readonly otherwise: string
}

function besides(path: string, { folder = '', otherwise }: Words): string {
  const there = neighbours(dirname(path))
  const near = nearestNames(basename(path), there)
  if (near.length > 0) return `Did you mean ${listed(near.map((name) => `${folder}${name}`))}?`
  return agentsIn(dirname(path)) ?? otherwise
}
