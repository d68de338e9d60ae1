import {
  type Clock,
  type Diagnostic,
  type SessionToolSource,
  type SourceSession,
  type Tool,
  type ToolSource,
  TroupeError,
} from '../../contracts/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Redactor } from '../../util/redact.ts'
import { checkTools } from '../validation/check-tools.ts'
import { listTools } from './list-tools.ts'

// When a changed list of tools takes effect in a session. What counts as a change of an MCP server: tools/mcp/mcp-tool-source.ts.

const noTools: readonly Tool[] = []
/** A source may give the same tools to every session; checking a large schema takes milliseconds. */
const valid = new WeakSet<Tool>()
/** A turn asks several times for its tools: a source that failed is not asked again so soon, because each failure may take a while. */
const failureMs = 5_000

/**
 * The tools of one source that was opened for one tree, and their changes.
 *
 * 1. `tools` changes only in `refresh`: what a turn began with stays until the next turn.
 * 2. A source that fails, or does not answer, has no tools, and is asked again before a later turn.
 * 3. A tool that is invalid, or whose name does not begin with the name of the source, is left out.
 */
export class SessionToolList {
  readonly name: string
  readonly #source: SessionToolSource
  readonly #session: SourceSession
  readonly #clock: Clock
  readonly #redactor: Redactor
  #opened: ToolSource | undefined
  #removeListener: (() => void) | undefined
  #isStale = true
  #failedAt: number | undefined
  #refreshing: Promise<void> | undefined
  #reported: string | undefined
  tools: readonly Tool[] = noTools
  instructions: string | undefined

  constructor(
    source: SessionToolSource,
    session: SourceSession,
    { clock, redactor }: { readonly clock: Clock; readonly redactor: Redactor },
  ) {
    this.name = source.name
    this.#source = source
    this.#session = session
    this.#clock = clock
    this.#redactor = redactor
  }

  get isStale(): boolean {
    return this.#isStale || (this.#failedAt !== undefined && this.#clock.monotonic() - this.#failedAt >= failureMs)
  }

  /** Whether the source has answered. */
  get isListed(): boolean {
    return this.#opened !== undefined && this.#failedAt === undefined
  }

  /** Lists the tools again. Rejects only for a required source. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#list().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #list(): Promise<void> {
    try {
      const opened = this.#open()
      this.#isStale = false
      this.#failedAt = undefined
      const listed = await listTools(opened, this.#clock)
      if (!Array.isArray(listed)) throw new Error('expected list() to return a list of tools')
      this.tools = this.#validTools(listed as readonly Tool[])
      this.instructions = opened.instructions?.()
      this.#reported = undefined
    } catch (error) {
      this.#isStale ||= this.#source.required ?? false
      this.#failedAt = this.#clock.monotonic()
      this.tools = noTools
      this.#reportFailure(error)
    }
  }

  #open(): ToolSource {
    if (this.#opened) return this.#opened
    const opened = this.#source.open(this.#session)
    this.#opened = opened
    this.#removeListener = opened.onChange?.(() => {
      this.#isStale = true
    })
    return opened
  }

  #reportFailure(error: unknown): void {
    const message = this.#redactor.text(`The tools of "${this.name}" are not available: ${messageOf(error)}`)
    const remedy =
      (error instanceof TroupeError ? error.remedy : undefined) ?? 'The other tools work. It is tried again before the next turn.'
    if (this.#source.required) throw new TroupeError('tools_unavailable', message, { remedy, cause: error })
    // The same failure is reported once.
    if (this.#reported === message) return
    this.#reported = message
    this.#session.report({ code: 'source_failed', severity: 'warning', message, remedy })
  }

  #validTools(listed: readonly Tool[]): readonly Tool[] {
    const prefix = `${offeredName(this.name)}__`
    const names = new Set<string>()
    return listed.filter((tool) => {
      const [problem] = valid.has(tool) ? [] : checkTools([tool], this.name)
      if (!problem) valid.add(tool)
      const name = problem ? '' : offeredName(tool.name)
      const why = problem
        ? `${problem.place} ${problem.message}`
        : !name.startsWith(prefix)
          ? `the name "${name}" does not begin with "${prefix}"`
          : names.has(name)
            ? `the name "${name}" is used twice`
            : undefined
      names.add(name)
      if (why === undefined) return true
      this.#session.report(invalidTool(this.name, why))
      return false
    })
  }

  async close(): Promise<void> {
    this.#removeListener?.()
    await this.#opened?.close?.()
  }
}

const invalidTool = (source: string, why: string): Diagnostic => ({
  code: 'tool_invalid',
  severity: 'warning',
  message: `A tool of "${source}" is left out: ${why}.`,
  remedy: `Correct it in "${source}". The other tools work.`,
})
