import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CallId,
  type Confinement,
  defaultSandboxPolicy,
  type JsonObject,
  type SandboxPolicy,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from '../../../src/contracts/index.ts'
import { shellTool } from '../../../src/tools/builtin/shell/shell-tool.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'
import { somePlace } from '../../fixtures/session-place.ts'
import { path, realClock } from '../sandbox/ground.ts'

export interface ShellGround {
  readonly root: string
  readonly tool: Tool
  readonly shown: string[]
  run(command: string, more?: RunOptions): Promise<ToolOutput>
  remove(): void
}

export interface RunOptions {
  readonly input?: JsonObject
  readonly policy?: Partial<SandboxPolicy>
  readonly overlay?: { readonly [name: string]: string }
  readonly signal?: AbortSignal
  readonly output?: (chunk: string) => void
}

/** A shell in a workspace of its own. */
export function shellGround(confinement: 'sandbox' | 'none', clock = realClock): ShellGround {
  const base = mkdtempSync(join(tmpdir(), 'troupe-shell-'))
  const root = join(base, 'workspace')
  mkdirSync(join(root, 'sub'), { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
  const home = join(base, 'home')
  mkdirSync(home)
  const tool = shellTool({
    root,
    path,
    home,
    clock,
    isConfined: confinement === 'sandbox',
    sandbox: processSandbox({ root, path, home, clock: realClock }),
  })
  const shown: string[] = []
  return {
    root,
    tool,
    shown,
    async run(command, { input = {}, policy = {}, overlay = {}, signal = new AbortController().signal, output } = {}) {
      const own = { ...defaultSandboxPolicy, ...policy }
      const context = contextOf(confinement === 'sandbox' ? { kind: 'sandbox', name: 'bubblewrap', policy: own } : { kind: 'none' })
      const answer = await tool.execute(
        { command, ...input },
        { ...context, overlay, signal, output: output ?? ((chunk) => shown.push(chunk)) },
      )
      return answer as ToolOutput
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

export const contextOf = (confinement: Confinement): ToolContext => ({
  ...somePlace,
  agent: 'clerk',
  signal: new AbortController().signal,
  callId: 'c1' as CallId,
  attempt: 1,
  overlay: {},
  remaining: { steps: 1 },
  confinement,
  maxOutputBytes: 32_768,
  storedOutput: async () => undefined,
  searchableTools: () => [],
  agents: [],
  mayUse: () => true,
  ask: async () => ({ kind: 'cancel' }),
  sample: async () => ({ ok: false, error: { class: 'config', message: 'There is no model here.' } }),
  startChild: () => Promise.reject(new Error('no children here')),
  skills: [],
  progress() {},
  output() {},
  updatePlan() {},
})
