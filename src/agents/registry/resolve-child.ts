import { dirname, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { listed, nearby } from '../words.ts'
import { neighbours } from './agent-paths.ts'
import { type ChildReference, type LoadedFile, spotOfReference } from './loaded-file.ts'

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
