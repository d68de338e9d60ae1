import type { Extension, ExtensionContext, Tool, ToolProvider } from 'troupe/extension'

/** The built-in file tools with their workspace, approvals and protected files. */
export class FileManagerExtension implements Extension, ToolProvider {
  #tools: readonly Tool[] = []

  initialize(context: ExtensionContext): void {
    this.#tools = context.builtinTools(['list_files', 'search_files', 'read_file', 'write_file', 'edit_file', 'apply_patch'])
  }

  getTools(): readonly Tool[] {
    return this.#tools
  }
}
