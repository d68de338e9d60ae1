// The agent itself needs no code: the `agent` section of the manifest has its instructions. This class brings its tools.
import { mkdirSync } from 'node:fs'
import type { Extension, ExtensionAdmin, ExtensionContext, ExtensionStatus, Tool, ToolOutput, ToolProvider } from 'troupe/extension'

const builtins = ['list_files', 'search_files', 'read_file', 'write_file', 'edit_file', 'apply_patch', 'shell']

export class BuilderAgentExtension implements Extension, ToolProvider {
  #tools: readonly Tool[] = []

  initialize(context: ExtensionContext): void {
    const { extensions } = context
    if (extensions === undefined)
      throw new Error('The builder must run inside the kernel. Trust it: `troupe extensions trust builder_agent`.')
    mkdirSync(extensions.folder, { recursive: true })
    const files = context.builtinTools(builtins, { folder: extensions.folder })
    this.#tools = [...files, listExtensions(extensions), validateExtension(extensions), requestRestart(context)]
  }

  getTools(): readonly Tool[] {
    return this.#tools
  }
}

const listExtensions = (extensions: ExtensionAdmin): Tool => ({
  name: 'list_extensions',
  description: 'List all extensions with their state, capabilities and problems.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  effect: 'read',
  concurrency: 'shared',
  repeatable: true,
  execute: () => extensions.list().map(describeExtension).join('\n'),
})

function describeExtension({ id, description, source, state, capabilities, problems }: ExtensionStatus): string {
  const head = `${id} (${[source, state, ...capabilities].join(', ')}): ${description.trim().replace(/\s+/g, ' ')}`
  return [head, ...problems.map((problem) => `  ${showProblem(problem)}`)].join('\n')
}

const validateExtension = (extensions: ExtensionAdmin): Tool => ({
  name: 'validate_extension',
  description: 'Check an extension: manifest, entry file, types, and a trial start in the sandbox. Returns all problems.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string', minLength: 1, description: 'Id of the extension, which is the name of its folder.' } },
    required: ['id'],
    additionalProperties: false,
  },
  // The files change between calls.
  repeatable: true,
  execute: async ({ id }): Promise<ToolOutput> => {
    const problems = await extensions.validate(String(id))
    if (problems.length === 0) return { ok: true, content: `${id} is valid. ${await whenLoaded(String(id), extensions)}` }
    const message = [
      `${id} has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:`,
      ...problems.map(showProblem),
    ].join('\n')
    return { ok: false, error: { class: 'failed', message, remedy: 'Fix the files and validate again.' } }
  },
})

async function whenLoaded(id: string, { sandboxProblem }: ExtensionAdmin): Promise<string> {
  const problem = await sandboxProblem()
  if (problem === undefined) return 'It is loaded after the next restart.'
  return `It is not loaded before the person has read its files and run: troupe extensions trust ${id}. The reason: ${problem}`
}

const requestRestart = (context: ExtensionContext): Tool => ({
  name: 'request_restart',
  description: 'Restart the system when running turns have ended, so that new extensions are loaded. Conversations continue.',
  inputSchema: {
    type: 'object',
    properties: { reason: { type: 'string', minLength: 1, maxLength: 500, description: 'Reason, shown to the person.' } },
    required: ['reason'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  execute: async ({ reason }) => {
    await context.requestRestart(String(reason))
    return 'The restart is requested. It happens when this turn has ended: finish your answer now.'
  },
})

const showProblem = ({ place, message, remedy }: ExtensionStatus['problems'][number]): string =>
  `${place}: ${message}${remedy === undefined ? '' : ` (${remedy})`}`
