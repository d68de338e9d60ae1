import type { Diagnostic } from './failures.ts'
import type { SessionId } from './ids.ts'
import type { Tool } from './tool.ts'

/** Tools from outside the program, such as those of an MCP server. */
export interface ToolSource {
  list(): Promise<readonly Tool[]>
  /** Calls the listener when `list` would return other tools. Returns a function that removes it. */
  onChange?(listener: () => void): () => void
  /** For the prompt of agents that have tools of this source. Known once `list` has resolved. */
  instructions?(): string | undefined
  close?(): Promise<void>
}

/**
 * A source that is opened for each session, such as a connection to a server. Its tools are named `name__tool`; in lists of
 * tools people write `name/tool` and `name/*`.
 */
export interface SessionToolSource {
  readonly name: string
  /** Whether a session fails if the source cannot list its tools. Otherwise the tools are absent, and a diagnostic says so. */
  readonly required?: boolean
  /** For one session with its children. Returns immediately; `list` does what takes time. */
  open(session: SourceSession): ToolSource
  /** Releases what sessions share. */
  close?(): Promise<void>
}

/** The session that a source is opened for. */
export interface SourceSession {
  /** The id of the root. */
  readonly sessionId: SessionId
  /** The session's variables; there is no other environment. */
  readonly overlay: { readonly [name: string]: string }
  /** Shows a problem of the source in the session. */
  report(diagnostic: Diagnostic): void
}
