import { basename, dirname, join } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { shellWord } from '../../util/shell-word.ts'
import { listNames } from '../../yaml/messages.ts'
import { agentFilesIn, isOwnFile, type UnreadableFile } from './agent-paths.ts'
import { type ChildReference, locationOfReference } from './loaded-file.ts'

interface MissingContext {
  /** Files of agents with this name. */
  readonly called: readonly string[]
  readonly workingDirectory: string
}

/** A requested agent that does not exist. */
export function missingRoot(written: string, path: string, { called, workingDirectory }: MissingContext): Problem {
  const [file] = called
  if (file !== undefined)
    return {
      place: written,
      message: 'There is no such file or folder.',
      remedy:
        called.length === 1
          ? `${file} has this name: troupe run ${shellWord(file)}`
          : `These have this name: ${listNames(called)}. Name one of them.`,
    }
  const here = basename(written)
  if (here !== written && agentFilesIn(workingDirectory).includes(here))
    return {
      place: written,
      message: `There is no such file in ${dirname(path)}.`,
      remedy: `It is in this folder: troupe run ${shellWord(here)}`,
    }
  const otherwise = agentsIn(workingDirectory) ?? noAgents
  return { place: written, message: 'There is no such file or folder.', remedy: besides(path, { otherwise }) }
}

export function folderAsRoot(written: string, path: string): Problem {
  const own = agentFilesIn(path).filter(isOwnFile)
  const remedy = own.length > 0 ? `Name an agent in it: ${firstFiles(own.map((name) => join(written, name)))}.` : noAgents
  return { place: written, message: 'It is a folder.', remedy }
}

const maxListed = 10

function firstFiles(names: readonly string[]): string {
  const left = names.length - maxListed
  return `${listNames(names.slice(0, maxListed))}${left > 0 ? ` and ${left} more` : ''}`
}

const noAgents = 'There are no agents in this folder: change to the folder of the agent, or create one with troupe init.'

function agentsIn(folder: string): string | undefined {
  const own = agentFilesIn(folder).filter(isOwnFile)
  return own.length > 0 ? `Agents in ${folder}: ${firstFiles(own)}.` : undefined
}

export function unreadChild(reference: ChildReference, path: string, { kind, why, remedy }: UnreadableFile): Problem {
  if (kind === 'missing') return missingChild(reference, path)
  return { ...locationOfReference(reference), message: `the agent \`${reference.written}\` cannot be read: ${why}`, remedy }
}

function missingChild(reference: ChildReference, path: string): Problem {
  const { written } = reference
  const folder = written.slice(0, written.length - basename(written).length)
  return {
    ...locationOfReference(reference),
    message: `there is no agent file \`${written}\``,
    remedy: besides(path, { folder, otherwise: 'Give the path of an agent, relative to this file.' }),
  }
}

function besides(path: string, { folder = '', otherwise }: { readonly folder?: string; readonly otherwise: string }): string {
  const there = agentFilesIn(dirname(path))
  const near = nearestNames(basename(path), there)
  if (near.length > 0) return `Did you mean ${listNames(near.map((name) => `${folder}${name}`))}?`
  return agentsIn(dirname(path)) ?? otherwise
}
