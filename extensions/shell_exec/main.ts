import type { Extension, ExtensionContext, Tool, ToolProvider } from 'troupe/extension'

/** The built-in `shell` with its sandbox and approvals. */
export class ShellExtension implements Extension, ToolProvider {
  #tools: readonly Tool[] = []

  initialize(context: ExtensionContext): void {
    this.#tools = context.builtinTools(['shell'])
  }

  getTools(): readonly Tool[] {
    return this.#tools
  }
}
