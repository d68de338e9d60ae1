import { boundsOfLimit, type NumberBounds, parameterBounds, type SandboxPolicy } from '../../contracts/index.ts'
import { changingTools } from '../../policy/foreign-tools.ts'
import type { Dialect } from './foreign-agent.ts'

/** The meaning of one value of a choice. */
export interface ChoiceMeaning {
  readonly infer?: boolean
  readonly enabled?: boolean
  readonly denied?: readonly string[]
  readonly sandbox?: Partial<SandboxPolicy>
  /** Reported, because the author would expect something else. */
  readonly warning?: string
  /** The file cannot be used here. */
  readonly refused?: string
}

/** How a key is read, and into which field. */
export type KeyRule =
  | { readonly kind: 'text'; readonly into: 'name' | 'displayName' | 'description' | 'usage' | 'prompt' }
  | { readonly kind: 'models' }
  | { readonly kind: 'tools' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'permissions' }
  | { readonly kind: 'names'; readonly into: 'skills' | 'agents' }
  | { readonly kind: 'number'; readonly into: 'temperature' | 'topP' | 'maxToolTurns'; readonly bounds: NumberBounds }
  | { readonly kind: 'minutes' }
  | { readonly kind: 'effort' }
  | { readonly kind: 'servers' }
  | { readonly kind: 'choice'; readonly of: { readonly [value: string]: ChoiceMeaning } }
  /** Has no effect here; stored as written. */
  | { readonly kind: 'metadata' }
  /** Known but not supported. `except`: values that need no warning. */
  | { readonly kind: 'unsupported'; readonly instead: string; readonly except?: readonly unknown[] }

type KeyTable = { readonly [key: string]: KeyRule }

const text = (into: Extract<KeyRule, { kind: 'text' }>['into']): KeyRule => ({ kind: 'text', into })
const models: KeyRule = { kind: 'models' }
const tools: KeyRule = { kind: 'tools' }
const permissions: KeyRule = { kind: 'permissions' }
const effort: KeyRule = { kind: 'effort' }
const servers: KeyRule = { kind: 'servers' }
const metadata: KeyRule = { kind: 'metadata' }
const turns: KeyRule = { kind: 'number', into: 'maxToolTurns', bounds: boundsOfLimit('maxToolTurns') }
const temperature: KeyRule = { kind: 'number', into: 'temperature', bounds: parameterBounds.temperature }
const topP: KeyRule = { kind: 'number', into: 'topP', bounds: parameterBounds.topP }
const choice = (of: { readonly [value: string]: ChoiceMeaning }): KeyRule => ({ kind: 'choice', of })
const unsupported = (instead: string, except: readonly unknown[] = []): KeyRule => ({ kind: 'unsupported', instead, except })

const readOnly: ChoiceMeaning = {
  denied: changingTools,
  // For a shell that a person adds.
  sandbox: { mode: 'required', hosts: [], writable: [] },
  warning: 'here the agent has no shell and no tools that write',
}
const notLoosened: ChoiceMeaning = { warning: 'a file cannot loosen the approvals and the sandbox of the session' }

// The one table of foreign keys. Reading, warnings and suggestions are made from it.

export interface DialectTable {
  readonly format: 'markdown' | 'toml'
  /** Whether the `name` key or the file names the agent. */
  readonly namedBy: 'key' | 'file'
  /** In the order of reading: of two keys for one field, the later one applies. */
  readonly keys: KeyTable
}

const disabled: KeyRule = choice({ true: { enabled: false }, false: {} })
const noHooks = unsupported('its commands are not run')

/** Without `tools`, every dialect offers all tools, unlike ours. */
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
      background: unsupported('the caller decides whether to wait', [false]),
      isolation: unsupported('the agent works in the workspace of the session'),
      initialPrompt: unsupported('the agent begins with its input'),
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
      'user-invocable': unsupported('people can always choose the agent', [true]),
      handoffs: unsupported('the agent does not hand over by itself'),
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
      prompt: unsupported('the prompt is the text below the settings'),
      variant: unsupported('the settings of the model apply'),
      options: unsupported('the settings of the provider apply'),
    },
  },
  gemini: {
    format: 'markdown',
    namedBy: 'key',
    keys: {
      name: text('name'),
      display_name: text('displayName'),
      description: text('description'),
      kind: choice({ local: {}, remote: { refused: 'this agent runs on another server (A2A) and cannot run here' } }),
      tools,
      model: models,
      temperature,
      max_turns: turns,
      timeout_mins: { kind: 'minutes' },
      mcp_servers: servers,
      mcpServers: servers,
      policy: unsupported('the approvals of the session apply'),
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
      approval_policy: unsupported('the approvals of the session apply'),
      model_provider: unsupported('write the provider in the name of the model'),
      model_reasoning_summary: unsupported('the default of the model applies'),
      model_verbosity: unsupported('the default of the model applies'),
    },
  },
}
