import { basename, dirname, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { listed, nearby } from '../words.ts'
import { isOwnFile, neighbours } from './agent-paths.ts'
import type { ChildReference, LoadedFile } from './loaded-file.ts'

/** Where a reference leads. */
export type Target =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'file'; readonly file: LoadedFile }
  | { readonly kind: 'nothing'; readonly problem: Problem }

/** The file that names another. */
export type Referrer = Pick<LoadedFile, 'path'>

/** `./scout.ai` is a file; `scout` is the name of an agent that the configuration lists. */
export function targetOf(reference: ChildReference, from: Referrer, configured: () => readonly LoadedFile[]): Target {
  const { written } = reference
  if (isPath(written)) return { kind: 'path', path: resolve(dirname(from.path), written) }
  const known = configured()
  const named = known.filter(({ agent }) => agent.name === written || agent.toolName === written)
  const [file] = named
  if (file && named.length === 1) return { kind: 'file', file }
  const spot = spotOfReference(reference)
  if (file)
    return nothing({
      ...spot,
      message: `\`${written}\` is the name of several agents`,
      remedy: `Name the file: ${listed(named.map(({ place }) => place))}.`,
    })
  return nothing({ ...spot, message: `there is no agent \`${written}\``, remedy: nameRemedy(written, from, known) })
}

/** What to say of a file that is not there. */
export function missingFile(reference: ChildReference, path: string): Problem {
  const folder = dirname(path)
  const there = neighbours(folder)
  const own = there.filter(isOwnFile)
  const near = nearestNames(basename(path), there)
  const prefix = reference.written.slice(0, reference.written.length - basename(reference.written).length)
  const remedy =
    near.length > 0
      ? `Did you mean ${listed(near.map((name) => `${prefix}${name}`))}?`
      : own.length > 0
        ? `In ${folder} there are ${listed(own.slice(0, 10))}.`
        : 'Give the path of an agent, relative to this file.'
  return { ...spotOfReference(reference), message: `there is no agent file \`${reference.written}\``, remedy }
}

export function spotOfReference({ place, line }: ChildReference): Pick<Problem, 'place' | 'line'> {
  return { place, ...(line !== undefined && { line }) }
}

function nameRemedy(written: string, { path }: Referrer, known: readonly LoadedFile[]): string {
  const beside = `${written}.ai`
  if (neighbours(dirname(path)).includes(beside)) return `Did you mean the file \`./${beside}\`?`
  const names = [...new Set(known.flatMap(({ agent }) => [agent.name, agent.toolName]))]
  return (
    nearby(written, names) ??
    (names.length > 0
      ? `There are ${listed(names.toSorted().slice(0, 20))}.`
      : `Name a file, such as \`./${beside}\`; the configuration lists no agents.`)
  )
}

const nothing = (problem: Problem): Target => ({ kind: 'nothing', problem })
const isPath = (written: string): boolean => /[/\\]/.test(written) || /\.(?:ai|md|toml)$/i.test(written)
