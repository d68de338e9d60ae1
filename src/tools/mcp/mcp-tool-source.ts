import type { JsonObject, SessionToolSource, SourceSession, ToolSource } from '../../contracts/index.ts'
import type { McpPrompt, McpPromptMessage, McpResource } from './server-offers.ts'

/** A configured server. */
export interface McpServerSource extends SessionToolSource {
  open(session: SourceSession): McpToolSource
  /** Starts a connection ahead, for the first session with this overlay. A failure is reported to that session. */
  prepare(overlay: SourceSession['overlay']): void
}

/** The connection of one session to a server. What takes time rejects with a TroupeError that has a message and a remedy. */
export interface McpToolSource extends ToolSource {
  /** Resolves if the server answers. */
  health(): Promise<McpServerFacts>
  prompts(): Promise<readonly McpPrompt[]>
  prompt(name: string, args: { readonly [name: string]: string }): Promise<readonly McpPromptMessage[]>
  resources(): Promise<readonly McpResource[]>
  close(): Promise<void>
}

/** What a server says about itself. Untrusted. */
export interface McpServerFacts {
  readonly name?: string
  readonly version?: string
  readonly protocol: string
  readonly capabilities: JsonObject
}
