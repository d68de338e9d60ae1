import { sessionStatuses, type TreeFilter, type UsageGrouping, usageGroupings } from '../../contracts/index.ts'
import type { DisplayOptions, OutputForm } from '../terminal/display-options.ts'
import {
  type ApprovalsAction,
  approvalsActions,
  type McpAction,
  mcpActions,
  type ProjectCommandName,
  type SessionsAction,
  type StoreAction,
  sessionsActions,
  storeActions,
} from './project-command-specs.ts'
import type { WrittenRanges } from './read-ranges.ts'

export interface Common {
  readonly output: 'answer' | 'json'
  readonly display: DisplayOptions
  /** The file of `--config`. */
  readonly configFile?: string | undefined
}

/** Options of commands about stored sessions. */
interface Stored {
  /** Include other projects. */
  readonly isEverywhere: boolean
  readonly dataDir?: string | undefined
}

export interface ValidateInvocation extends Common {
  readonly kind: 'validate'
  readonly paths: readonly string[]
  /** Whether warnings are errors. */
  readonly isStrict?: boolean
}
export interface AgentsInvocation extends Common {
  readonly kind: 'agents'
}
export interface InitInvocation extends Common {
  readonly kind: 'init'
  readonly folder: string
  readonly isConfirmed: boolean
}
export interface DoctorInvocation extends Common {
  readonly kind: 'doctor'
}
export interface ConfigInvocation extends Common {
  readonly kind: 'config'
  readonly file?: string | undefined
  readonly showsOrigin: boolean
}
export interface TrustInvocation extends Common {
  readonly kind: 'trust'
  readonly action: 'trust' | 'list' | 'revoke'
  /** Trust all files without asking. */
  readonly isAll: boolean
  readonly paths: readonly string[]
}
export interface ApprovalsInvocation extends Common, Stored {
  readonly kind: 'approvals'
  readonly action: ApprovalsAction
  /** Keys, session ids, or a request and its answer. */
  readonly named: readonly string[]
  /** All of this project. */
  readonly isAll: boolean
  /** The fields of a form, as JSON. */
  readonly content?: string | undefined
}
export interface SessionsInvocation extends Omit<Common, 'output'>, Stored {
  readonly kind: 'sessions'
  readonly output: OutputForm
  readonly action: SessionsAction
  /** The sessions; for `rename` one of them and the words of its title. */
  readonly ids: readonly string[]
  /** Which sessions `list` shows. */
  readonly filter: Pick<TreeFilter, 'agent' | 'status' | 'labels' | 'text' | 'search'>
  readonly ranges: WrittenRanges
  /** The model request that `show` prints, as written. */
  readonly request?: { readonly step: string; readonly child: string | undefined; readonly attempt: string | undefined } | undefined
  /** The last event that `fork` copies, as written. */
  readonly at?: string | undefined
  /** Where `export` writes. */
  readonly file?: string | undefined
  /** What `prune` keeps, as written. */
  readonly older?: string | undefined
  readonly keep?: string | undefined
  /** Only print what would be deleted. */
  readonly isDryRun: boolean
}
export interface UsageInvocation extends Common, Pick<WrittenRanges, 'since' | 'until'> {
  readonly kind: 'usage'
  readonly by: UsageGrouping
  readonly dataDir?: string | undefined
}
export interface StoreInvocation extends Common {
  readonly kind: 'store'
  readonly action: StoreAction
  /** copy: where from, and where to. */
  readonly urls: readonly string[]
  readonly dataDir?: string | undefined
}
export interface McpInvocation extends Common {
  readonly kind: 'mcp'
  readonly action: McpAction
  /** The server. */
  readonly name?: string | undefined
  readonly tool?: string | undefined
  /** As written. */
  readonly input?: string | undefined
  /** Arguments that the action does not take. */
  readonly extra: readonly string[]
  readonly connects: boolean
  readonly accepts: boolean
  readonly opensBrowser: boolean
  readonly allow: readonly string[]
  readonly agentFile?: string | undefined
}
export interface ToolsInvocation extends Common {
  readonly kind: 'tools'
  readonly server?: string | undefined
  readonly agentFile?: string | undefined
}
export interface SkillsInvocation extends Common {
  readonly kind: 'skills'
}
export type ProjectInvocation =
  | McpInvocation
  | ApprovalsInvocation
  | SessionsInvocation
  | UsageInvocation
  | StoreInvocation
  | SkillsInvocation
  | ToolsInvocation
  | ValidateInvocation
  | AgentsInvocation
  | InitInvocation
  | DoctorInvocation
  | ConfigInvocation
  | TrustInvocation

/** The parsed command line of a project command. */
export interface ProjectArguments {
  readonly rest: readonly string[]
  readonly display: DisplayOptions
  has(flag: string): boolean
  flagValue(flag: string): string | undefined
  flagValues(flag: string): readonly string[]
}

export function projectInvocation(
  name: ProjectCommandName,
  { rest, display, has, flagValue, flagValues }: ProjectArguments,
): ProjectInvocation {
  const stored: Stored = { isEverywhere: has('everywhere'), dataDir: flagValue('data-dir') }
  const common: Common = { output: has('json') ? 'json' : 'answer', display, configFile: flagValue('config') }
  switch (name) {
    case 'validate':
      return { kind: name, paths: rest, ...(has('strict') && { isStrict: true }), ...common }
    case 'agents':
    case 'doctor':
    case 'skills':
      return { kind: name, ...common }
    case 'tools':
      return { kind: name, server: flagValue('server'), agentFile: flagValue('agent'), ...common }
    case 'mcp': {
      const [action, server, tool, input, ...more] = rest
      return {
        kind: name,
        action: mcpActions.find((known) => known === action) ?? 'list',
        name: server,
        tool,
        input,
        extra: more.concat(action === 'call' ? [] : [tool, input].filter((each) => each !== undefined)),
        connects: has('connect'),
        accepts: has('accept'),
        opensBrowser: !has('no-browser'),
        allow: flagValues('allow').map((pattern) => pattern.trim()),
        agentFile: flagValue('agent'),
        ...common,
      }
    }
    case 'init':
      return { kind: name, folder: rest[0] ?? '.', isConfirmed: has('yes'), ...common }
    case 'config':
      return { kind: name, file: rest[1], showsOrigin: has('origin'), ...common }
    case 'trust': {
      const action = has('list') ? 'list' : has('revoke') ? 'revoke' : 'trust'
      return { kind: name, action, isAll: has('all'), paths: rest, ...common }
    }
    case 'sessions': {
      const [action, ...ids] = rest
      return {
        kind: name,
        action: sessionsActions.find((known) => known === action) ?? 'list',
        ids,
        filter: filterOf({ flagValue, flagValues }),
        ranges: rangesOf(flagValue),
        request: requestOf(flagValue),
        at: flagValue('at'),
        file: flagValue('output'),
        older: flagValue('older'),
        keep: flagValue('keep'),
        isDryRun: has('dry-run'),
        ...stored,
        ...common,
        output: has('stream-json') ? 'stream-json' : common.output,
      }
    }
    case 'usage': {
      const by = usageGroupings.find((known) => known === flagValue('by')) ?? 'day'
      return { kind: name, by, since: flagValue('since'), until: flagValue('until'), dataDir: stored.dataDir, ...common }
    }
    case 'store': {
      const [action, ...urls] = rest
      return { kind: name, action: storeActions.find((known) => known === action) ?? 'reindex', urls, dataDir: stored.dataDir, ...common }
    }
    case 'approvals': {
      const [action, ...named] = rest
      return {
        kind: name,
        action: approvalsActions.find((known) => known === action) ?? 'list',
        named,
        isAll: has('all'),
        content: flagValue('content'),
        ...stored,
        ...common,
      }
    }
    default:
      return name satisfies never
  }
}

function filterOf({ flagValue, flagValues }: Pick<ProjectArguments, 'flagValue' | 'flagValues'>): SessionsInvocation['filter'] {
  const [agent, text, search, labels] = [flagValue('agent'), flagValue('title'), flagValue('search'), flagValues('label')]
  const status = sessionStatuses.filter((known) => flagValues('status').includes(known))
  return {
    ...(agent !== undefined && { agent }),
    ...(status.length > 0 && { status }),
    ...(labels.length > 0 && { labels }),
    ...(text !== undefined && { text }),
    ...(search !== undefined && { search }),
  }
}

type FlagValue = ProjectArguments['flagValue']

const rangesOf = (flagValue: FlagValue): WrittenRanges => ({
  since: flagValue('since'),
  until: flagValue('until'),
  minCost: flagValue('min-cost'),
  maxCost: flagValue('max-cost'),
})

function requestOf(flagValue: FlagValue): SessionsInvocation['request'] {
  const step = flagValue('request')
  return step === undefined ? undefined : { step, child: flagValue('child'), attempt: flagValue('attempt') }
}
