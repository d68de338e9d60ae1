import type { NumberBounds } from './number-bounds.ts'

/** What is known of a limit. Types, checks, schemas, flags, help, reference and the page of an agent are made from it. */
export interface LimitSpec {
  /** Durations are milliseconds, sizes are bytes. Agent files write both with units, too. */
  readonly kind: 'integer' | 'number' | 'duration' | 'size'
  /** Inclusive, like `max`. */
  readonly min: number
  readonly max?: number
  /** What applies if nothing sets it. Without it there is no limit. */
  readonly default?: number
  /** What applies to an agent that another agent calls, if nothing sets it. */
  readonly childDefault?: number
  /** A short name for the web page. */
  readonly label: string
  /** For help, reference and schemas. */
  readonly summary: string
  /** A value as it is written in an agent file. */
  readonly example: string
  /** The flag of `troupe run` that sets it. */
  readonly flag?: { readonly name: string; readonly value: string }
  /** Callers of a server can lower it. */
  readonly isRequestable?: true
}

/** Everything that a limit covers includes the descendants of the agent. */
export const limitTable = {
  maxToolTurns: {
    kind: 'integer',
    min: 1,
    default: 10,
    label: 'Steps in a turn',
    summary: 'maximum steps (model requests) of one turn; one more is reserved for a final answer',
    example: '6',
    flag: { name: 'max-steps', value: 'COUNT' },
    isRequestable: true,
  },
  maxTokens: {
    kind: 'integer',
    min: 1,
    childDefault: 50_000,
    label: 'Tokens in a turn',
    summary: 'maximum input and output tokens of one turn',
    example: '200000',
    flag: { name: 'max-tokens', value: 'COUNT' },
    isRequestable: true,
  },
  maxSessionTokens: {
    kind: 'integer',
    min: 1,
    label: 'Tokens in a session',
    summary: 'maximum tokens of the whole session',
    example: '1000000',
    isRequestable: true,
  },
  maxCostUsd: {
    kind: 'number',
    // With 0, only models that cost nothing can answer.
    min: 0,
    max: 1_000_000,
    label: 'Cost of a turn',
    summary: 'maximum cost of one turn in US dollars, including children; every model needs a price',
    example: '0.50',
    flag: { name: 'max-cost', value: 'USD' },
    isRequestable: true,
  },
  maxCalls: {
    kind: 'integer',
    min: 0,
    label: 'Calls in a turn',
    summary: 'maximum calls of one turn, including calls that failed to start',
    example: '20',
    isRequestable: true,
  },
  timeBudget: {
    kind: 'duration',
    min: 1,
    childDefault: 120_000,
    label: 'Working time of a turn',
    summary: 'maximum working time of one turn, without waiting for people',
    example: '10m',
    flag: { name: 'time-budget', value: 'DURATION' },
    isRequestable: true,
  },
  llmTimeout: {
    kind: 'duration',
    min: 1,
    default: 120_000,
    label: 'Wait for the first output of a model',
    summary: 'maximum wait for the first output of a model',
    example: '90s',
  },
  idleTimeout: {
    kind: 'duration',
    min: 1,
    default: 60_000,
    label: 'Pause in the output of a model',
    summary: 'maximum pause while a model streams its reply',
    example: '30s',
  },
  replyTimeout: {
    kind: 'duration',
    min: 1,
    default: 900_000,
    label: 'Reply of a model',
    summary: 'maximum time of one model request',
    example: '30m',
  },
  toolTimeout: {
    kind: 'duration',
    min: 1,
    default: 60_000,
    label: 'Time of a call',
    summary: 'maximum time of one tool call; if not set, `shell` and `web_fetch` have longer limits of their own',
    example: '2m',
  },
  maxRetries: {
    kind: 'integer',
    min: 0,
    default: 3,
    label: 'Retries of a model request',
    summary: 'maximum retries of a model request in one step',
    example: '2',
  },
  parallelToolCalls: {
    kind: 'integer',
    min: 1,
    default: 4,
    label: 'Calls at the same time',
    summary: 'maximum parallel calls of one step; `shell` and `apply_patch` always run alone',
    example: 'false',
  },
  maxOutputBytes: {
    kind: 'size',
    // Less has no room for head, tail and the hint how to read the rest.
    min: 512,
    default: 32_768,
    label: 'Output of a call',
    summary: 'maximum output of a call that the model sees; the rest is stored and can be read with `read_output`',
    example: '64KB',
  },
  maxDepth: {
    kind: 'integer',
    min: 0,
    default: 3,
    label: 'Levels of children',
    summary: 'maximum levels of children',
    example: '1',
    isRequestable: true,
  },
  maxChildren: {
    kind: 'integer',
    min: 0,
    default: 32,
    label: 'Children in a turn',
    summary: 'maximum children started in one turn, including their children',
    example: '8',
    isRequestable: true,
  },
  parallelChildren: {
    kind: 'integer',
    min: 1,
    default: 4,
    label: 'Children at the same time',
    summary: 'maximum children that run in parallel; others wait in a queue',
    example: '2',
  },
} as const satisfies { readonly [name: string]: LimitSpec }

type Table = typeof limitTable
export type LimitName = keyof Table
type NamesWith<Column extends object> = { [Name in LimitName]: Table[Name] extends Column ? Name : never }[LimitName]
type DefaultedLimit = NamesWith<{ readonly default: number }>
type Flat<Fields> = { readonly [Key in keyof Fields]: Fields[Key] }

/** What a turn and its parts may use. Times are milliseconds. A limit covers all descendants. `limitTable` describes each limit. */
export type AgentLimits = Flat<
  { readonly [Name in DefaultedLimit]: number } & { readonly [Name in Exclude<LimitName, DefaultedLimit>]?: number }
>

export const limitNames = Object.keys(limitTable) as readonly LimitName[]

/** One column of the table, for the limits that have it. */
function column<Key extends keyof LimitSpec>(key: Key): object {
  return Object.fromEntries(
    limitNames.flatMap((name) => {
      const { [key]: value }: LimitSpec = limitTable[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

export const defaultLimits = column('default') as AgentLimits

/** Defaults for children. A root has no such limits by default. */
export const childLimits = column('childDefault') as { readonly [Name in NamesWith<{ readonly childDefault: number }>]: number }

/** The bounds of the number that programs and clients pass. The same in programs, agent files, configurations, commands and requests. */
export function boundsOfLimit(name: LimitName): NumberBounds {
  const { kind, min, max }: LimitSpec = limitTable[name]
  return { kind: kind === 'number' ? 'number' : 'integer', min, ...(max !== undefined && { max }) }
}

export type RequestLimit = NamesWith<{ readonly isRequestable: true }>
export const requestLimits = Object.keys(column('isRequestable')) as readonly RequestLimit[]
