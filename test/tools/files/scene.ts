import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import type { CallId, JsonObject, Tool, ToolContext, ToolOutput } from '../../../src/contracts/index.ts'
import { schemaValidator } from '../../../src/tools/index.ts'
import { openWorkspace, type Workspace, type WorkspaceOptions } from '../../../src/tools/workspace/index.ts'
import { somePlace } from '../../fixtures/session-place.ts'
import { fileTools } from './file-tools.ts'

const bases: string[] = []
afterAll(() => {
  for (const base of bases) rmSync(base, { recursive: true, force: true })
})

/** A folder of its own for a test, without links in its path. */
export function tempFolder(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-files-')))
  bases.push(base)
  return base
}

export function putFiles(folder: string, files: { readonly [path: string]: string | Uint8Array }): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

export const toolContext = (more: Partial<ToolContext> = {}): ToolContext => ({
  ...somePlace,
  agent: 'clerk',
  signal: new AbortController().signal,
  callId: 'c1' as CallId,
  attempt: 1,
  overlay: {},
  remaining: { steps: 1 },
  confinement: { kind: 'none' },
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
  ...more,
})

export interface Scene {
  readonly base: string
  /** The workspace is `base/root`; what is beside it is outside. */
  readonly root: string
  readonly workspace: Workspace
  tool(name: string): Tool
  /** Validates the input as the loop does, then calls. */
  call(name: string, input: JsonObject, context?: Partial<ToolContext>): Promise<ToolOutput>
  /** The content of a call that must succeed. */
  say(name: string, input: JsonObject, context?: Partial<ToolContext>): Promise<string>
  /** The failure of a call that must fail, in one line with its class. */
  fail(name: string, input: JsonObject, context?: Partial<ToolContext>): Promise<string>
  read(path: string): string
  /** Every path in the workspace, with the temporary ones. */
  paths(): readonly string[]
}

export function scene(files: { readonly [path: string]: string | Uint8Array } = {}, options: WorkspaceOptions = {}): Scene {
  const base = tempFolder()
  const root = join(base, 'root')
  mkdirSync(root)
  putFiles(root, files)
  const workspace = openWorkspace(root, options)
  const tools = fileTools(workspace)
  const validator = schemaValidator()
  const tool = (name: string): Tool => tools.find((each) => each.name === name) as Tool
  const call: Scene['call'] = async (name, input, context) => {
    const checked = await (await validator.compile(tool(name).inputSchema))(input)
    if (!checked.ok) throw new Error(`the input of ${name} does not fit: ${checked.problems.join('; ')}`)
    return (await tool(name).execute(input, toolContext(context))) as ToolOutput
  }
  return {
    base,
    root,
    workspace,
    tool,
    call,
    async say(name, input, context) {
      const output = await call(name, input, context)
      if (!output.ok) throw new Error(`${output.error.message} ${output.error.remedy}`)
      return output.content
    },
    async fail(name, input, context) {
      const output = await call(name, input, context)
      if (output.ok) throw new Error(`it worked: ${output.content}`)
      return `${output.error.class}: ${output.error.message} ${output.error.remedy ?? ''}`.trim()
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    paths: () => (readdirSync(root, { recursive: true }) as string[]).sort(),
  }
}
