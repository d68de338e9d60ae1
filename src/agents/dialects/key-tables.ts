import type { SandboxPolicy } from '../../contracts/index.ts'
import { changingTools } from '../../policy/foreign-tools.ts'
import type { Dialect } from './foreign-agent.ts'

/** What a value out of a few means for the agent. */
export interface ChoiceMeaning {
  readonly infer?: boolean
  readonly enabled?: boolean
  readonly denied?: readonly string[]
  readonly sandbox?: Partial<SandboxPolicy>
  /** Told, because it is not what the file's author would expect. */
  readonly warning?: string
  /** Such a file is not for us. */
  readonly refused?: string
}

/** How the value of a key is read and where it goes. */
export type KeyRule =
  | { readonly kind: 'text'; readonly into: 'name' | 'displayName' | 'description' | 'usage' | 'prompt' }
  | { readonly kind: 'models' }
  | { readonly kind: 'tools' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'permissions' }
  | { readonly kind: 'names'; readonly into: 'skills' | 'agents' }
  | {
      readonly kind: 'number'
      readonly into: 'temperature' | 'topP' | 'maxToolTurns'
      readonly least: number
      readonly most: number
      readonly whole?: true
    }
  | { readonly kind: 'minutes' }
  | { readonly kind: 'effort' }
  | { readonly kind: 'servers' }
  | { readonly kind: 'choice'; readonly of: { readonly [value: string]: ChoiceMeaning } }
  /** Changes nothing here, and is no promise either: kept as it is. */
  | { readonly kind: 'metadata' }
  /** Understood, and not done. `except` are the values that ask for nothing. */
  | { readonly kind: 'unsupported'; readonly instead: string; readonly except?: readonly unknown[] }

export type KeyTable = { readonly [key: string]: KeyRule }

export const text = (into: Extract<KeyRule, { kind: 'text' }>['into']): KeyRule => ({ kind: 'text', into })
export const models: KeyRule = { kind: 'models' }
export const tools: KeyRule = { kind: 'tools' }
export const permissions: KeyRule = { kind: 'permissions' }
export const effort: KeyRule = { kind: 'effort' }
export const servers: KeyRule = { kind: 'servers' }
export const metadata: KeyRule = { kind: 'metadata' }
export const turns: KeyRule = { kind: 'number', into: 'maxToolTurns', least: 1, most: 1_000_000, whole: true }
export const temperature: KeyRule = { kind: 'number', into: 'temperature', least: 0, most: 2 }
export const topP: KeyRule = { kind: 'number', into: 'topP', least: 0, most: 1 }
export const choice = (of: { readonly [value: string]: ChoiceMeaning }): KeyRule => ({ kind: 'choice', of })
export const unsupported = (instead: string, except: readonly unknown[] = []): KeyRule => ({ kind: 'unsupported', instead, except })

export const readOnly: ChoiceMeaning = {
  denied: changingTools,
  // Should it get a shell all the same, by the word of a person, that has walls.
  sandbox: { mode: 'required', hosts: [], writable: [] },
  warning: 'here it means that the agent has neither a shell nor tools that write',
}
export const notLoosened: ChoiceMeaning = { warning: 'a file cannot loosen what the session allows: its approvals and sandbox hold' }

// The one table of other people's keys. Reading, warnings and suggestions are made from it.

export interface DialectTable {
  readonly format: 'markdown' | 'toml'
  /** Whether the agent is called what its `name` says, or what its file is called. */
  readonly namedBy: 'key' | 'file'
  /** In this order they are read: of two keys for the same thing the later one counts. */
  readonly keys: KeyTable
}

const disabled: KeyRule = choice({ true: { enabled: false }, false: {} })
const noHooks = unsupported('its commands are not run')

/** Where `tools` is left out, every dialect offers all of them, unlike ours. */
export const dialectTables: { readonly [D in Dialect]: DialectTable } = {
  claude: {
    format: 'markdown',
    namedBy: 'key',
    keys: {
      name: text('name'),
      description: text('description'),
      tools,
      disallowedTools: { kind: 'denied' },
      model: models,
      maxTurns: turns,
      effort,
      skills: { kind: 'names', into: 'skills' },
      mcpServers: servers,
      permissionMode: choice({
        default: {},
        plan: readOnly,
        acceptEdits: notLoosened,
        auto: notLoosened,
        dontAsk: notLoosened,
        bypassPermissions: notLoosened,
      }),
      disabled,
      color: metadata,
      hooks: noHooks,
      memory: unsupported('the agent has no memory of earlier sessions'),
      background: unsupported('whoever calls the agent decides whether to wait for it', [false]),
      isolation: unsupported('the agent works in the folder of the session'),
      initialPrompt: unsupported('the agent begins with what it is asked'),
      omitClaudeMd: unsupported('no such file is read', [true]),
    },
  },
  copilot: {
    format: 'markdown',
    namedBy: 'file',
    keys: {
      name: text('displayName'),
      description: text('description'),
      'argument-hint': text('usage'),
      tools,
      model: models,
      agents: { kind: 'names', into: 'agents' },
      infer: choice({ true: { infer: true }, false: { infer: false } }),
      'disable-model-invocation': choice({ true: { infer: false }, false: { infer: true } }),
      'mcp-servers': servers,
      target: metadata,
      metadata,
      'user-invocable': unsupported('a person can always choose the agent', [true]),
      handoffs: unsupported('the agent hands nothing over by itself'),
      hooks: noHooks,
    },
  },
  opencode: {
    format: 'markdown',
    namedBy: 'file',
    keys: {
      name: text('displayName'),
      description: text('description'),
      mode: choice({ primary: { infer: false }, subagent: {}, all: {} }),
      model: models,
      temperature,
      top_p: topP,
      reasoningEffort: effort,
      maxSteps: turns,
      steps: turns,
      tools: permissions,
      permission: permissions,
      permissions,
      disable: disabled,
      disabled,
      color: metadata,
      hidden: metadata,
      prompt: unsupported('the prompt is what stands below the settings'),
      variant: unsupported("the model's own settings hold"),
      options: unsupported("the provider's own settings hold"),
    },
  },
  gemini: {
    format: 'markdown',
    namedBy: 'key',
    keys: {
      name: text('name'),
      display_name: text('displayName'),
      description: text('description'),
      kind: choice({
        local: {},
        remote: { refused: 'this agent runs elsewhere (A2A): there is nothing in the file that could be run here' },
      }),
      tools,
      model: models,
      temperature,
      max_turns: turns,
      timeout_mins: { kind: 'minutes' },
      mcp_servers: servers,
      mcpServers: servers,
      policy: unsupported("the session's approvals hold"),
    },
  },
  codex: {
    format: 'toml',
    namedBy: 'key',
    keys: {
      name: text('name'),
      description: text('description'),
      developer_instructions: text('prompt'),
      model: models,
      model_reasoning_effort: effort,
      sandbox_mode: choice({ 'read-only': readOnly, 'workspace-write': notLoosened, 'danger-full-access': notLoosened }),
      web_search: choice({ disabled: { denied: ['web_fetch'] }, cached: {}, live: {} }),
      mcp_servers: servers,
      nickname_candidates: metadata,
      skills: unsupported('the agent has no skills'),
      approval_policy: unsupported("the session's approvals hold"),
      model_provider: unsupported('a model is named together with its provider'),
      model_reasoning_summary: unsupported("the model's own way holds"),
      model_verbosity: unsupported("the model's own way holds"),
    },
  },
}
