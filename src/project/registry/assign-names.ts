import type { Problem } from '../../contracts/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import type { SourceLocation } from '../../yaml/source-text.ts'
import { locationOf } from '../options/option-values.ts'
import type { LoadedFile } from './loaded-file.ts'
import type { Edge } from './team-checks.ts'

interface Named {
  readonly names: ReadonlyMap<LoadedFile, string>
  readonly problems: readonly Problem[]
}

type EdgesFrom = (file: LoadedFile) => readonly Edge[]

/** The name of the file, or the tool name if it is taken, or one with a number. Tool names must be unique in a team. */
export function assignNames(files: readonly LoadedFile[], edgesFrom: EdgesFrom): Named {
  const names = new Map<LoadedFile, string>()
  const taken = new Map<string, LoadedFile>()
  const tools = new Map<string, LoadedFile[]>()
  const problems: Problem[] = []
  const teams = teamsOf(files, edgesFrom)
  for (const file of files) {
    const { agent } = file
    // Some models ignore case.
    const tool = offeredName(`agent__${agent.toolName}`).toLowerCase()
    const others = tools.get(tool) ?? []
    tools.set(tool, [...others, file])
    const other = others.find((each) => teams.haveBoth(each, file))
    if (other) {
      problems.push(clash(file, other))
      continue
    }
    const wanted = [agent.name, agent.toolName.replace(/[^\w-]+/g, '-')]
    const name = wanted.find((each) => !taken.has(each)) ?? numbered(agent.name, taken)
    taken.set(name, file)
    names.set(file, name)
  }
  return { names, problems }
}

function numbered(name: string, taken: ReadonlyMap<string, unknown>): string {
  let number = 2
  while (taken.has(`${name}-${number}`)) number++
  return `${name}-${number}`
}

/** Reports our own file, because foreign files must stay valid for their programs. */
function clash(later: LoadedFile, earlier: LoadedFile): Problem {
  const isOurs = later.dialect === 'troupe' || earlier.dialect !== 'troupe'
  const [file, other] = isOurs ? [later, earlier] : [earlier, later]
  const { agent, at, dialect, values } = file
  const option = values.get('toolName')
  const where: SourceLocation = option ? locationOf(option, 0) : at
  const message =
    agent.toolName === other.agent.toolName
      ? `the tool name \`${agent.toolName}\` is ${other.place}'s already`
      : `models cannot distinguish \`${agent.toolName}\` from \`${other.agent.toolName}\` of ${other.place}`
  return { ...where, message, remedy: remedies[dialect] }
}

const byKey = 'Give one of them another `name`, or call only one of them.'
const byFile = 'Rename one of the files, or call only one of them.'
const remedies: { readonly [dialect in LoadedFile['dialect']]: string } = {
  troupe: 'Give it another `toolName`.',
  claude: byKey,
  gemini: byKey,
  codex: byKey,
  copilot: byFile,
  opencode: byFile,
}

/** Two agents are in one team if an agent reaches both. Computed only for equal names. */
function teamsOf(files: readonly LoadedFile[], edgesFrom: EdgesFrom): { haveBoth(one: LoadedFile, other: LoadedFile): boolean } {
  let callers: Map<LoadedFile, LoadedFile[]> | undefined
  const known = new Map<LoadedFile, ReadonlySet<LoadedFile>>()
  const callersOf = (file: LoadedFile): readonly LoadedFile[] => {
    callers ??= callersIn(files.flatMap(edgesFrom))
    return callers.get(file) ?? []
  }
  const above = (file: LoadedFile): ReadonlySet<LoadedFile> => {
    const found = known.get(file) ?? new Set([file])
    if (!known.has(file)) for (const each of found) for (const caller of callersOf(each)) (found as Set<LoadedFile>).add(caller)
    known.set(file, found)
    return found
  }
  return { haveBoth: (one, other) => [...above(one)].some((each) => above(other).has(each)) }
}

function callersIn(edges: readonly Edge[]): Map<LoadedFile, LoadedFile[]> {
  const callers = new Map<LoadedFile, LoadedFile[]>()
  for (const { from, to } of edges) callers.set(to, [...(callers.get(to) ?? []), from])
  return callers
}
