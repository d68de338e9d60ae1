import { dirname, relative, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { didYouMean, listNames } from '../../yaml/messages.ts'
import { agentFilesIn } from './agent-paths.ts'
import { type ChildReference, type LoadedFile, locationOfReference } from './loaded-file.ts'
import { agentsNamed, type NamedAgent } from './project-agents.ts'

type Target =
  /** `isWritten`: the reference is a path, not a name. */
  | { readonly kind: 'path'; readonly path: string; readonly isWritten: boolean }
  | { readonly kind: 'file'; readonly file: LoadedFile }
  | { readonly kind: 'nothing'; readonly problem: Problem }

type Referrer = Pick<LoadedFile, 'path'>

/** The agents that a name can refer to. */
interface Known {
  /** Agents of the configuration. */
  configured(): readonly LoadedFile[]
  /** Agents in the usual folders of the project. */
  usual(): readonly NamedAgent[]
  shown(path: string): string
}

/** `./scout.ai` is a file, `scout` an agent of the configuration; for foreign files also an agent in the usual folders. */
export function targetOf(reference: ChildReference, from: Referrer, { configured, usual, shown }: Known): Target {
  const { written } = reference
  if (isPath(written)) return { kind: 'path', path: resolve(dirname(from.path), written), isWritten: true }
  const known = configured()
  const named = known.filter(({ agent }) => agent.name === written || agent.toolName === written)
  const [file] = named
  if (file && named.length === 1) return { kind: 'file', file }
  const spot = locationOfReference(reference)
  if (file)
    return nothing({
      ...spot,
      message: `\`${written}\` is the name of several agents`,
      remedy: `Name the file: ${listNames(named.map(({ place }) => place))}.`,
    })
  const called = agentsNamed(written, usual(), from.path)
  const [colleague] = called
  if (colleague && called.length === 1 && reference.isOptional) return { kind: 'path', path: colleague.path, isWritten: false }
  const message = called.length > 1 ? `\`${written}\` is the name of several agents` : `there is no agent \`${written}\``
  const names = reference.isOptional ? usual().map(({ name }) => name) : []
  const remedy =
    called.length === 0 || agentFilesIn(dirname(from.path)).includes(`${written}.ai`)
      ? nameRemedy(written, from, [...known.flatMap(({ agent }) => [agent.name, agent.toolName]), ...names])
      : `Name the file: ${listNames(called.map(({ path }) => (reference.isOptional ? shown(path) : besides(path, from))))}.`
  return nothing({ ...spot, message, remedy })
}

function besides(path: string, from: Referrer): string {
  const way = relative(dirname(from.path), path)
  return way.startsWith('..') ? way : `./${way}`
}

function nameRemedy(written: string, { path }: Referrer, known: readonly string[]): string {
  const beside = `${written}.ai`
  if (agentFilesIn(dirname(path)).includes(beside)) return `Did you mean the file \`./${beside}\`?`
  const names = [...new Set(known)]
  return (
    didYouMean(written, names) ??
    (names.length > 0
      ? `There are ${listNames(names.toSorted().slice(0, 20))}.`
      : `Name a file, such as \`./${beside}\`; the configuration lists no agents.`)
  )
}

const nothing = (problem: Problem): Target => ({ kind: 'nothing', problem })
const isPath = (written: string): boolean => /[/\\]/.test(written) || /\.(?:ai|md|toml)$/i.test(written)
